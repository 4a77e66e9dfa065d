//! The cluster seen from the client: its nodes, their figures, and operations on all of them.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Client, NodeHandle};
use crate::address::{IntoNodeConfig, NodeConfig};
use crate::call::{CacheMemlimit, FlushAll, Stats, Verbosity, Version, on_all_nodes};
use crate::error::{Error, Result};
use crate::events::EventStream;
use crate::metrics::PoolMetrics;
use crate::node::Node;
use crate::outcome::PerNode;

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
        Ok(self.shared.cluster.route(key.as_ref())?.config().clone())
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
        if self.is_closed() {
            return Err(Error::closed());
        }
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
    pub fn events(&self) -> EventStream {
        self.shared.cluster.events.subscribe()
    }

    /// Runs `flush_all` on every node.
    pub async fn flush_all(&self) -> PerNode<()> {
        on_all_nodes(&self.shared, FlushAll::default()).await
    }

    /// Asks every node for its version.
    pub async fn version(&self) -> PerNode<String> {
        on_all_nodes(&self.shared, Version).await
    }

    /// Asks every node for its statistics; `args` as in [`NodeHandle::stats`].
    pub async fn stats(&self, args: &str) -> PerNode<Vec<(String, String)>> {
        on_all_nodes(
            &self.shared,
            Stats {
                args: args.to_owned(),
            },
        )
        .await
    }

    /// Sets how much every node logs.
    pub async fn verbosity(&self, level: u32) -> PerNode<()> {
        on_all_nodes(&self.shared, Verbosity { level }).await
    }

    /// Sets the memory limit of every node.
    pub async fn cache_memlimit(&self, megabytes: u64) -> PerNode<()> {
        on_all_nodes(&self.shared, CacheMemlimit { megabytes }).await
    }
}
