//! The phases of a node's life in guarded mode, one word each.
//!
//! A node that is penalised gets single requests as probes, in series: as long as neither the good
//! answers of a series nor the bad ones are [`PROBES`], the next one goes when the one before was
//! answered, and a tick later if it was late. Any answer to a request sent since counts as the
//! probe's: a penalised node is also asked when others fail. After a good series the node's share
//! rises from nothing to its full one, after a bad one it waits. All changes are by compare-and-swap
//! of the whole word, so that of two threads that see the same reason for a change only one makes it.

use crate::Timestamp;
use crate::sync::atomic::{AtomicU64, Ordering};

/// So many good answers to probes start the ramp, so many bad ones call it off. (A single one would
/// decide by chance: of ten answers of a good node, one or two are late.)
pub(super) const PROBES: u8 = 3;

/// The answers of a series of probes, fewer than [`PROBES`] of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Series {
    pub(super) good: u8,
    pub(super) bad: u8,
    /// Whether it is the first since the node was penalised: what made it slow may be just over.
    pub(super) is_first: bool,
}

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
    /// It is penalised until `due`; then a request may be its probe.
    Penalised { series: Series, due: Timestamp },
    /// It is penalised and a probe is under way, or was lost.
    Probing { series: Series, since: Timestamp },
}

/// The lowest bits of the word are the kind, the rest is the time without these bits: it is rounded
/// down to 64 ns.
const KIND: u64 = 0x3f;

const UNTRACKED: u64 = 0;
const NORMAL: u64 = 1;
const JOINING: u64 = 2;
const RAMPING: u64 = 3;
/// And the number of the series.
const PENALISED: u64 = 4;
const PROBING: u64 = PENALISED + Series::KINDS;

const _: () = assert!(PROBING + Series::KINDS <= KIND + 1);

impl Series {
    const KINDS: u64 = 2 * Self::ANSWERS;
    const ANSWERS: u64 = PROBES as u64 * PROBES as u64;

    pub(super) const FIRST: Self = Self {
        good: 0,
        bad: 0,
        is_first: true,
    };

    pub(super) const LATER: Self = Self {
        is_first: false,
        ..Self::FIRST
    };

    pub(super) fn has_answers(self) -> bool {
        self.good > 0 || self.bad > 0
    }

    #[inline]
    fn pack(self) -> u64 {
        let answers = u64::from(self.good) * u64::from(PROBES) + u64::from(self.bad);
        u64::from(self.is_first) * Self::ANSWERS + answers
    }

    #[inline]
    fn unpack(number: u64) -> Self {
        let answers = number % Self::ANSWERS;
        Self {
            good: (answers / u64::from(PROBES)) as u8,
            bad: (answers % u64::from(PROBES)) as u8,
            is_first: number >= Self::ANSWERS,
        }
    }
}

impl Phase {
    #[inline]
    fn pack(self) -> u64 {
        let (kind, time) = match self {
            Self::Untracked => return UNTRACKED,
            Self::Normal => return NORMAL,
            Self::Joining { since } => (JOINING, since),
            Self::Ramping { since } => (RAMPING, since),
            Self::Penalised { series, due } => (PENALISED + series.pack(), due),
            Self::Probing { series, since } => (PROBING + series.pack(), since),
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
                series: Series::unpack(kind - PENALISED),
                due: time,
            },
            kind => Self::Probing {
                series: Series::unpack(kind - PROBING),
                since: time,
            },
        }
    }

    /// It is penalised, and the next probe of the series may go so much later.
    pub(super) fn penalised_for(wait_nanos: i64, series: Series, now: Timestamp) -> Self {
        let due = Timestamp::from_nanos(now.nanos().wrapping_add(wait_nanos));
        Self::Penalised { series, due }
    }
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
        for nanos in [0, 64, -64, i64::MIN, i64::MAX & !63] {
            let at = Timestamp::from_nanos(nanos);
            let mut phases = vec![
                Phase::Untracked,
                Phase::Normal,
                Phase::Joining { since: at },
                Phase::Ramping { since: at },
            ];
            for series in (0..Series::KINDS).map(Series::unpack) {
                phases.push(Phase::Penalised { series, due: at });
                phases.push(Phase::Probing { series, since: at });
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
