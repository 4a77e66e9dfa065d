//! One of the sides on which faults happen at the same time: its nodes, and what is dealt to them.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::clients::Kind;
use super::cluster::Cluster;
use super::fault::Fault;
use super::node::Node;
use super::schedule::Lane;
use super::stage::Stage;
use super::subject::Subject;

/// Nodes of which one at a time is struck.
#[derive(Debug)]
pub struct Side {
    /// Its nodes.
    pub nodes: Vec<Node>,
    lane: Lane,
}

/// A fault that has struck.
#[derive(Debug, Clone, Copy)]
pub struct Blow {
    /// Which.
    pub fault: Fault,
    /// For how long a client felt it when its cause was gone.
    pub felt: Duration,
    /// Whether the server [did not get over it](Node::recover) by itself.
    pub was_fatal: bool,
}

impl Side {
    /// One with these nodes.
    pub fn new(seed: u64, nodes: Vec<Node>) -> Self {
        let faults: Vec<_> = nodes.iter().map(|node| node.role.faults()).collect();
        Self {
            lane: Lane::new(seed, &faults),
            nodes,
        }
    }

    /// Whether all of it are nodes of a client of this kind.
    pub fn is_used_by(&self, kind: Kind) -> bool {
        let homes = kind.homes();
        self.nodes.iter().all(|node| homes.contains(&node.home))
    }

    /// One fault after the other for a while. For a task of its own: to end a process or to start one blocks
    /// it.
    ///
    /// # Errors
    ///
    /// If a server cannot be made to fail, or to work again.
    pub async fn suffer(
        mut self,
        stage: Arc<Stage>,
        cluster: Arc<Cluster>,
        subject: Arc<Subject>,
        lasts: Duration,
    ) -> io::Result<(Self, Vec<Blow>)> {
        let end = Instant::now() + lasts;
        let mut struck = Vec::new();
        while Instant::now() < end {
            let Some(step) = self.lane.next() else { break };
            let node = &mut self.nodes[step.node];
            node.suffer(step, &stage.ledger, &cluster).await?;
            let was_fatal = node.recover(&stage.ledger).await?;
            let after = format!("{} of {:?}", step.fault, node.role);
            let felt = subject.answers(&stage, node.home, &after).await;
            struck.push(Blow {
                fault: step.fault,
                felt,
                was_fatal,
            });
            sleep(step.rest).await;
        }
        Ok((self, struck))
    }
}
