//! What was seen of all nodes at one time.

use std::time::Duration;

use steersman_memcached::Error;

/// All nodes, in the order in which they were given.
#[derive(Debug, Clone, Default)]
pub(super) struct Frame {
    pub(super) nodes: Vec<Seen>,
}

impl Frame {
    /// Why nodes are unhealthy.
    pub(super) fn failures(&self) -> Vec<&Error> {
        let nodes = self.nodes.iter();
        nodes.filter_map(|node| node.failure.as_ref()).collect()
    }
}

/// What was seen of one node; what is not known is `None`.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen {
    pub(super) name: String,
    /// Why it is unhealthy: its last probe failed, or its counters could not be read.
    pub(super) failure: Option<Error>,
    /// What it did for all clients since the frame before.
    pub(super) ops_per_second: Option<f64>,
    /// Of the last probes.
    pub(super) p50: Option<Duration>,
    pub(super) p99: Option<Duration>,
    /// The latency score of the probes.
    pub(super) score: Option<Duration>,
    pub(super) penalised: bool,
    /// What the policy makes of it, in words.
    pub(super) report: String,
    /// All clients' connections.
    pub(super) connections: Option<u64>,
    /// What is asked from here and not answered.
    pub(super) in_flight: usize,
}

impl Seen {
    pub(super) fn is_healthy(&self) -> bool {
        self.failure.is_none()
    }

    pub(super) fn health(&self) -> &'static str {
        if self.is_healthy() {
            "healthy"
        } else {
            "unhealthy"
        }
    }
}
