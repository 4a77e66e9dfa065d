//! One of the two sides on which faults happen at the same time: its nodes, and what is dealt to them.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};

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

/// The faults that have struck, and how long each was felt when its cause was gone.
pub type Struck = Vec<(Fault, Duration)>;

impl Side {
    /// One with these nodes.
    pub fn new(seed: u64, nodes: Vec<Node>) -> Self {
        let faults: Vec<_> = nodes.iter().map(|node| node.role.faults()).collect();
        Self {
            lane: Lane::new(seed, &faults),
            nodes,
        }
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
        subject: Arc<Subject>,
        lasts: Duration,
    ) -> io::Result<(Self, Struck)> {
        let end = Instant::now() + lasts;
        let mut struck = Vec::new();
        while Instant::now() < end {
            let Some(step) = self.lane.next() else { break };
            let node = &mut self.nodes[step.node];
            node.suffer(step, &stage.ledger).await?;
            let after = format!("{} of {:?}", step.fault, node.role);
            let felt = subject.answers(&stage, node.home, &after).await;
            struck.push((step.fault, felt));
            sleep(step.rest).await;
        }
        Ok((self, struck))
    }
}
