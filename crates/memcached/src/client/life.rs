//! The client's life: becoming ready, closing.

use std::time::Duration;

use super::Client;
use crate::deadline::Deadline;
use crate::discovery::Progress;
use crate::error::{Error, Result};

/// Which nodes have to be connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Need {
    All,
    Any,
}

/// The client's life.
impl Client {
    /// Waits until every node is connected and has its keys, but no longer than `patience`. With
    /// [discovery](crate::Builder::discovery) it waits for the first list of nodes before.
    ///
    /// A node that refuses the client for a reason that waiting does not mend, which is one of TLS or
    /// refused credentials, ends it at once.
    ///
    /// Nothing needs this: calls connect as they need. It is for finding out early.
    ///
    /// # Errors
    ///
    /// Why a node is not connected, or why there is no list of nodes.
    pub async fn ready(&self, patience: Duration) -> Result<()> {
        self.connected(patience, Need::All).await
    }

    /// Waits until any node is connected, but no longer than `patience`. Nodes that all refuse the
    /// client, as [`ready`](Self::ready) describes, end it at once.
    ///
    /// # Errors
    ///
    /// Why a node is not connected, or why there is no list of nodes.
    pub async fn ready_any(&self, patience: Duration) -> Result<()> {
        self.connected(patience, Need::Any).await
    }

    async fn connected(&self, patience: Duration, need: Need) -> Result<()> {
        self.shared.ensure_started()?;
        let waited = self
            .shared
            .wait_until(Deadline::apart(Some(patience)), || self.verdict(need));
        waited
            .await
            .unwrap_or_else(|late| Err(self.not_ready(late)))
    }

    /// Whether the nodes are connected that are needed, once that is settled.
    fn verdict(&self, need: Need) -> Option<Result<()>> {
        let cluster = &self.shared.cluster;
        if self.is_closed() {
            return Some(Err(Error::closed()));
        }
        let nodes: Vec<_> = cluster.members().nodes().cloned().collect();
        let away = || nodes.iter().filter(|node| !node.is_connected());
        // Discovery may have added some meanwhile.
        away().for_each(|node| node.demand());
        let enough = match need {
            Need::All => away().next().is_none(),
            Need::Any => away().count() < nodes.len(),
        };
        let awaited = cluster.discovery.as_ref().filter(|list| list.is_awaited());
        if let Some(list) = awaited
            && (need == Need::All || !enough)
        {
            // The nodes that are known now need not be in it.
            return list.refusal().map(Err);
        }
        if enough {
            cluster.move_nodes();
            return Some(Ok(()));
        }
        let mut refusals = away().filter_map(|node| {
            let reason = node.down_reason().filter(Error::is_refusal)?;
            Some(reason.at_node(node.name()))
        });
        match need {
            Need::All => refusals.next().map(Err),
            Need::Any if nodes.is_empty() => None,
            Need::Any => {
                let first = refusals.next()?;
                (refusals.count() + 1 == nodes.len()).then_some(Err(first))
            }
        }
    }

    /// Why it took too long.
    fn not_ready(&self, late: Error) -> Error {
        let cluster = &self.shared.cluster;
        if let Some(missing) = cluster.discovery.as_ref().and_then(Progress::missing) {
            return missing;
        }
        let members = cluster.members();
        match members.nodes().find(|node| !node.is_connected()) {
            Some(node) => node.down_reason().unwrap_or(late).at_node(node.name()),
            None => late,
        }
    }

    /// Whether the client was closed.
    pub fn is_closed(&self) -> bool {
        self.shared.cluster.is_closed()
    }

    /// Closes the client: later calls fail with [`ErrorKind::Closed`](crate::ErrorKind::Closed), what was sent is still
    /// answered within the client's time-out (1 s if it has none), then connections close.
    ///
    /// Closing again, or at the same time, is harmless. It ends in time even where the client's runtime
    /// does not run; connections are closed then once that runs again, or is dropped.
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
        let all_gone = || (!nodes.iter().any(|node| node.has_connections())).then_some(());
        let end = |patience| Deadline::apart(Some(patience));
        let waited = self.shared.wait_until(end(patience), all_gone);
        if waited.await.is_err() {
            for node in &nodes {
                node.abort(&Error::closed());
            }
            // Drivers end as soon as they run; if their runtime does not run, nobody waits for it.
            let _ = self
                .shared
                .wait_until(end(Duration::from_millis(100)), all_gone)
                .await;
        }
        self.shared.cluster.events.close();
        // The program may end before they would be exported by themselves.
        #[cfg(feature = "metrics")]
        self.export_metrics();
    }
}
