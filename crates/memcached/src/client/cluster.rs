//! The cluster seen from the client: its nodes, their figures, and operations on all of them.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Client, NodeHandle};
use crate::address::{IntoNodeConfig, NodeConfig};
use crate::call::{AllNodes, CacheMemlimit, FlushAll, Stats, Verbosity, Version};
use crate::discovery::{DiscoveryMetrics, Progress};
use crate::error::Result;
use crate::events::EventStream;
use crate::keys;
use crate::metrics::PoolMetrics;
use crate::node::Node;
use crate::replication::{ReplicationMetrics, Replicator};

/// The cluster and its nodes.
impl Client {
    /// A node of the cluster by its name, for operations on the node itself.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::UnknownNode`](crate::ErrorKind::UnknownNode) if there is no such node.
    pub fn node(&self, name: &str) -> Result<NodeHandle> {
        let node = self.shared.cluster.find(name)?;
        Ok(NodeHandle::new(Arc::clone(&self.shared), node))
    }

    /// The node that owns `key` at the moment.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NoNodeReachable`](crate::ErrorKind::NoNodeReachable) if every node has left the hashing.
    pub fn node_for_key(&self, key: impl AsRef<[u8]>) -> Result<NodeConfig> {
        Ok(self.shared.owner(key.as_ref())?.config().clone())
    }

    /// The nodes that hold `key` at the moment, the owner first: as many as there are
    /// [replicas](crate::Builder::replicas), or all nodes if there are fewer.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NoNodeReachable`](crate::ErrorKind::NoNodeReachable) if every node has left the hashing.
    pub fn replicas_for_key(&self, key: impl AsRef<[u8]>) -> Result<Vec<NodeConfig>> {
        let cluster = &self.shared.cluster;
        let count = cluster.replicator.as_ref().map_or(1, Replicator::count);
        let key = keys::sent(self.shared.options().keys.as_ref(), key.as_ref())?;
        let (_, replicas) = cluster.replicas(&key, count)?;
        let configs = replicas.iter().map(|(_, node)| node.config().clone());
        Ok(configs.collect())
    }

    /// The figures of replicated reads; all 0 for a client without replicas.
    pub fn replication_metrics(&self) -> ReplicationMetrics {
        let replicator = self.shared.cluster.replicator.as_ref();
        replicator.map(Replicator::metrics).unwrap_or_default()
    }

    /// How often discovery has asked, and what came of it; all 0 for a client without discovery.
    pub fn discovery_metrics(&self) -> DiscoveryMetrics {
        let progress = self.shared.cluster.discovery.as_ref();
        progress.map(Progress::metrics).unwrap_or_default()
    }

    /// Exports what the client has counted up to now, to the recorder that was installed when it was
    /// built. With [`Metrics`](crate::Metrics) that happens once a second anyhow, and when the client is
    /// closed; before each scrape it makes what is scraped exact. Does nothing for a client without [`metrics`](crate::Builder::metrics).
    #[cfg(feature = "metrics")]
    pub fn export_metrics(&self) {
        let cluster = &self.shared.cluster;
        cluster.options.observer.export(cluster);
    }

    fn configs(&self, which: impl Fn(&Node) -> bool) -> Vec<NodeConfig> {
        let members = self.shared.cluster.members();
        members
            .nodes()
            .filter(|node| which(node))
            .map(|node| node.config().clone())
            .collect()
    }

    /// All nodes of the cluster.
    pub fn nodes(&self) -> Vec<NodeConfig> {
        self.configs(|_| true)
    }

    /// The nodes that are healthy. A new node counts as healthy until it has failed repeatedly.
    pub fn healthy_nodes(&self) -> Vec<NodeConfig> {
        self.configs(Node::is_healthy)
    }

    /// The nodes that are unhealthy.
    pub fn unhealthy_nodes(&self) -> Vec<NodeConfig> {
        self.configs(|node| !node.is_healthy())
    }

    /// Adds a node; the keys that it owns move to it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Config`](crate::ErrorKind::Config) if it is malformed or there is a node of that name;
    /// [`ErrorKind::Closed`](crate::ErrorKind::Closed) if the client is closed.
    pub fn add_node(&self, node: impl IntoNodeConfig) -> Result<()> {
        self.shared.cluster.add(node.into_node_config()?)
    }

    /// Removes a node; its keys move to the others. What is in flight on it is still answered.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::UnknownNode`](crate::ErrorKind::UnknownNode) if there is no such node.
    pub fn remove_node(&self, name: &str) -> Result<()> {
        self.shared.cluster.remove(name)
    }

    /// The figures of each node's connection pool, by the node's name.
    pub fn connection_pool_metrics(&self) -> HashMap<String, PoolMetrics> {
        let members = self.shared.cluster.members();
        members
            .nodes()
            .map(|node| (node.name().to_string(), node.metrics()))
            .collect()
    }

    /// The cluster's events from now on.
    ///
    /// ```no_run
    /// # async fn example(client: steersman_memcached::Client) {
    /// use steersman_memcached::Event;
    ///
    /// let mut events = client.events();
    /// while let Some(event) = events.recv().await {
    ///     if let Event::NodeUnhealthy { node, reason } = event {
    ///         eprintln!("{node} is down: {reason}");
    ///     }
    /// }
    /// # }
    /// ```
    pub fn events(&self) -> EventStream {
        self.shared.cluster.events.subscribe()
    }

    fn on_all_nodes<O>(&self, operation: O) -> AllNodes<O> {
        AllNodes::new(Arc::clone(&self.shared), operation)
    }

    /// Makes every value of every node invisible, now or after [`delay`](AllNodes::delay).
    pub fn flush_all(&self) -> AllNodes<FlushAll> {
        self.on_all_nodes(FlushAll::default())
    }

    /// Asks every node for its version.
    pub fn version(&self) -> AllNodes<Version> {
        self.on_all_nodes(Version)
    }

    /// Asks every node for its statistics; `args` as in [`NodeHandle::stats`].
    pub fn stats(&self, args: impl Into<String>) -> AllNodes<Stats> {
        self.on_all_nodes(Stats { args: args.into() })
    }

    /// Sets how much every node logs; see [`NodeHandle::verbosity`].
    pub fn verbosity(&self, level: u32) -> AllNodes<Verbosity> {
        self.on_all_nodes(Verbosity { level })
    }

    /// Sets the memory limit of every node, in megabytes of 2^20 bytes.
    pub fn cache_memlimit(&self, megabytes: u64) -> AllNodes<CacheMemlimit> {
        self.on_all_nodes(CacheMemlimit { megabytes })
    }
}
