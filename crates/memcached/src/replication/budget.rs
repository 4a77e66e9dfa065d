//! How many hedges there may be: a token bucket that each read fills a little.

use crate::sync::atomic::{AtomicU64, Ordering};

/// One hedge, in the bucket's unit.
const TOKEN: u64 = 1_000_000;

/// A token bucket: a read puts a share of a token in, a hedge takes a whole one out.
#[derive(Debug)]
pub(super) struct Budget {
    level: AtomicU64,
    per_read: u64,
    capacity: u64,
}

impl Budget {
    /// A full bucket. `per_read` is 0 to 1.
    pub(super) fn new(per_read: f64, burst: u32) -> Self {
        let capacity = u64::from(burst) * TOKEN;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the option is checked to be 0 to 1"
        )]
        let per_read = (per_read * 1e6) as u64;
        Self {
            level: AtomicU64::new(capacity),
            per_read,
            capacity,
        }
    }

    /// A read began.
    pub(super) fn earn(&self) {
        // A full bucket, the usual case, is only read.
        let _ = self
            .level
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |level| {
                (level < self.capacity).then(|| (level + self.per_read).min(self.capacity))
            });
    }

    /// Takes a hedge out; false if there is none.
    pub(super) fn spend(&self) -> bool {
        self.level
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |level| {
                level.checked_sub(TOKEN)
            })
            .is_ok()
    }
}

#[cfg(all(test, loom))]
mod models;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn hedges_never_exceed_the_burst_and_the_share_of_the_reads() {
        let budget = Budget::new(0.05, 10);
        let mut spent = 0;
        for reads in 1..=10_000_u32 {
            budget.earn();
            while budget.spend() {
                spent += 1;
            }
            assert!(f64::from(spent) <= 10.0 + 0.05 * f64::from(reads));
        }
        assert_eq!(spent, 509, "the first reads found the bucket full");
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
}
