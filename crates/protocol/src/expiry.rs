//! When an item expires, in the terms of the wire.
//!
//! The protocol has one signed number for three meanings: 0 is never, a negative number is at
//! once, a number up to 30 days is seconds from now, and anything above is seconds since 1970.
//! So a plain duration of 31 days would be taken as a date in 1970 and the item would vanish;
//! [`Expiry`] keeps the meanings apart.

use std::time::Duration;

/// When an item expires.
///
/// ```
/// use std::time::Duration;
/// use steersman_memcached_protocol::Expiry;
///
/// let now = 1_796_000_000; // seconds since 1970, from the caller's clock
/// assert_eq!(Expiry::after(Duration::from_secs(60), now).wire(), 60);
/// // Above 30 days memcached wants a date.
/// let month = Duration::from_secs(31 * 24 * 60 * 60);
/// assert_eq!(Expiry::after(month, now).wire(), 1_798_678_400);
/// assert_eq!(Expiry::NEVER.wire(), 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Expiry(i32);

impl Expiry {
    /// The item does not expire (it may still be evicted).
    pub const NEVER: Self = Self(0);

    /// The item has expired already: a store removes what was there.
    pub const IMMEDIATE: Self = Self(-1);

    /// The longest time that memcached takes as relative: 30 days, in seconds.
    const MAX_RELATIVE: u64 = 60 * 60 * 24 * 30;

    /// The last date there is on the wire, in January 2038: memcached keeps the number in 32
    /// signed bits and an item with a later date would be gone at once.
    const MAX_ABSOLUTE: u64 = i32::MAX as u64;

    /// Expires once `duration` has passed.
    ///
    /// Fractions of a second are rounded up, a zero duration is [`Expiry::IMMEDIATE`], and more
    /// than 30 days become a date counted from `now_unix_secs` (seconds since 1970), at most the
    /// last date that memcached knows, 2038-01-19.
    pub fn after(duration: Duration, now_unix_secs: u64) -> Self {
        let seconds = duration
            .as_secs()
            .saturating_add(u64::from(duration.subsec_nanos() > 0));
        match seconds {
            0 => Self::IMMEDIATE,
            1..=Self::MAX_RELATIVE => Self::from_wire(seconds),
            _ => Self::at(now_unix_secs.saturating_add(seconds)),
        }
    }

    /// Expires at a date, in seconds since 1970.
    ///
    /// Dates in January 1970, which memcached would take for a time from now, are long past and
    /// so [`Expiry::IMMEDIATE`]; dates after 2038-01-19, the last that memcached knows, are that
    /// last date.
    pub fn at(unix_secs: u64) -> Self {
        if unix_secs <= Self::MAX_RELATIVE {
            return Self::IMMEDIATE;
        }
        Self::from_wire(unix_secs.min(Self::MAX_ABSOLUTE))
    }

    /// The number as it is written on the wire.
    pub const fn wire(self) -> i64 {
        self.0 as i64
    }

    fn from_wire(seconds: u64) -> Self {
        Self(i32::try_from(seconds).unwrap_or(i32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NOW: u64 = 1_796_000_000;
    const DAY: u64 = 24 * 60 * 60;

    fn after(duration: Duration) -> i64 {
        Expiry::after(duration, NOW).wire()
    }

    #[test]
    fn durations() {
        assert_eq!(Expiry::after(Duration::ZERO, NOW), Expiry::IMMEDIATE);
        assert_eq!(after(Duration::from_nanos(1)), 1);
        assert_eq!(after(Duration::from_millis(999)), 1);
        assert_eq!(after(Duration::from_secs(1)), 1);
        assert_eq!(after(Duration::from_millis(1_001)), 2);
        assert_eq!(after(Duration::from_secs(30 * DAY)), 2_592_000);
        assert_eq!(after(Duration::from_secs(30 * DAY + 1)), 1_798_592_001);
        // Rounding up takes this one over the limit, and so makes it a date.
        let just_above = Duration::from_secs(30 * DAY) + Duration::from_nanos(1);
        assert_eq!(after(just_above), 1_798_592_001);
        assert_eq!(after(Duration::MAX), i64::from(i32::MAX));
        assert_eq!(
            Expiry::after(Duration::MAX, u64::MAX).wire(),
            i64::from(i32::MAX)
        );
    }

    #[test]
    fn dates() {
        assert_eq!(Expiry::at(0), Expiry::IMMEDIATE);
        assert_eq!(Expiry::at(2_592_000), Expiry::IMMEDIATE);
        assert_eq!(Expiry::at(2_592_001).wire(), 2_592_001);
        assert_eq!(Expiry::at(NOW).wire(), 1_796_000_000);
        assert_eq!(Expiry::at(1 << 31).wire(), i64::from(i32::MAX));
        assert_eq!(Expiry::at(u64::MAX).wire(), i64::from(i32::MAX));
    }

    proptest! {
        #[test]
        fn a_longer_duration_never_expires_earlier(a: u64, b: u64, now in 2_592_001..4_000_000_000_u64) {
            let lifetime = |millis: u64| {
                let wire = Expiry::after(Duration::from_millis(millis), now).wire();
                match wire {
                    -1 => 0,
                    1..=2_592_000 => wire + i64::try_from(now).unwrap(),
                    _ => wire.max(i64::try_from(now).unwrap() + 2_592_000),
                }
            };
            let (short, long) = (a.min(b), a.max(b));
            prop_assert!(lifetime(short) <= lifetime(long));
        }
    }
}
