//! One state of the membership: what requests are steered by until another takes its place.

use std::sync::Arc;

use steersman_selection::{NodeIndex, Placement};

use crate::node::Node;
use crate::replication::View;

/// The nodes that hold a key, with the placement's index.
pub(crate) type Replicas = Vec<(NodeIndex, Arc<Node>)>;

/// One state of the membership.
#[derive(Clone)]
pub(crate) struct Members {
    pub(super) placement: Placement,
    /// By the placement's index; a removed node leaves a gap until its index is used again.
    pub(super) nodes: Vec<Option<Arc<Node>>>,
    /// Empty without replication.
    pub(super) view: View,
}

impl Members {
    pub(super) fn node(&self, index: NodeIndex) -> Option<&Arc<Node>> {
        self.nodes.get(index.get()).and_then(Option::as_ref)
    }

    /// The node that owns `key`.
    #[inline]
    pub(super) fn owner(&self, key: &[u8]) -> Option<&Arc<Node>> {
        let index = self.placement.owner(key)?;
        self.node(index)
    }

    /// The member of that name.
    pub(super) fn find(&self, name: &str) -> Option<&Arc<Node>> {
        self.node(self.placement.find(name)?)
    }

    /// All members, in the order in which they were given.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = &Arc<Node>> {
        self.nodes.iter().flatten()
    }

    /// How many members there are.
    pub(crate) fn len(&self) -> usize {
        self.placement.len()
    }

    /// The members as replication sees them.
    pub(crate) fn view(&self) -> &View {
        &self.view
    }

    pub(super) fn set(&mut self, index: NodeIndex, node: Option<Arc<Node>>) {
        if self.nodes.len() <= index.get() {
            self.nodes.resize(index.get() + 1, None);
        }
        self.nodes[index.get()] = node;
    }
}
