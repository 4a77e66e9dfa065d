//! What replicated reads have done so far, counted.

use std::sync::atomic::{AtomicU64, Ordering};

/// The figures of a client's replicated reads since it was built; from
/// [`Client::replication_metrics`](crate::Client::replication_metrics). Of a `get_many` each key is
/// one read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReplicationMetrics {
    /// Reads along the policy's plan.
    pub reads: u64,
    /// Reads that asked another replica because the one before was slow.
    pub hedges: u64,
    /// Hedges that were due and that the budget did not allow.
    pub hedges_denied: u64,
    /// Attempts that were given up because another replica of the read answered first.
    pub cancelled: u64,
    /// Reads that turned to another replica after an outage or the attempt time-out.
    pub failovers: u64,
    /// Misses that were given the value that another replica had.
    pub repairs: u64,
}

#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) reads: AtomicU64,
    pub(super) hedges: AtomicU64,
    pub(super) hedges_denied: AtomicU64,
    pub(super) cancelled: AtomicU64,
    pub(super) failovers: AtomicU64,
    pub(super) repairs: AtomicU64,
}

/// Counts one.
pub(super) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl Counters {
    pub(super) fn read(&self) -> ReplicationMetrics {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        ReplicationMetrics {
            reads: read(&self.reads),
            hedges: read(&self.hedges),
            hedges_denied: read(&self.hedges_denied),
            cancelled: read(&self.cancelled),
            failovers: read(&self.failovers),
            repairs: read(&self.repairs),
        }
    }
}
