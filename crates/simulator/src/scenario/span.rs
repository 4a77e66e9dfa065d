//! Spans of time as scenarios write them: `250ms`, `1.5s`, `2m`.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Deserializer, de};

/// A span of virtual time in whole nanoseconds, at most 1,000 hours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(u64);

impl Span {
    pub(crate) const ZERO: Self = Self(0);
    const MAX_NANOS: f64 = 3.6e15;
    /// A thousand hours.
    pub(crate) const MOST: Self = Self(3_600_000_000_000_000);
    const UNITS: [(&'static str, f64); 6] = [
        ("ns", 1.0),
        ("us", 1e3),
        ("ms", 1e6),
        ("s", 1e9),
        ("m", 6e10),
        ("h", 3.6e12),
    ];

    /// So many nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// The span in nanoseconds.
    pub const fn nanos(self) -> u64 {
        self.0
    }

    /// The span in seconds.
    #[expect(clippy::cast_precision_loss, reason = "at most 2^52")]
    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Reads a number with or without decimals and a unit: `ns`, `us`, `ms`, `s`, `m` or `h`.
    pub fn parse(text: &str) -> Option<Self> {
        let unit = text.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
        let (number, unit) = text.split_at(unit);
        let (_, factor) = Self::UNITS.iter().find(|(name, _)| *name == unit)?;
        let nanos = number.parse::<f64>().ok()? * factor;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "not negative, and far below 2^64"
        )]
        (nanos <= Self::MAX_NANOS).then(|| Self(nanos.round() as u64))
    }
}

impl fmt::Display for Span {
    /// In the largest unit that is not above the span, with at most three decimals.
    #[expect(clippy::cast_precision_loss, reason = "at most 2^52")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0 as f64;
        let (unit, factor) = Self::UNITS[..4]
            .iter()
            .rev()
            .find(|(_, factor)| nanos >= *factor)
            .unwrap_or(&Self::UNITS[3]);
        let number = format!("{:.3}", nanos / factor);
        write!(
            f,
            "{}{unit}",
            number.trim_end_matches('0').trim_end_matches('.')
        )
    }
}

impl From<Span> for Duration {
    fn from(span: Span) -> Self {
        Self::from_nanos(span.0)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Text)
    }
}

/// A span as text.
struct Text;

impl de::Visitor<'_> for Text {
    type Value = Span;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a span of time in quotes, as in \"250ms\" or \"1.5s\", up to \"1000h\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Span, E> {
        Span::parse(text).ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
    }
}

#[cfg(test)]
mod tests {
    use super::Span;

    #[test]
    fn spans_are_read_and_written() {
        for (text, nanos, shown) in [
            ("10ns", 10, "10ns"),
            ("0s", 0, "0s"),
            ("1.5us", 1_500, "1.5us"),
            ("250ms", 250_000_000, "250ms"),
            ("0.25s", 250_000_000, "250ms"),
            ("2m", 120_000_000_000, "120s"),
            ("1h", 3_600_000_000_000, "3600s"),
        ] {
            let span = Span::parse(text).unwrap();
            assert_eq!((span.nanos(), span.to_string()), (nanos, shown.to_owned()));
        }
        for text in [
            "", "5", "s", "-1s", "1 s", "1e3s", "1..2s", "1d", "1001h", "+1s", "NaNs",
        ] {
            assert_eq!(Span::parse(text), None, "{text}");
        }
    }
}
