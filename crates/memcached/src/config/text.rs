//! Durations and sizes as texts, both ways.

use std::time::Duration;

/// From the longest: what is written is the first that leaves nothing over.
const TIMES: [(&str, u128); 7] = [
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

const SIZES: [(&str, u128); 4] = [
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("", 1),
];

/// Reads a whole number and its unit, such as `250ms`.
pub(super) fn duration(text: &str) -> Option<Duration> {
    let nanos = with_unit(text, &TIMES)?;
    let seconds = u64::try_from(nanos / 1_000_000_000).ok()?;
    let rest = u32::try_from(nanos % 1_000_000_000).ok()?;
    Some(Duration::new(seconds, rest))
}

pub(super) fn show_duration(duration: Duration) -> String {
    match duration.as_nanos() {
        0 => "0s".to_owned(),
        // Days and hours are harder to read than seconds where they are not meant.
        nanos @ ..120_000_000_000 => in_units(nanos, &TIMES[3..]),
        nanos => in_units(nanos, &TIMES),
    }
}

/// Reads a number of bytes, such as `1048576`, `1MiB` or `64KiB`.
pub(super) fn size(text: &str) -> Option<usize> {
    with_unit(text, &SIZES)?.try_into().ok()
}

pub(super) fn show_size(bytes: usize) -> String {
    match bytes {
        0 => "0".to_owned(),
        bytes => in_units(bytes as u128, &SIZES),
    }
}

fn with_unit(text: &str, units: &[(&str, u128)]) -> Option<u128> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    number.parse::<u128>().ok()?.checked_mul(*factor)
}

/// In the first unit that leaves nothing over; the last one never does.
fn in_units(amount: u128, units: &[(&str, u128)]) -> String {
    let fitting = units
        .iter()
        .find(|(_, factor)| amount.is_multiple_of(*factor));
    let (unit, factor) = fitting.unwrap_or(&("", 1));
    format!("{}{unit}", amount / factor)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_with_units_are_read() {
        for (text, expected) in [
            ("250ms", Some(Duration::from_millis(250))),
            ("1s", Some(Duration::from_secs(1))),
            ("0s", Some(Duration::ZERO)),
            ("2m", Some(Duration::from_secs(120))),
            ("3d", Some(Duration::from_secs(259_200))),
            ("7us", Some(Duration::from_micros(7))),
            ("1", None),
            ("", None),
            ("ms", None),
            ("-1s", None),
            ("+1s", None),
            ("1.5s", None),
            ("1 s", None),
            ("1S", None),
            ("99999999999999999999d", None),
            ("999999999999999999999999999999999999999999s", None),
        ] {
            assert_eq!(duration(text), expected, "{text:?}");
        }
        for (text, expected) in [
            ("0", Some(0)),
            ("1024", Some(1024)),
            ("64KiB", Some(65_536)),
            ("1MiB", Some(1_048_576)),
            ("1MB", None),
            ("", None),
            ("-1", None),
        ] {
            assert_eq!(size(text), expected, "{text:?}");
        }
    }

    #[test]
    fn they_are_written_as_people_would() {
        for (duration, text) in [
            (Duration::ZERO, "0s"),
            (Duration::from_millis(1500), "1500ms"),
            (Duration::from_secs(60), "60s"),
            (Duration::from_secs(300), "5m"),
            (Duration::from_secs(86_400), "1d"),
        ] {
            assert_eq!(show_duration(duration), text);
        }
        assert_eq!(show_size(128 * 1024 * 1024), "128MiB");
        assert_eq!(show_size(1000), "1000");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(seconds: u64, nanos in 0..1_000_000_000_u32, bytes: usize) {
            let time = Duration::new(seconds, nanos);
            prop_assert_eq!(duration(&show_duration(time)), Some(time));
            prop_assert_eq!(size(&show_size(bytes)), Some(bytes));
        }

        #[test]
        fn no_text_is_too_much(text in ".{0,60}") {
            let _ = duration(&text);
            let _ = size(&text);
        }
    }
}
