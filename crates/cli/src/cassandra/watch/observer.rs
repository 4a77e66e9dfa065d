//! The observer: takes down what the chain knows and what the load sees, since the last time.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use steersman_scylla::NodeStatus;
use steersman_selection::{Counters, Event, NodeReport};

use super::journal::Journal;
use crate::cassandra::chain::Chain;
use crate::cassandra::load::Load;
use crate::cassandra::tally::{Tally, percent};

pub(super) struct Observer {
    chain: Arc<dyn Chain>,
    load: Load,
    journal: Arc<Journal>,
    /// As of the last frame.
    at: Duration,
    tally: Tally,
    picks: HashMap<u128, u64>,
}

/// What is to be seen at one time.
pub(super) struct Frame {
    /// Since the beginning.
    pub(super) at: Duration,
    /// Since the last frame.
    pub(super) took: Duration,
    /// What the reads since the last frame have seen.
    pub(super) seen: Tally,
    /// In the order of their addresses.
    pub(super) nodes: Vec<Node>,
    pub(super) counters: Counters,
    /// What changed since the last frame.
    pub(super) changes: Vec<Change>,
}

pub(super) struct Node {
    pub(super) address: SocketAddr,
    pub(super) datacenter: Option<String>,
    pub(super) rack: Option<String>,
    pub(super) is_connected: bool,
    /// How the chain regards it.
    pub(super) report: Option<NodeReport>,
    /// For how many requests it was the first choice.
    pub(super) picks: u64,
    /// How many of those had no answer in time.
    pub(super) unanswered: u64,
    /// How many were answered after they had been taken to be unanswered.
    pub(super) late: u64,
    /// Which part of the requests since the last frame was sent to it first, in percent.
    pub(super) share: f64,
}

pub(super) struct Change {
    /// Since the beginning.
    pub(super) at: Duration,
    /// The node's address, if it is still known.
    pub(super) node: String,
    pub(super) event: Event,
}

impl Observer {
    pub(super) fn new(chain: Arc<dyn Chain>, load: Load, journal: Arc<Journal>) -> Self {
        Self {
            chain,
            load,
            at: journal.age(),
            journal,
            tally: Tally::default(),
            picks: HashMap::new(),
        }
    }

    pub(super) fn frame(&mut self) -> Frame {
        let at = self.journal.age();
        let mut status = self.chain.status();
        status.sort_by_key(|status| status.address);
        let tally = self.load.tally();
        let changes = self.journal.take().into_iter();
        let frame = Frame {
            at,
            took: at.saturating_sub(self.at),
            seen: tally.since(&self.tally),
            counters: self.chain.counters(),
            changes: changes
                .map(|(at, event)| Change {
                    at,
                    node: name(&status, &event),
                    event,
                })
                .collect(),
            nodes: self.nodes(status),
        };
        (self.at, self.tally) = (at, tally);
        frame
    }

    fn nodes(&mut self, status: Vec<NodeStatus>) -> Vec<Node> {
        let picks = |status: &NodeStatus| (status.host_id.as_u128(), status.picks);
        let now: HashMap<_, _> = status.iter().map(picks).collect();
        // A node that left and came back counts from nothing.
        let before = std::mem::replace(&mut self.picks, now);
        let fresh = |status: &NodeStatus| {
            let before = before.get(&status.host_id.as_u128()).copied();
            status.picks.saturating_sub(before.unwrap_or_default())
        };
        let all = status.iter().map(fresh).sum();
        let nodes = status.into_iter().map(|status| Node {
            share: percent(fresh(&status), all),
            address: status.address,
            datacenter: status.datacenter,
            rack: status.rack,
            is_connected: status.is_connected,
            report: status.report,
            picks: status.picks,
            unanswered: status.unanswered,
            late: status.late,
        });
        nodes.collect()
    }
}

/// An event has the number of its node in the chain, and so has the report of a node's status.
fn name(status: &[NodeStatus], event: &Event) -> String {
    let is_meant = |status: &&NodeStatus| {
        status
            .report
            .is_some_and(|report| report.node == event.node)
    };
    let node = status.iter().find(is_meant);
    node.map_or_else(
        || "a node that left".to_owned(),
        |status| status.address.to_string(),
    )
}
