//! Another list of members in the place of the present one, in one step.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Cluster, member, refused};
use crate::address::NodeConfig;
use crate::error::{Error, Result};
use crate::events::Event;
use crate::node::Node;

/// What a new list has changed. A node whose address or weight is another one counts as removed and
/// added.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) added: usize,
    pub(crate) removed: usize,
}

impl Cluster {
    /// Makes `list` the members, each with a name of its own. Nodes that stay as they are keep
    /// their connections; those that leave finish what is in flight on them. If one node cannot be
    /// taken, none is.
    pub(crate) fn replace(&self, list: &[NodeConfig]) -> Result<Change> {
        let edit = self.edit();
        if self.is_closed() {
            return Err(Error::closed());
        }
        for config in list {
            self.options.validate_node(config)?;
        }
        let mut members = self.copy();
        let mut wanted: HashMap<&str, &NodeConfig> =
            list.iter().map(|config| (config.name(), config)).collect();
        let mut removed = Vec::new();
        let mut moved = HashMap::new();
        for at in 0..members.nodes.len() {
            let Some(node) = members.nodes[at].clone() else {
                continue;
            };
            let Some(index) = members.placement.find(node.name()) else {
                continue;
            };
            match wanted.get(node.name().as_ref()) {
                Some(&config) if config == node.config() => {
                    wanted.remove(node.name().as_ref());
                    continue;
                }
                // It keeps its place, and so does every key.
                Some(&config) if config.weight() == node.config().weight() => {
                    moved.insert(config.name(), index);
                }
                _ => {
                    members.placement.remove(index);
                }
            }
            self.leave(&mut members, index);
            removed.push(node);
        }
        let mut added = Vec::new();
        for config in list
            .iter()
            .filter(|config| wanted.contains_key(config.name()))
        {
            let index = match moved.get(config.name()) {
                Some(&index) => {
                    members.placement.activate(index);
                    index
                }
                None => members.placement.insert(member(config)).map_err(refused)?,
            };
            added.push(self.join(&mut members, index, config.clone()));
        }
        let change = Change {
            added: added.len(),
            removed: removed.len(),
        };
        self.tell_replicator(&members);
        self.members.store(Arc::new(members));
        self.start_nodes(&added);
        self.publish(&removed, &added);
        drop(edit);
        for node in removed {
            node.close(&Error::removed());
        }
        Ok(change)
    }

    fn publish(&self, removed: &[Arc<Node>], added: &[Arc<Node>]) {
        for node in removed {
            let node = Arc::clone(node.name());
            self.events.publish(&Event::NodeRemoved { node });
        }
        for node in added {
            let node = Arc::clone(node.name());
            self.events.publish(&Event::NodeAdded { node });
        }
    }
}
