//! The ledger of a node: what was sent to it and has not been reported.
//!
//! Nothing ties a report to its pick, but a report says how long the attempt took, so the time of its
//! start is known, and that is about the time of the pick. Picks are counted in slots of time; a report
//! strikes one off the slot in which its attempt began, or the last one shortly before that has any. What
//! is left in a slot after a while was not answered by then: it is overdue. An overdue attempt stays in its
//! slot as such, so that one that is reported after all is known to have been counted. Slots are reused, so
//! that what is never reported is forgotten by itself.

use steersman_selection::Timestamp;

use crate::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// A slot is 2^23 ns long, 8.4 ms.
const SLOT_BITS: u32 = 23;

/// The number of slots of a ledger, which is a little more than two seconds.
const SLOTS: i64 = 256;

/// How long the ledger remembers a pick, in nanoseconds.
pub(crate) const HORIZON_NANOS: i64 = (SLOTS - 2) << SLOT_BITS;

/// How long a slot is, in nanoseconds: looking more often than that finds nothing new.
pub(crate) const SLOT_NANOS: i64 = 1 << SLOT_BITS;

/// How many slots an attempt may begin after its pick: 134 ms. It takes a moment, unless the client has to
/// wait for a processor in between.
const DELAY_SLOTS: i64 = 16;

/// What was sent to one node, and when.
#[derive(Debug)]
pub(crate) struct Ledger {
    slots: Box<[AtomicU64]>,
    /// Slots of time before this one have been looked at.
    settled: AtomicI64,
    picks: AtomicU64,
    /// Attempts that were given up or overdue.
    missed: AtomicU64,
    /// Those of them that were answered after all.
    late: AtomicU64,
}

/// What the ledger had of an attempt that ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry {
    /// It was waiting for its end.
    Due,
    /// The ledger did not have it.
    Unknown,
    /// It has been overdue, and was told to the policy as such.
    Overdue,
}

/// A slot's word: for which slot of time it is, and how many of its attempts are overdue and how many
/// are waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Slot {
    tag: u32,
    overdue: u16,
    waiting: u16,
}

impl Slot {
    /// An empty one. The tag repeats after more than a year.
    #[inline]
    fn of(slot: i64) -> Self {
        let low = slot.cast_unsigned() & u64::from(u32::MAX);
        Self {
            tag: u32::try_from(low).unwrap_or_default(),
            overdue: 0,
            waiting: 0,
        }
    }

    #[inline]
    fn pack(self) -> u64 {
        u64::from(self.tag) << 32 | u64::from(self.overdue) << 16 | u64::from(self.waiting)
    }

    #[inline]
    fn unpack(word: u64) -> Self {
        let count = |word: u64| u16::try_from(word & u64::from(u16::MAX)).unwrap_or_default();
        Self {
            tag: u32::try_from(word >> 32).unwrap_or_default(),
            overdue: count(word >> 16),
            waiting: count(word),
        }
    }
}

impl Ledger {
    pub(crate) fn new(now: Timestamp) -> Self {
        Self {
            slots: (0..SLOTS).map(|_| AtomicU64::new(0)).collect(),
            settled: AtomicI64::new(slot_of(now)),
            picks: AtomicU64::new(0),
            missed: AtomicU64::new(0),
            late: AtomicU64::new(0),
        }
    }

    /// How many requests the node was picked for.
    pub(crate) fn picks(&self) -> u64 {
        self.picks.load(Ordering::Relaxed)
    }

    /// How many attempts have not been answered, and are not waited for any longer.
    pub(crate) fn unanswered(&self) -> u64 {
        let missed = self.missed.load(Ordering::Relaxed);
        missed.saturating_sub(self.late())
    }

    /// How many attempts were answered after they had been overdue.
    pub(crate) fn late(&self) -> u64 {
        self.late.load(Ordering::Relaxed)
    }

    /// The node was picked.
    #[inline]
    pub(crate) fn picked(&self, now: Timestamp) {
        self.picks.fetch_add(1, Ordering::Relaxed);
        self.sent(now);
    }

    /// An attempt that is no pick begins: a retry, or a speculative one.
    #[inline]
    pub(crate) fn sent(&self, now: Timestamp) {
        let slot = slot_of(now);
        let empty = Slot::of(slot);
        self.update(slot, |before| {
            let before = if before.tag == empty.tag {
                before
            } else {
                empty
            };
            Some(Slot {
                waiting: before.waiting.saturating_add(1),
                ..before
            })
        });
    }

    /// An attempt that began at `started` was answered, or failed.
    #[inline]
    pub(crate) fn answered(&self, started: Timestamp, now: Timestamp) -> Entry {
        let entry = self.strike(started, now);
        if entry == Entry::Overdue {
            self.late.fetch_add(1, Ordering::Relaxed);
        }
        entry
    }

    /// An attempt that began at `started` was given up.
    pub(crate) fn given_up(&self, started: Timestamp, now: Timestamp) -> Entry {
        let entry = self.strike(started, now);
        if entry != Entry::Overdue {
            self.missed.fetch_add(1, Ordering::Relaxed);
        }
        entry
    }

    #[inline]
    fn strike(&self, started: Timestamp, now: Timestamp) -> Entry {
        let slot = slot_of(started);
        let mut slots = (slot - DELAY_SLOTS..=slot).rev();
        let found = slots.find_map(|slot| self.strike_in(slot));
        found.unwrap_or_else(|| {
            let is_forgotten = slot_of(now) - slot >= SLOTS - 1;
            if is_forgotten && slot < self.settled.load(Ordering::Relaxed) {
                Entry::Overdue
            } else {
                Entry::Unknown
            }
        })
    }

    #[inline]
    fn strike_in(&self, slot: i64) -> Option<Entry> {
        let tag = Slot::of(slot).tag;
        let before = self.update(slot, |before| match before {
            Slot { waiting: 1.., .. } if before.tag == tag => Some(Slot {
                waiting: before.waiting - 1,
                ..before
            }),
            Slot { overdue: 1.., .. } if before.tag == tag => Some(Slot {
                overdue: before.overdue - 1,
                ..before
            }),
            _ => None,
        })?;
        Some(if before.waiting > 0 {
            Entry::Due
        } else {
            Entry::Overdue
        })
    }

    /// Makes overdue what has been waiting for more than `patience`. Calls `overdue` for each slot
    /// with such attempts, with the least time that they have been waiting and their number.
    pub(crate) fn settle(
        &self,
        now: Timestamp,
        patience_nanos: i64,
        mut overdue: impl FnMut(i64, u16),
    ) {
        let patience = patience_nanos.clamp(0, HORIZON_NANOS);
        let end = slot_of(Timestamp::from_nanos(now.nanos() - patience));
        let begin = self.settled.fetch_max(end, Ordering::Relaxed);
        for slot in begin.max(end - SLOTS)..end {
            let tag = Slot::of(slot).tag;
            // What was there in an earlier round, if nobody has looked since, waits as well.
            let slots_ago = |before: Slot| tag.wrapping_sub(before.tag);
            let before = self.update(slot, |before| {
                (slots_ago(before) <= u32::MAX / 2 && before.waiting > 0).then(|| Slot {
                    overdue: before.overdue.saturating_add(before.waiting),
                    waiting: 0,
                    ..before
                })
            });
            if let Some(before) = before {
                let waiting = u64::from(before.waiting);
                self.missed.fetch_add(waiting, Ordering::Relaxed);
                let ended = slot - i64::from(slots_ago(before)) + 1;
                overdue(now.nanos() - (ended << SLOT_BITS), before.waiting);
            }
        }
    }

    /// Changes a slot, unless `change` says that there is nothing to be changed, and returns it as it
    /// was before.
    #[inline]
    fn update(&self, slot: i64, change: impl Fn(Slot) -> Option<Slot>) -> Option<Slot> {
        let index = usize::try_from(slot.rem_euclid(SLOTS)).unwrap_or_default();
        let changed =
            self.slots[index].fetch_update(Ordering::Relaxed, Ordering::Relaxed, |word| {
                change(Slot::unpack(word)).map(Slot::pack)
            });
        changed.ok().map(Slot::unpack)
    }
}

/// Time in slots; rounds down.
#[inline]
fn slot_of(at: Timestamp) -> i64 {
    at.nanos() >> SLOT_BITS
}

#[cfg(all(test, loom))]
mod models;
#[cfg(all(test, not(loom)))]
mod tests;
