//! When the balancer looks after itself. There is no task for it and no thread: requests do it, one
//! at a time, when it is due. Without requests there is nothing to look after.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use steersman_selection::Timestamp;

/// Something that is due every so often.
#[derive(Debug)]
pub(crate) struct Schedule {
    due: AtomicI64,
    every_nanos: i64,
}

impl Schedule {
    /// Due for the first time after one period.
    pub(crate) fn every(period: Duration, now: Timestamp) -> Self {
        let every_nanos = i64::try_from(period.as_nanos()).unwrap_or(i64::MAX);
        Self {
            due: AtomicI64::new((now + period).nanos()),
            every_nanos,
        }
    }

    #[inline]
    pub(crate) fn is_due(&self, now: Timestamp) -> bool {
        now.nanos() >= self.due.load(Ordering::Relaxed)
    }

    /// Whether it is due, and the caller is the one to do it.
    pub(crate) fn take(&self, now: Timestamp) -> bool {
        let due = self.due.load(Ordering::Relaxed);
        let next = now.nanos().saturating_add(self.every_nanos);
        now.nanos() >= due
            && self
                .due
                .compare_exchange(due, next, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }

    /// Makes it due at once.
    pub(crate) fn hasten(&self, now: Timestamp) {
        self.due.fetch_min(now.nanos(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_caller_a_period_takes_it() {
        let at = Timestamp::from_nanos;
        let schedule = Schedule::every(Duration::from_nanos(10), at(0));
        assert!(!schedule.is_due(at(9)) && !schedule.take(at(9)));
        assert!(schedule.is_due(at(12)) && schedule.take(at(12)));
        assert!(!schedule.is_due(at(21)) && !schedule.take(at(21)));
        assert!(schedule.take(at(22)));
        schedule.hasten(at(25));
        assert!(schedule.is_due(at(25)) && schedule.take(at(25)));
        assert!(!schedule.take(at(34)));
    }
}
