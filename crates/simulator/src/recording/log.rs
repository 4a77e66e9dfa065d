//! Lines of JSON, each of which is a measurement.

use std::io::{BufRead, Read};

use serde::Deserialize;
use steersman_selection::Outcome;

use crate::{Error, ErrorKind};

/// A line. Fields that are not known are somebody else's.
#[derive(Debug, Deserialize)]
pub(super) struct Line {
    pub(super) time_ns: i64,
    pub(super) node: String,
    pub(super) latency_ns: u64,
    pub(super) outcome: Ending,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Ending {
    Success,
    Failed,
    TimedOut,
    Disconnected,
    Refused,
    /// Given up unanswered: it would have taken longer.
    Cancelled,
}

impl From<Ending> for Outcome {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::Success => Self::Success,
            Ending::Failed => Self::Failed,
            Ending::TimedOut | Ending::Cancelled => Self::TimedOut,
            Ending::Disconnected => Self::Disconnected,
            Ending::Refused => Self::Refused,
        }
    }
}

const LONGEST_LINE: u64 = 1 << 16;

/// Hands on one line after the other, until there are none left or one is refused.
pub(super) fn read(
    mut log: impl BufRead,
    mut take: impl FnMut(Line) -> Result<(), &'static str>,
) -> Result<(), Error> {
    let mut text = Vec::new();
    for number in 1_u64.. {
        let invalid = |message: &dyn std::fmt::Display| {
            Error::new(ErrorKind::InvalidLog, format!("line {number}: {message}"))
        };
        text.clear();
        let length = log
            .by_ref()
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut text)
            .map_err(|error| invalid(&error))?;
        if length == 0 {
            break;
        }
        if text.len() as u64 == LONGEST_LINE && !text.ends_with(b"\n") {
            return Err(invalid(&"it is longer than 64 KiB"));
        }
        if text.trim_ascii().is_empty() {
            continue;
        }
        let line = serde_json::from_slice(&text).map_err(|error| invalid(&error))?;
        take(line).map_err(|message| invalid(&message))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::{ErrorKind, Recording};

    const GOOD: &str =
        r#"{"time_ns": 5, "node": "a", "latency_ns": 3, "outcome": "timed-out", "more": []}"#;

    #[test]
    fn what_is_no_measurement_is_refused_with_its_line() {
        assert_eq!(
            Recording::read(format!("\n{GOOD}\n  \r\n{GOOD}").as_bytes())
                .unwrap()
                .len(),
            2
        );
        let long = format!("{GOOD}{}\n", " ".repeat(70_000));
        for (log, told) in [
            (String::new(), "no measurement"),
            (format!("{GOOD}\n{{}}\n"), "line 2: missing field"),
            (GOOD.replace("timed-out", "late"), "line 1: unknown variant"),
            (GOOD.replace('3', "-3"), "line 1: "),
            (GOOD.replace('5', "9223372036854775808"), "line 1: "),
            (long, "64 KiB"),
            (
                format!("{GOOD}\n{}", GOOD.replace('5', "9223372036854775807")),
                "thousand hours",
            ),
            (GOOD.replace('3', "18446744073709551615"), "thousand hours"),
        ] {
            let error = Recording::read(log.as_bytes()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidLog);
            assert!(error.to_string().contains(told), "{error}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>, at in 0..GOOD.len()) {
            let _ = Recording::read(&*bytes);
            let mut text = GOOD.as_bytes().to_vec();
            text.splice(at..at, bytes);
            let _ = Recording::read(&*text);
        }

        /// However a reader cuts it up.
        #[test]
        fn reads_may_end_anywhere(size in 1..100_usize) {
            let log = format!("{GOOD}\n\n{GOOD}\n{GOOD}");
            let reader = std::io::BufReader::with_capacity(size, log.as_bytes());
            prop_assert_eq!(Recording::read(reader).unwrap().len(), 3);
        }
    }
}
