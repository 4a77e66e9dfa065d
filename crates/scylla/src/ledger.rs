//! The ledger of a node: what was picked and has not been reported.
//!
//! Nothing ties a report to its pick, but a report says how long the attempt took, so the time of its
//! start is known, and that is the time of the pick. Picks are counted in slots of time; a report
//! strikes one off the slot in which its attempt began. What is left in a slot after a while was not
//! answered by then. Slots are reused, so that what is never reported is forgotten by itself.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use steersman_selection::Timestamp;

/// A slot is 2^23 ns long, 8.4 ms.
const SLOT_BITS: u32 = 23;

/// The number of slots of a ledger, which is a little more than two seconds.
const SLOTS: i64 = 256;

/// How long the ledger remembers a pick, in nanoseconds.
pub(crate) const HORIZON_NANOS: i64 = (SLOTS - 2) << SLOT_BITS;

/// How long a slot is, in nanoseconds: looking more often than that finds nothing new.
pub(crate) const SLOT_NANOS: i64 = 1 << SLOT_BITS;

/// The lower bits of a slot's word count picks, the upper ones say for which slot of time.
const COUNT_BITS: u32 = 24;
const COUNT: u64 = (1 << COUNT_BITS) - 1;

/// What was picked of one node, and when.
#[derive(Debug)]
pub(crate) struct Ledger {
    slots: Box<[AtomicU64]>,
    /// Slots of time before this one have been looked at.
    settled: AtomicI64,
    picks: AtomicU64,
    unanswered: AtomicU64,
}

impl Ledger {
    pub(crate) fn new(now: Timestamp) -> Self {
        Self {
            slots: (0..SLOTS).map(|_| AtomicU64::new(0)).collect(),
            settled: AtomicI64::new(slot_of(now)),
            picks: AtomicU64::new(0),
            unanswered: AtomicU64::new(0),
        }
    }

    /// How many requests the node was picked for.
    pub(crate) fn picks(&self) -> u64 {
        self.picks.load(Ordering::Relaxed)
    }

    /// How many of them were not answered in time.
    pub(crate) fn unanswered(&self) -> u64 {
        self.unanswered.load(Ordering::Relaxed)
    }

    /// The node was picked.
    #[inline]
    pub(crate) fn picked(&self, now: Timestamp) {
        self.picks.fetch_add(1, Ordering::Relaxed);
        let slot = slot_of(now);
        let one = first_pick(slot);
        // Returns the new word always, so this cannot fail.
        let _ = self
            .cell(slot)
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |word| {
                Some(match word {
                    word if word >> COUNT_BITS != one >> COUNT_BITS => one,
                    word if word & COUNT == COUNT => word,
                    word => word + 1,
                })
            });
    }

    /// An attempt that began at `started` was reported.
    #[inline]
    pub(crate) fn reported(&self, started: Timestamp) {
        let slot = slot_of(started);
        // An attempt begins a moment after its pick, so the pick may be in the slot before.
        if !self.strike(slot) {
            self.strike(slot - 1);
        }
    }

    #[inline]
    fn strike(&self, slot: i64) -> bool {
        let tag = first_pick(slot) >> COUNT_BITS;
        let struck = self
            .cell(slot)
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |word| {
                (word >> COUNT_BITS == tag && word & COUNT > 0).then(|| word - 1)
            });
        struck.is_ok()
    }

    /// Takes out what was picked more than `patience` ago and not reported since. Calls `overdue`
    /// for each slot with such picks, with the least time that they have been waiting.
    pub(crate) fn settle(&self, now: Timestamp, patience_nanos: i64, mut overdue: impl FnMut(i64)) {
        let patience = patience_nanos.clamp(0, HORIZON_NANOS);
        let end = slot_of(Timestamp::from_nanos(now.nanos() - patience));
        let oldest = slot_of(now) - SLOTS + 1;
        let begin = self.settled.fetch_max(end, Ordering::Relaxed).max(oldest);
        for slot in begin..end {
            let (cell, tag) = (self.cell(slot), first_pick(slot) >> COUNT_BITS);
            let word = cell.load(Ordering::Relaxed);
            if word >> COUNT_BITS != tag || word & COUNT == 0 {
                continue;
            }
            let word = cell.swap(tag << COUNT_BITS, Ordering::Relaxed);
            if word & COUNT > 0 {
                self.unanswered.fetch_add(word & COUNT, Ordering::Relaxed);
                overdue(now.nanos() - ((slot + 1) << SLOT_BITS));
            }
        }
    }

    #[inline]
    fn cell(&self, slot: i64) -> &AtomicU64 {
        let index = usize::try_from(slot.rem_euclid(SLOTS)).unwrap_or_default();
        &self.slots[index]
    }
}

/// Time in slots; rounds down.
#[inline]
fn slot_of(at: Timestamp) -> i64 {
    at.nanos() >> SLOT_BITS
}

/// The word of a slot with one pick.
#[inline]
fn first_pick(slot: i64) -> u64 {
    (slot.cast_unsigned() << COUNT_BITS) | 1
}

#[cfg(test)]
mod tests;
