//! How many hedges there may be: a token bucket that each request fills a little.

use crate::sync::atomic::{AtomicI64, Ordering};

/// One hedge, in the bucket's unit.
const TOKEN: i64 = 1_000_000;

/// A token bucket: a request puts a share of a token in, a hedge takes a whole one out.
#[derive(Debug)]
pub(super) struct Budget {
    /// Below 0 while more hedges were made than there were tokens.
    level: AtomicI64,
    per_request: i64,
    capacity: i64,
}

impl Budget {
    /// A full bucket. `per_request` is 0 to 1.
    pub(super) fn new(per_request: f64, burst: u32) -> Self {
        let capacity = i64::from(burst) * TOKEN;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the parameter is checked to be 0 to 1"
        )]
        let per_request = (per_request * 1e6) as i64;
        Self {
            level: AtomicI64::new(capacity),
            per_request,
            capacity,
        }
    }

    /// A request began.
    pub(super) fn earn(&self) {
        // A full bucket, the usual case, is only read.
        let _ = self
            .level
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |level| {
                (level < self.capacity).then(|| (level + self.per_request).min(self.capacity))
            });
    }

    /// Takes a hedge out; false if there is none.
    pub(super) fn spend(&self) -> bool {
        self.level
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |level| {
                (level >= TOKEN).then(|| level - TOKEN)
            })
            .is_ok()
    }

    /// Whether there is a hedge to take out.
    pub(super) fn has_any(&self) -> bool {
        self.level.load(Ordering::Relaxed) >= TOKEN
    }

    /// Takes a hedge out that was made already, be there one or not.
    pub(super) fn charge(&self) {
        self.level.fetch_sub(TOKEN, Ordering::Relaxed);
    }
}

#[cfg(all(test, loom))]
mod models;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn hedges_never_exceed_the_burst_and_the_share_of_the_requests() {
        let budget = Budget::new(0.05, 10);
        let mut spent = 0;
        for requests in 1..=10_000_u32 {
            budget.earn();
            while budget.spend() {
                spent += 1;
            }
            assert!(f64::from(spent) <= 10.0 + 0.05 * f64::from(requests));
        }
        assert_eq!(spent, 509, "the first requests found the bucket full");
    }

    #[test]
    fn what_is_saved_up_is_bounded() {
        let budget = Budget::new(1.0, 3);
        for _ in 0..100 {
            budget.earn();
        }
        assert_eq!(
            std::iter::from_fn(|| budget.spend().then_some(())).count(),
            3
        );
        let none = Budget::new(1.0, 0);
        none.earn();
        assert!(!none.spend());
    }

    #[test]
    fn what_was_made_without_asking_is_earned_afterwards() {
        let budget = Budget::new(0.5, 1);
        for _ in 0..3 {
            budget.charge();
        }
        // Two are owed, and a third one is needed for the next.
        for _ in 0..5 {
            budget.earn();
            assert!(!budget.has_any() && !budget.spend());
        }
        budget.earn();
        assert!(budget.has_any() && budget.spend() && !budget.has_any());
    }
}
