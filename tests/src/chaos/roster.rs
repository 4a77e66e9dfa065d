//! Which of the nodes are members at the moment: what a client discovers.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use steersman_memcached::{Dialer, Discovered, Discovery, DiscoveryError};

/// How often the client asks.
pub const INTERVAL: Duration = Duration::from_millis(20);

/// The members; clones are the same list.
#[derive(Debug, Clone, Default)]
pub struct Roster {
    members: Arc<Mutex<Members>>,
}

#[derive(Debug, Default)]
struct Members {
    nodes: Vec<String>,
    /// The list as it was told last.
    told: Vec<String>,
    /// How many lists were told that differ from the one before.
    changes: u64,
}

impl Roster {
    fn with<T>(&self, act: impl FnOnce(&mut Members) -> T) -> T {
        act(&mut self.members.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A node becomes a member.
    pub fn add(&self, node: &str) {
        self.with(|members| members.nodes.push(node.to_owned()));
    }

    /// A node is none any more.
    pub fn remove(&self, node: &str) {
        self.with(|members| members.nodes.retain(|member| member != node));
    }

    /// How many lists a client was told that differ from the one before, the first one included, since
    /// this was asked the last time; the next client's first list is one of them again.
    pub fn changes(&self) -> u64 {
        self.with(|members| {
            members.told.clear();
            std::mem::take(&mut members.changes)
        })
    }
}

impl Discovery for Roster {
    async fn discover(&mut self, _: &Dialer) -> Result<Discovered, DiscoveryError> {
        let nodes = self.with(|members| {
            if members.told != members.nodes {
                members.told.clone_from(&members.nodes);
                members.changes += 1;
            }
            members.nodes.clone()
        });
        let nodes = nodes.iter().map(|node| node.parse());
        Ok(Discovered::new(nodes.collect::<Result<Vec<_>, _>>()?))
    }

    fn source(&self) -> String {
        "the roster".to_owned()
    }
}
