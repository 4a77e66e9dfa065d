//! The phases of a node's life in guarded mode, one word each.
//!
//! A node that is penalised gets one request a retry period as a probe. A good answer calls for
//! further probes at once; after [`PROBES`] good ones in a row the node's share rises from nothing
//! to its full one. All changes are by compare-and-swap of the whole word, so that of two threads
//! that see the same reason for a change only one makes it.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::Timestamp;

/// How many probes in a row must be answered within the limit before the ramp starts.
pub(super) const PROBES: u8 = 3;

/// What phase a node is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Nothing is recorded of it: it is not in the topology.
    Untracked,
    /// It takes its turn.
    Normal,
    /// It came in among measured nodes; its share rises.
    Joining { since: Timestamp },
    /// It came back from being penalised; its share rises.
    Ramping { since: Timestamp },
    /// It is penalised until `due`; then a request may be its probe. `good` probes were answered.
    Penalised { good: u8, due: Timestamp },
    /// It is penalised and a probe is under way, or was lost.
    Probing { good: u8, since: Timestamp },
}

/// The lowest bits of the word are the kind, the rest is the time without these bits: it is rounded
/// down to 16 ns.
const KIND: u64 = 0xf;

const UNTRACKED: u64 = 0;
const NORMAL: u64 = 1;
const JOINING: u64 = 2;
const RAMPING: u64 = 3;
/// And the number of good probes.
const PENALISED: u64 = 4;
const PROBING: u64 = PENALISED + PROBES as u64;

const _: () = assert!(PROBING + (PROBES as u64) <= KIND + 1);

impl Phase {
    #[inline]
    fn pack(self) -> u64 {
        let (kind, time) = match self {
            Self::Untracked => return UNTRACKED,
            Self::Normal => return NORMAL,
            Self::Joining { since } => (JOINING, since),
            Self::Ramping { since } => (RAMPING, since),
            Self::Penalised { good, due } => (PENALISED + u64::from(good), due),
            Self::Probing { good, since } => (PROBING + u64::from(good), since),
        };
        time.nanos().cast_unsigned() & !KIND | kind
    }

    #[inline]
    fn unpack(word: u64) -> Self {
        let time = Timestamp::from_nanos((word & !KIND).cast_signed());
        match word & KIND {
            UNTRACKED => Self::Untracked,
            NORMAL => Self::Normal,
            JOINING => Self::Joining { since: time },
            RAMPING => Self::Ramping { since: time },
            kind if kind < PROBING => Self::Penalised {
                good: number(kind - PENALISED),
                due: time,
            },
            kind => Self::Probing {
                good: number(kind - PROBING),
                since: time,
            },
        }
    }

    /// Whether the node comes last in its tier, probes apart.
    pub(super) fn is_penalised(self) -> bool {
        matches!(self, Self::Penalised { .. } | Self::Probing { .. })
    }
}

#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "it is part of a kind of four bits"
)]
fn number(good: u64) -> u8 {
    good as u8
}

/// A phase that threads share.
#[derive(Debug)]
pub(super) struct AtomicPhase(AtomicU64);

impl Default for AtomicPhase {
    fn default() -> Self {
        Self(AtomicU64::new(Phase::Untracked.pack()))
    }
}

impl AtomicPhase {
    #[inline]
    pub(super) fn load(&self) -> Phase {
        Phase::unpack(self.0.load(Ordering::Acquire))
    }

    #[inline]
    pub(super) fn is_normal(&self) -> bool {
        self.0.load(Ordering::Relaxed) == NORMAL
    }

    #[inline]
    pub(super) fn is_tracked(&self) -> bool {
        self.0.load(Ordering::Acquire) != UNTRACKED
    }

    pub(super) fn store(&self, phase: Phase) {
        self.0.store(phase.pack(), Ordering::Release);
    }

    /// Goes from one phase to the next, and says whether this thread was the one to do it.
    pub(super) fn change(&self, from: Phase, to: Phase) -> bool {
        let (from, to) = (from.pack(), to.pack());
        self.0
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_survive_their_word() {
        for nanos in [0, 16, -16, i64::MIN, i64::MAX & !15] {
            let at = Timestamp::from_nanos(nanos);
            let mut phases = vec![
                Phase::Untracked,
                Phase::Normal,
                Phase::Joining { since: at },
                Phase::Ramping { since: at },
            ];
            for good in 0..PROBES {
                phases.push(Phase::Penalised { good, due: at });
                phases.push(Phase::Probing { good, since: at });
            }
            for phase in phases {
                assert_eq!(Phase::unpack(phase.pack()), phase);
                let shared = AtomicPhase::default();
                shared.store(phase);
                assert_eq!(shared.is_normal(), phase == Phase::Normal);
                assert_eq!(shared.is_tracked(), phase != Phase::Untracked);
            }
        }
    }

    #[test]
    fn only_one_of_two_makes_a_change() {
        let shared = AtomicPhase::default();
        assert!(shared.change(Phase::Untracked, Phase::Normal));
        assert!(!shared.change(Phase::Untracked, Phase::Normal));
    }
}
