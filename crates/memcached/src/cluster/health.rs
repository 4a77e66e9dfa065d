//! What becomes of a change of a node's health: it is told, and with `purge_unhealthy_nodes` the
//! node's keys move.
//!
//! A node that changes alone is taken out of the hashing, or back in, before anyone is told. When a
//! network fails, thousands change within moments, and each time all members would be copied and the
//! placement changed; so what follows closely upon another change is gathered and applied together.

use std::collections::HashMap;
use std::mem;
use std::sync::{Arc, MutexGuard, Weak};
use std::time::Duration;

use tokio::time::Instant;

use super::Cluster;
use crate::error::Error;
use crate::events::Event;
use crate::node::{Node, Watcher};

/// Other nodes move for as long after some have.
const PAUSE: Duration = Duration::from_millis(10);

/// Changes of health that wait for their nodes to be moved.
#[derive(Default)]
pub(super) struct Gathered {
    /// In the order in which they happened.
    changes: Vec<Health>,
    /// Until when more of them are gathered. Somebody waits for that moment while there are some.
    until: Option<Instant>,
}

/// A change of a node's health.
struct Health {
    node: Arc<str>,
    /// Why the node is unhealthy, if it is.
    unhealthy: Option<Arc<str>>,
}

impl Health {
    fn into_event(self) -> Event {
        let node = self.node;
        match self.unhealthy {
            None => Event::NodeHealthy { node },
            Some(reason) => Event::NodeUnhealthy { node, reason },
        }
    }
}

impl Watcher for Cluster {
    fn connections_changed(&self) {
        self.changed.notify_waiters();
    }

    fn health_changed(&self, node: &Node, unhealthy: Option<&Error>) {
        let health = Health {
            node: Arc::clone(node.name()),
            unhealthy: unhealthy.map(|error| Arc::clone(error.detail())),
        };
        let mut edit = self.lock();
        // Another node may have the name by now, which the last news of this one must not move.
        if !self.options.purge_unhealthy_nodes || !self.is_member(node) {
            self.events.publish(&health.into_event());
            return;
        }
        edit.changes.push(health);
        let now = Instant::now();
        match (edit.until.filter(|until| now < *until), self.runtime.get()) {
            (Some(until), Some(runtime)) => {
                if edit.changes.len() == 1 {
                    runtime.spawn(move_later(Weak::clone(&self.itself), until));
                }
            }
            _ => self.move_gathered(&mut edit),
        }
    }
}

/// Moves at that moment what has been gathered by then.
async fn move_later(cluster: Weak<Cluster>, at: Instant) {
    tokio::time::sleep_until(at).await;
    if let Some(cluster) = cluster.upgrade() {
        cluster.move_nodes();
    }
}

impl Cluster {
    /// Begins a change of the members, after those that have been gathered.
    pub(super) fn edit(&self) -> MutexGuard<'_, Gathered> {
        let mut edit = self.lock();
        if !edit.changes.is_empty() {
            self.move_gathered(&mut edit);
        }
        edit
    }

    /// Nodes whose health has changed leave the hashing, or return to it, without waiting for others.
    pub(crate) fn move_nodes(&self) {
        drop(self.edit());
    }

    fn is_member(&self, node: &Node) -> bool {
        let members = self.members.load();
        let of_that_name = members.find(node.name());
        of_that_name.is_some_and(|member| std::ptr::eq(&raw const **member, node))
    }

    /// Takes the gathered nodes out of the hashing, or back in, and tells of it.
    fn move_gathered(&self, edit: &mut Gathered) {
        let changes = mem::take(&mut edit.changes);
        let mut members = self.copy();
        // The last change of a node is what counts.
        let healthy: HashMap<_, bool> = changes
            .iter()
            .filter_map(|health| {
                let index = members.placement.find(&health.node)?;
                Some((index, health.unhealthy.is_none()))
            })
            .collect();
        let (back, gone): (Vec<_>, Vec<_>) = healthy.keys().partition(|index| healthy[*index]);
        members.placement.activate_all(&back);
        members.placement.deactivate_all(&gone);
        self.members.store(Arc::new(members));
        edit.until = Instant::now().checked_add(PAUSE);
        for health in changes {
            self.events.publish(&health.into_event());
        }
    }
}
