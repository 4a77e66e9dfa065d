//! What the store counts for `stats`.

use crate::slab::{CLASS_LIMIT, Class};

/// Counted for each slab class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClassCounter {
    GetHits,
    Sets,
    DeleteHits,
    IncrHits,
    DecrHits,
    CasHits,
    CasBadval,
    TouchHits,
}

impl ClassCounter {
    /// In the order and by the names of `stats slabs`.
    pub(crate) const NAMED: [(ClassCounter, &str); 8] = [
        (ClassCounter::GetHits, "get_hits"),
        (ClassCounter::Sets, "cmd_set"),
        (ClassCounter::DeleteHits, "delete_hits"),
        (ClassCounter::IncrHits, "incr_hits"),
        (ClassCounter::DecrHits, "decr_hits"),
        (ClassCounter::CasHits, "cas_hits"),
        (ClassCounter::CasBadval, "cas_badval"),
        (ClassCounter::TouchHits, "touch_hits"),
    ];
}

/// Everything the store counts; `stats reset` starts again.
#[derive(Debug, Clone)]
pub(crate) struct StoreCounters {
    pub(crate) gets: u64,
    pub(crate) get_misses: u64,
    pub(crate) metas: u64,
    pub(crate) touches: u64,
    pub(crate) touch_misses: u64,
    pub(crate) delete_misses: u64,
    pub(crate) incr_misses: u64,
    pub(crate) decr_misses: u64,
    pub(crate) cas_misses: u64,
    pub(crate) flushes: u64,
    pub(crate) stored: u64,
    pub(crate) bad_blocks: u64,
    pub(crate) too_large: u64,
    pub(crate) no_memory: u64,
    pub(crate) expired: u64,
    pub(crate) expired_unfetched: u64,
    pub(crate) flushed: u64,
    pub(crate) evictions: u64,
    pub(crate) evicted_unfetched: u64,
    classes: [[u64; ClassCounter::NAMED.len()]; CLASS_LIMIT as usize],
}

impl Default for StoreCounters {
    fn default() -> Self {
        Self {
            gets: 0,
            get_misses: 0,
            metas: 0,
            touches: 0,
            touch_misses: 0,
            delete_misses: 0,
            incr_misses: 0,
            decr_misses: 0,
            cas_misses: 0,
            flushes: 0,
            stored: 0,
            bad_blocks: 0,
            too_large: 0,
            no_memory: 0,
            expired: 0,
            expired_unfetched: 0,
            flushed: 0,
            evictions: 0,
            evicted_unfetched: 0,
            classes: [[0; ClassCounter::NAMED.len()]; CLASS_LIMIT as usize],
        }
    }
}

impl StoreCounters {
    pub(crate) fn count(&mut self, class: Class, counter: ClassCounter) {
        self.classes[class.id as usize][counter as usize] += 1;
    }

    /// Of one class.
    pub(crate) fn of_class(&self, class: Class, counter: ClassCounter) -> u64 {
        self.classes[class.id as usize][counter as usize]
    }

    /// Of all classes.
    pub(crate) fn total(&self, counter: ClassCounter) -> u64 {
        self.classes
            .iter()
            .map(|class| class[counter as usize])
            .sum()
    }
}
