//! Changes of a node's standing, told once each, and counted.

use std::fmt;
use std::time::Duration;

use crate::sync::atomic::{AtomicU64, Ordering};
use crate::{NodeIndex, Timestamp};

/// A change of a node's standing. Displays as a line for a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// When it was noticed.
    pub at: Timestamp,
    /// Which node.
    pub node: NodeIndex,
    /// What changed.
    pub change: Change,
    /// The node's average latency, in nanoseconds.
    pub average_nanos: i64,
    /// The minimum it was compared with, in nanoseconds; `None` if there was none.
    pub minimum_nanos: Option<i64>,
}

/// What changed for a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Change {
    /// It is penalised now.
    Penalised,
    /// It was penalised, and its share of requests rises again. In guarded mode only.
    Recovering,
    /// It was penalised, and has its full share again. In guarded mode because its ramp is over, too
    /// many were penalised, or a slower one took its place.
    Back,
    /// It is penalised, and has not been heard of for the retry period. In reference mode it is no
    /// longer penalised by that.
    Silent,
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node {} ", self.node.get())?;
        f.write_str(match self.change {
            Change::Penalised => "is penalised",
            Change::Recovering => "answers in time again, its share rises",
            Change::Back => "is back to its full share",
            Change::Silent => "was penalised and has not been heard of for the retry period",
        })?;
        write!(f, ": average latency {}", Nanos(self.average_nanos))?;
        match self.minimum_nanos {
            Some(minimum) => write!(f, ", minimum {}", Nanos(minimum)),
            None => Ok(()),
        }
    }
}

/// Nanoseconds for people.
pub(super) struct Nanos(pub(super) i64);

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let span = Duration::from_nanos(self.0.unsigned_abs());
        let sign = if self.0 < 0 { "-" } else { "" };
        write!(f, "{sign}{span:.1?}")
    }
}

/// Is told of each [`Event`], for a log for instance.
///
/// Called by the thread that ticks or records an attempt, so it should not take long. Every
/// function that takes an event is one.
pub trait Listener: Send + Sync {
    /// A node's standing has changed.
    fn changed(&self, event: &Event);
}

impl<F: Fn(&Event) + Send + Sync> Listener for F {
    fn changed(&self, event: &Event) {
        self(event);
    }
}

/// How often each thing has happened since the policy was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Nodes were penalised.
    pub penalised: u64,
    /// Shares began to rise again.
    pub recovering: u64,
    /// Nodes had their full share again.
    pub back: u64,
    /// Penalised nodes fell silent.
    pub silent: u64,
    /// Requests were used as probes.
    pub probes: u64,
}

/// Events are counted and passed on here.
#[derive(Default)]
pub(super) struct Announcer {
    listener: Option<Box<dyn Listener>>,
    changes: [AtomicU64; 4],
    probes: AtomicU64,
}

impl Announcer {
    pub(super) fn new(listener: Option<Box<dyn Listener>>) -> Self {
        Self {
            listener,
            ..Self::default()
        }
    }

    pub(super) fn announce(&self, event: &Event) {
        self.changes[event.change as usize].fetch_add(1, Ordering::Relaxed);
        if let Some(listener) = &self.listener {
            listener.changed(event);
        }
    }

    pub(super) fn count_probe(&self) {
        self.probes.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn counters(&self) -> Counters {
        let changes = |change: Change| self.changes[change as usize].load(Ordering::Relaxed);
        Counters {
            penalised: changes(Change::Penalised),
            recovering: changes(Change::Recovering),
            back: changes(Change::Back),
            silent: changes(Change::Silent),
            probes: self.probes.load(Ordering::Relaxed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_reads_as_a_line() {
        let event = Event {
            at: Timestamp::from_nanos(0),
            node: NodeIndex::default(),
            change: Change::Penalised,
            average_nanos: 51_230_000,
            minimum_nanos: Some(2_000_000),
        };
        let line = "node 0 is penalised: average latency 51.2ms, minimum 2.0ms";
        assert_eq!(event.to_string(), line);
    }
}
