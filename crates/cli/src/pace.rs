//! A fixed rate: when each of a sequence of operations is due, how many are by some time, and a thread
//! that wakes up when one is.

use std::time::Duration;

/// When the operation with this number is due after the first one, number 0. The rate is per second
/// and above zero.
pub(crate) fn due_after(number: u64, rate: u32) -> Duration {
    let rate = u64::from(rate);
    Duration::from_secs(number / rate) + Duration::from_nanos(number % rate * 1_000_000_000 / rate)
}

/// How many operations are due so long after the first one, that one included.
pub(crate) fn due_by(elapsed: Duration, rate: u32) -> u64 {
    // Whole nanoseconds: what is due within this one is due.
    let count = ((elapsed.as_nanos() + 1) * u128::from(rate)).div_ceil(1_000_000_000);
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// Lets sleeps of this thread end when their time is over. Without it Linux takes 50 microseconds more if
/// that spares a wake-up, which is much for a request.
pub(crate) fn wake_in_time() {
    #[cfg(target_os = "linux")]
    // If it is refused, sleeps are less exact, and that is all.
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATES: [u32; 7] = [1, 3, 100, 3_000, 1_000_000, 9_999_999, u32::MAX];

    #[test]
    fn operations_are_due_at_even_distances_for_ever() {
        for rate in RATES {
            assert_eq!(due_after(0, rate), Duration::ZERO);
            let second = u64::from(rate);
            assert_eq!(due_after(second, rate), Duration::from_secs(1));
            assert_eq!(due_after(second * 1_000_000, rate).as_secs(), 1_000_000);
        }
        assert_eq!(due_after(1, 3), Duration::from_nanos(333_333_333));
        assert_eq!(due_after(3_001, 3_000), Duration::from_nanos(1_000_333_333));
    }

    #[test]
    fn as_many_are_due_as_have_come_to_their_time() {
        for rate in RATES {
            for nanos in (0..2_000).chain(333_333_330..333_333_340).chain([
                999_999_999,
                1_000_000_000,
                86_400_000_000_123,
            ]) {
                let elapsed = Duration::from_nanos(nanos);
                let due = due_by(elapsed, rate);
                assert!(due_after(due - 1, rate) <= elapsed, "{rate} {nanos}");
                assert!(due_after(due, rate) > elapsed, "{rate} {nanos}");
            }
        }
    }
}
