//! Numbers as people read them.

use std::time::Duration;

use crate::histogram::Histogram;

/// `1234567` as `1,234,567`.
pub(crate) fn grouped(number: impl TryInto<u64>) -> String {
    let digits = number.try_into().unwrap_or(u64::MAX).to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `0.14 ms`, `25.9 ms`, `1,250 ms`
pub(crate) fn milliseconds(duration: Duration) -> String {
    let ms = duration.as_secs_f64() * 1000.0;
    match ms {
        ..10.0 => format!("{ms:.2} ms"),
        ..100.0 => format!("{ms:.1} ms"),
        _ => format!("{} ms", grouped(duration.as_millis())),
    }
}

/// `38 µs`, and from a millisecond on as [`milliseconds`].
pub(crate) fn latency(duration: Duration) -> String {
    match duration.as_micros() {
        us @ ..1000 => format!("{us} µs"),
        _ => milliseconds(duration),
    }
}

/// The median, or `-` of nothing.
pub(crate) fn median(latency: &Histogram) -> String {
    latency.quantile(0.5).map_or("-".to_owned(), milliseconds)
}

/// What 99% do not exceed, or `-` of nothing.
pub(crate) fn p99(latency: &Histogram) -> String {
    latency.quantile(0.99).map_or("-".to_owned(), milliseconds)
}

/// A part of a whole, `19.9%`.
#[expect(clippy::cast_precision_loss, reason = "one digit is shown")]
pub(crate) fn percent(part: usize, whole: usize) -> String {
    format!("{:.1}%", part as f64 * 100.0 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(grouped(number), text);
        }
        for (us, text) in [
            (136, "0.14 ms"),
            (25_930, "25.9 ms"),
            (1_250_000, "1,250 ms"),
        ] {
            assert_eq!(milliseconds(Duration::from_micros(us)), text);
        }
        for (us, text) in [(0, "0 µs"), (999, "999 µs"), (1_000, "1.00 ms")] {
            assert_eq!(latency(Duration::from_micros(us)), text);
        }
        assert_eq!(median(&Histogram::default()), "-");
        assert_eq!(p99(&Histogram::default()), "-");
        assert_eq!(percent(1, 3), "33.3%");
    }
}
