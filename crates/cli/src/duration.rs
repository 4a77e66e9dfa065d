//! Durations as they are written on the command line (`250ms`, `1s`, `2m`, `none`), and work within them.

use std::time::Duration;

use steersman_memcached::Config;

/// More than anybody means, and little enough that clocks can be set forward by it.
const LONGEST: Duration = Duration::from_millis(u64::MAX);

/// A duration, or none at all.
///
/// A type of its own because clap gives `Option` a meaning of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limit(pub(crate) Option<Duration>);

/// Reads a duration above zero, or `none`.
pub(crate) fn limit(text: &str) -> Result<Limit, String> {
    if text == "none" {
        return Ok(Limit(None));
    }
    match duration(text) {
        Ok(Duration::ZERO) => Err("it must be above zero; `none` means without limit".to_owned()),
        Ok(duration) => Ok(Limit(Some(duration))),
        Err(error) => Err(format!("{error}, or `none`")),
    }
}

/// Reads a duration as the client's options are written, or a number of seconds.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let read = match text.parse::<u64>() {
        Ok(seconds) if !text.starts_with('+') => Some(Duration::from_secs(seconds)),
        _ => Config::parse_duration(text),
    };
    read.filter(|duration| *duration <= LONGEST).ok_or_else(|| {
        "write a whole number and a unit, as in 250ms, 1s, 2m, 1h or 7d (without a unit: seconds)"
            .to_owned()
    })
}

/// The output of some work, or the limit if that is over before.
pub(crate) async fn within<F: Future>(
    limit: Option<Duration>,
    work: F,
) -> Result<F::Output, Duration> {
    match limit {
        Some(limit) => tokio::time::timeout(limit, work).await.map_err(|_| limit),
        None => Ok(work.await),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_their_units_are_read() {
        for (text, milliseconds) in [
            ("0", 0),
            ("3", 3_000),
            ("250ms", 250),
            ("7000us", 7),
            ("1s", 1_000),
            ("2m", 120_000),
            ("1h", 3_600_000),
            ("30d", 2_592_000_000),
        ] {
            assert_eq!(duration(text), Ok(Duration::from_millis(milliseconds)));
        }
    }

    #[test]
    fn anything_else_is_answered_with_examples() {
        for text in [
            "",
            "s",
            "1.5s",
            "-1s",
            "+1s",
            "1 s",
            "1w",
            "1S",
            "one",
            "1s1",
            "99999999999999999d",
            "18446744073709551615",
            "18446744073709551615s",
        ] {
            let error = duration(text).unwrap_err();
            assert!(error.contains("250ms"), "{text}: {error}");
            assert!(limit(text).unwrap_err().contains("none"), "{text}");
        }
    }

    #[test]
    fn a_limit_is_above_zero_or_none() {
        assert_eq!(limit("none"), Ok(Limit(None)));
        assert_eq!(limit("1s"), Ok(Limit(Some(Duration::from_secs(1)))));
        assert!(limit("0ms").unwrap_err().contains("above zero"));
    }
}
