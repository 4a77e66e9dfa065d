//! Points in time and spans of it, as policies are given them.

use std::time::Duration;

/// A reading of a monotonic clock: nanoseconds since an origin that the caller chooses.
///
/// Policies never read a clock; whoever asks them says what time it is. All readings given to one
/// policy must share one origin, such as the start of the process. Differences wrap, so the origin
/// may be anywhere and readings may be negative; two readings that are more than 292 years apart
/// cannot be told from their complement. For the same reason timestamps have no order, only
/// [differences](Timestamp::nanos_since).
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use steersman_selection::Timestamp;
///
/// let start = Timestamp::from_nanos(i64::MAX);
/// let end = start + Duration::from_millis(3);
/// assert!(end.nanos() < 0);
/// assert_eq!(end.nanos_since(start), 3_000_000);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The reading of so many nanoseconds.
    #[inline]
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// The reading in nanoseconds.
    #[inline]
    pub const fn nanos(self) -> i64 {
        self.0
    }

    /// How many nanoseconds this reading is later than `earlier`; negative if it is before it.
    #[inline]
    pub const fn nanos_since(self, earlier: Self) -> i64 {
        self.0.wrapping_sub(earlier.0)
    }
}

impl std::ops::Add<Duration> for Timestamp {
    type Output = Self;

    /// The reading so much later; spans of more than 292 years count as that.
    #[inline]
    fn add(self, span: Duration) -> Self {
        Self(self.0.wrapping_add(saturating_nanos(span)))
    }
}

/// A span in nanoseconds, at most `i64::MAX`.
#[inline]
pub(crate) fn saturating_nanos(span: Duration) -> i64 {
    i64::try_from(span.as_nanos()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_wrap() {
        let before = Timestamp::from_nanos(i64::MAX - 1);
        let after = Timestamp::from_nanos(i64::MIN + 1);
        assert_eq!(after.nanos_since(before), 3);
        assert_eq!(before.nanos_since(after), -3);
    }

    #[test]
    fn spans_saturate() {
        assert_eq!(saturating_nanos(Duration::MAX), i64::MAX);
        assert_eq!(saturating_nanos(Duration::from_nanos(7)), 7);
    }
}
