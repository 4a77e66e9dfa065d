//! Other members: a node that comes, one that goes, another list in the place of the present one.

use std::collections::HashMap;
use std::sync::Arc;

use steersman_selection::{Member, NodeIndex};

use super::{Cluster, Members};
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

/// A node as its placement sees it.
pub(super) fn member(config: &NodeConfig) -> Member {
    Member::new(config.name()).weighted(config.weight())
}

/// Why a placement did not take some members, as an error of the client.
pub(super) fn refused(error: steersman_selection::Error) -> Error {
    let option = match error.kind() {
        steersman_selection::ErrorKind::UnknownScheme
        | steersman_selection::ErrorKind::InvalidSlotBits
        | steersman_selection::ErrorKind::InvalidReplicas => "placement",
        _ => "node",
    };
    Error::config(option, error.to_string()).with_source(error)
}

impl Cluster {
    pub(crate) fn add(&self, config: NodeConfig) -> Result<()> {
        let edit = self.edit();
        if self.is_closed() {
            return Err(Error::closed());
        }
        self.options.validate_node(&config)?;
        let mut members = self.copy();
        let index = members.placement.insert(member(&config)).map_err(refused)?;
        let node = self.join(&mut members, index, config);
        self.take_effect(members, &[], std::slice::from_ref(&node));
        drop(edit);
        Ok(())
    }

    /// Takes a node out of the cluster; it finishes what is in flight on it.
    pub(crate) fn remove(&self, name: &str) -> Result<()> {
        let node = self.find(name)?;
        let edit = self.edit();
        let mut members = self.copy();
        let Some(index) = members.placement.find(name) else {
            return self.find(name).map(drop);
        };
        members.placement.remove(index);
        self.leave(&mut members, &[index]);
        self.take_effect(members, std::slice::from_ref(&node), &[]);
        drop(edit);
        node.close(&Error::removed());
        Ok(())
    }

    /// Makes `list` the members, each with a name of its own. Nodes that stay as they are keep
    /// their connections; those that leave finish what is in flight on them. If one node cannot be
    /// taken, none is.
    pub(crate) fn replace(&self, list: &[NodeConfig]) -> Result<Change> {
        for config in list {
            self.options.validate_node(config)?;
        }
        let mut wanted: HashMap<&str, &NodeConfig> =
            list.iter().map(|config| (config.name(), config)).collect();
        let edit = self.edit();
        if self.is_closed() {
            return Err(Error::closed());
        }
        let mut members = self.copy();
        let (mut removed, mut left, mut gone) = (Vec::new(), Vec::new(), Vec::new());
        let mut moved = HashMap::new();
        for node in members.nodes() {
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
                _ => gone.push(index),
            }
            left.push(index);
            removed.push(Arc::clone(node));
        }
        members.placement.remove_all(&gone);
        self.leave(&mut members, &left);
        let back: Vec<NodeIndex> = moved.values().copied().collect();
        members.placement.activate_all(&back);
        let come = list
            .iter()
            .filter(|config| wanted.contains_key(config.name()));
        let new = come
            .clone()
            .filter(|config| !moved.contains_key(config.name()));
        let indices = members.placement.insert_all(new.map(member));
        let mut indices = indices.map_err(refused)?.into_iter();
        let added: Vec<_> = come
            .filter_map(|config| {
                let index = moved.get(config.name()).copied();
                let index = index.or_else(|| indices.next())?;
                Some(self.join(&mut members, index, config.clone()))
            })
            .collect();
        self.take_effect(members, &removed, &added);
        drop(edit);
        for node in &removed {
            node.close(&Error::removed());
        }
        Ok(Change {
            added: added.len(),
            removed: removed.len(),
        })
    }

    /// Puts a new node at an index of the placement.
    fn join(&self, members: &mut Members, index: NodeIndex, config: NodeConfig) -> Arc<Node> {
        let node = Arc::new(Node::new(
            config,
            Arc::clone(&self.options),
            self.itself.clone(),
        ));
        members.set(index, Some(Arc::clone(&node)));
        if let Some(replicator) = &self.replicator {
            replicator.joined(&mut members.view, index, node.name());
        }
        node
    }

    /// Takes the nodes at some indices out.
    fn leave(&self, members: &mut Members, indices: &[NodeIndex]) {
        for index in indices {
            members.set(*index, None);
        }
        if self.replicator.is_some() {
            members.view.remove(indices);
        }
    }

    /// Makes these the members: calls are steered by them from now on, nodes that have joined start
    /// their background work, unless all is still to be started, and everyone is told.
    fn take_effect(&self, members: Members, removed: &[Arc<Node>], added: &[Arc<Node>]) {
        if let Some(replicator) = &self.replicator {
            replicator.members_changed(&members.view);
        }
        self.members.store(Arc::new(members));
        if let Some(runtime) = self.runtime.get() {
            for node in added {
                node.spawn(runtime);
            }
        }
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
