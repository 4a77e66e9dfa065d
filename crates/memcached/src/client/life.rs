//! The client's life: becoming ready, closing.

use std::sync::Arc;
use std::time::Duration;

use super::Client;
use crate::discovery::Progress;
use crate::error::{Error, Result};
use crate::node::Node;

/// The client's life.
impl Client {
    /// Waits until every node is connected, but no longer than `patience`. With
    /// [discovery](crate::Builder::discovery) it waits for the first list of nodes before.
    ///
    /// Nothing needs this: calls connect as they need. It is for finding out early.
    ///
    /// # Errors
    ///
    /// Why a node is not connected, or why there is no list of nodes.
    pub async fn ready(&self, patience: Duration) -> Result<()> {
        let discovery = &self.shared.cluster.discovery;
        self.connected(patience, |members| {
            let awaited = discovery.as_ref().and_then(Progress::missing);
            awaited.is_none() && members.iter().all(|node| node.is_connected())
        })
        .await
    }

    /// Waits until any node is connected, but no longer than `patience`.
    ///
    /// # Errors
    ///
    /// Why a node is not connected.
    pub async fn ready_any(&self, patience: Duration) -> Result<()> {
        self.connected(patience, |members| {
            members.iter().any(|node| node.is_connected())
        })
        .await
    }

    async fn connected(
        &self,
        patience: Duration,
        enough: impl Fn(&[Arc<Node>]) -> bool,
    ) -> Result<()> {
        let cluster = &self.shared.cluster;
        let nodes = || -> Vec<_> { cluster.members().nodes().cloned().collect() };
        self.shared.ensure_started()?;
        let connected = || {
            let nodes = nodes();
            // Discovery may have added some meanwhile.
            for node in nodes.iter().filter(|node| !node.is_connected()) {
                node.demand();
            }
            enough(&nodes)
        };
        let waited = self
            .shared
            .wait_until(patience, || self.is_closed() || connected())
            .await;
        if self.is_closed() {
            return Err(Error::closed());
        }
        waited.map_err(|late| {
            let missing = cluster.discovery.as_ref().and_then(Progress::missing);
            if let Some(missing) = missing {
                return missing;
            }
            let mut away = nodes().into_iter().filter(|node| !node.is_connected());
            match away.next() {
                Some(node) => node.down_reason().unwrap_or(late).at_node(node.name()),
                None => late,
            }
        })
    }

    /// Whether the client was closed.
    pub fn is_closed(&self) -> bool {
        self.shared.cluster.is_closed()
    }

    /// Closes the client: later calls fail with [`ErrorKind::Closed`](crate::ErrorKind::Closed), what was sent is still
    /// answered within the client's time-out (1 s if it has none), then connections close.
    ///
    /// Closing again, or at the same time, is harmless.
    pub async fn close(&self) {
        let patience = self
            .shared
            .options()
            .timeout
            .unwrap_or(Duration::from_secs(1));
        self.close_within(patience).await;
    }

    /// [`close`](Self::close) with another deadline; what is not answered by then fails with
    /// [`ErrorKind::Closed`](crate::ErrorKind::Closed).
    pub async fn close_within(&self, patience: Duration) {
        let nodes = self.shared.cluster.close();
        self.shared.end_discovery();
        for node in &nodes {
            node.close(&Error::closed());
        }
        let all_gone = || !nodes.iter().any(|node| node.has_connections());
        if self.shared.wait_until(patience, all_gone).await.is_err() {
            for node in &nodes {
                node.abort(&Error::closed());
            }
            // Drivers end as soon as they run; if their runtime does not run, nobody waits for it.
            let _ = self
                .shared
                .wait_until(Duration::from_millis(100), all_gone)
                .await;
        }
        self.shared.cluster.events.close();
    }
}
