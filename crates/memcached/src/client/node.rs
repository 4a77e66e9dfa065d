//! Operations on one node.

use std::fmt;
use std::sync::Arc;

use steersman_selection::NodeReport;

use crate::address::NodeConfig;
use crate::call::{CacheMemlimit, Call, FlushAll, MetaNoop, Stats, Verbosity, Version};
use crate::metrics::PoolMetrics;
use crate::node::Node;
use crate::shared::Shared;

/// One node of the cluster, for operations on the node itself; from [`Client::node`](crate::Client::node).
#[derive(Clone)]
pub struct NodeHandle {
    shared: Arc<Shared>,
    node: Arc<Node>,
}

impl NodeHandle {
    pub(super) fn new(shared: Arc<Shared>, node: Arc<Node>) -> Self {
        Self { shared, node }
    }

    fn call<O>(&self, operation: O) -> Call<O> {
        Call::new(
            Arc::clone(&self.shared),
            Some(Arc::clone(&self.node)),
            operation,
        )
    }

    /// The node as configured.
    pub fn config(&self) -> &NodeConfig {
        self.node.config()
    }

    /// Whether the node is healthy.
    pub fn is_healthy(&self) -> bool {
        self.node.is_healthy()
    }

    /// What the policy that orders replicated reads knows of the node: its latency score, and
    /// whether it is penalised. `None` without replicas, or if the policy keeps no records.
    pub fn latency_report(&self) -> Option<NodeReport> {
        let cluster = &self.shared.cluster;
        let index = cluster.index_of(self.node.name())?;
        cluster.replicator.as_ref()?.report(index)
    }

    /// The figures of the node's connection pool.
    pub fn metrics(&self) -> PoolMetrics {
        self.node.metrics()
    }

    /// Makes every value of the node invisible, now or after [`delay`](Call::delay).
    pub fn flush_all(&self) -> Call<FlushAll> {
        self.call(FlushAll::default())
    }

    /// The server's version.
    pub fn version(&self) -> Call<Version> {
        self.call(Version)
    }

    /// Waits until the server has done everything that was sent before on one of the connections, and
    /// shows that it answers (`mn`; `version` if it is older than 1.6).
    pub fn meta_noop(&self) -> Call<MetaNoop> {
        self.call(MetaNoop::default())
    }

    /// The server's statistics: the general ones for `""`, others for `"settings"`, `"items"`,
    /// `"slabs"` and so on.
    pub fn stats(&self, args: impl Into<String>) -> Call<Stats> {
        self.call(Stats { args: args.into() })
    }

    /// Sets how much the server logs: 0 nothing, 1 and 2 more and more.
    pub fn verbosity(&self, level: u32) -> Call<Verbosity> {
        self.call(Verbosity { level })
    }

    /// Sets the server's memory limit, in megabytes of 2^20 bytes.
    pub fn cache_memlimit(&self, megabytes: u64) -> Call<CacheMemlimit> {
        self.call(CacheMemlimit { megabytes })
    }
}

impl fmt::Debug for NodeHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NodeHandle").field(self.node.name()).finish()
    }
}
