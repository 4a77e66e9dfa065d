//! The phases of a node's life among ranked ones, one word each.
//!
//! A failure is quicker than an answer, so a node that fails has less in flight than others and would
//! attract more. Therefore the first failures in a row stand for requests that are still in flight, and
//! with the third the node is held back: nothing goes there, and then one request as a probe, after a
//! second, after two, four and so on up to the retry period. When a probe was answered the node's share
//! rises from nothing to its full one. A node that comes in among others begins with that.

use crate::Timestamp;
use crate::sync::atomic::{AtomicU64, Ordering};

/// So many failures in a row hold a node back.
const FAILURES: u8 = 3;

/// How long a node is held back the first time; each time in a row takes twice as long.
const FIRST_HOLD_NANOS: i64 = 1_000_000_000;

/// The last count of times in a row that is told from the one before.
const MOST_HOLDS: u8 = 7;

/// How long the phases last, in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spans {
    pub(super) ramp: i64,
    /// At least as long as the ramp.
    pub(super) joining: i64,
    pub(super) retry: i64,
    /// For how long failures stand for requests in flight.
    pub(super) burden: i64,
}

/// What phase a node is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// It is not in the topology.
    Absent,
    /// It takes its share.
    Normal,
    /// It takes its share, but has failed so many times in a row, `last` for the last time.
    Failing { failures: u8, last: Timestamp },
    /// It came in among others; its share rises.
    Joining { since: Timestamp },
    /// It was held back and has answered; its share rises.
    Ramping { holds: u8, since: Timestamp },
    /// It is held back until `due`; then a request may be its probe.
    Held { holds: u8, due: Timestamp },
    /// It is held back and a probe is under way, or was lost.
    Probing { holds: u8, since: Timestamp },
}

impl Phase {
    /// The phase after an attempt has failed that began at `begun`. Attempts from before the phase
    /// tell nothing of it.
    pub(super) fn failed(self, begun: Timestamp, now: Timestamp, spans: Spans) -> Self {
        match self {
            Self::Absent | Self::Held { .. } => self,
            Self::Failing { failures, last } if now.nanos_since(last) <= spans.retry => {
                if failures + 1 < FAILURES {
                    Self::Failing {
                        failures: failures + 1,
                        last: now,
                    }
                } else {
                    Self::held(0, now, spans)
                }
            }
            Self::Joining { since } if now.nanos_since(since) < spans.joining => {
                Self::held(0, now, spans)
            }
            Self::Ramping { since, .. } if now.nanos_since(since) >= spans.ramp => {
                Self::failing(now)
            }
            Self::Ramping { holds, since } | Self::Probing { holds, since } => {
                if begun.nanos_since(since) < 0 {
                    return self;
                }
                Self::held(holds + 1, now, spans)
            }
            Self::Normal | Self::Failing { .. } | Self::Joining { .. } => Self::failing(now),
        }
    }

    /// The phase after an attempt was answered that began at `begun`.
    pub(super) fn answered(self, begun: Timestamp, now: Timestamp, spans: Spans) -> Self {
        match self {
            Self::Absent | Self::Normal => self,
            Self::Failing { .. } => Self::Normal,
            Self::Joining { since } => self.or_normal_after(spans.joining, since, now),
            Self::Ramping { since, .. } => self.or_normal_after(spans.ramp, since, now),
            // Others ask it too, when they have nobody else.
            Self::Held { holds, due } => {
                let held = due.nanos().wrapping_sub(hold_nanos(holds, spans));
                if begun.nanos_since(Timestamp::from_nanos(held)) < 0 {
                    return self;
                }
                Self::Ramping { holds, since: now }
            }
            Self::Probing { holds, since } => {
                if begun.nanos_since(since) < 0 {
                    return self;
                }
                Self::Ramping { holds, since: now }
            }
        }
    }

    /// The phase after an attempt that tells nothing of the node: another one may be its probe.
    pub(super) fn untold(self, begun: Timestamp, now: Timestamp) -> Self {
        match self {
            Self::Probing { holds, since } if begun.nanos_since(since) >= 0 => {
                Self::Held { holds, due: now }
            }
            phase => phase,
        }
    }

    fn or_normal_after(self, span: i64, since: Timestamp, now: Timestamp) -> Self {
        if now.nanos_since(since) < span {
            self
        } else {
            Self::Normal
        }
    }

    /// It has failed for the first time in a row.
    fn failing(now: Timestamp) -> Self {
        Self::Failing {
            failures: 1,
            last: now,
        }
    }

    fn held(holds: u8, now: Timestamp, spans: Spans) -> Self {
        let holds = holds.min(MOST_HOLDS);
        let due = now.nanos().wrapping_add(hold_nanos(holds, spans));
        Self::Held {
            holds,
            due: Timestamp::from_nanos(due),
        }
    }

    /// For how many requests in flight its failures stand.
    #[inline]
    pub(super) fn burden(self, now: Timestamp, spans: Spans) -> u32 {
        match self {
            Self::Failing { failures, last } if now.nanos_since(last) <= spans.burden => {
                (1 << failures) - 1
            }
            _ => 0,
        }
    }
}

fn hold_nanos(holds: u8, spans: Spans) -> i64 {
    (FIRST_HOLD_NANOS << holds).min(spans.retry)
}

/// The lowest bits of the word are the kind, the rest is the time without these bits: it is rounded
/// down to 64 ns.
const KIND: u64 = 0x3f;

const ABSENT: u64 = 0;
const NORMAL: u64 = 1;
const JOINING: u64 = 2;
/// And the count of failures.
const FAILING: u64 = 3;
/// And, as in those that follow, the number of the hold.
const RAMPING: u64 = FAILING + FAILURES as u64;
const HELD: u64 = RAMPING + HOLDS;
const PROBING: u64 = HELD + HOLDS;
const HOLDS: u64 = MOST_HOLDS as u64 + 1;

const _: () = assert!(PROBING + HOLDS <= KIND + 1);

impl Phase {
    #[inline]
    fn pack(self) -> u64 {
        let (kind, time) = match self {
            Self::Absent => return ABSENT,
            Self::Normal => return NORMAL,
            Self::Failing { failures, last } => (FAILING + u64::from(failures), last),
            Self::Joining { since } => (JOINING, since),
            Self::Ramping { holds, since } => (RAMPING + u64::from(holds), since),
            Self::Held { holds, due } => (HELD + u64::from(holds), due),
            Self::Probing { holds, since } => (PROBING + u64::from(holds), since),
        };
        time.nanos().cast_unsigned() & !KIND | kind
    }

    #[inline]
    fn unpack(word: u64) -> Self {
        let time = Timestamp::from_nanos((word & !KIND).cast_signed());
        let kind = word & KIND;
        // Below 64.
        let above = |base: u64| u8::try_from(kind - base).unwrap_or(MOST_HOLDS);
        match kind {
            ABSENT => Self::Absent,
            NORMAL => Self::Normal,
            JOINING => Self::Joining { since: time },
            _ if kind < RAMPING => Self::Failing {
                failures: above(FAILING),
                last: time,
            },
            _ if kind < HELD => Self::Ramping {
                holds: above(RAMPING),
                since: time,
            },
            _ if kind < PROBING => Self::Held {
                holds: above(HELD),
                due: time,
            },
            _ => Self::Probing {
                holds: above(PROBING),
                since: time,
            },
        }
    }
}

/// A phase that threads share.
#[derive(Debug)]
pub(super) struct AtomicPhase(AtomicU64);

impl Default for AtomicPhase {
    fn default() -> Self {
        Self(AtomicU64::new(Phase::Absent.pack()))
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

    /// Goes on to the phase that `next` makes of the one before.
    #[cold]
    pub(super) fn update(&self, next: impl Fn(Phase) -> Phase) {
        loop {
            let before = self.load();
            let after = next(before);
            if after == before || self.change(before, after) {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests;
