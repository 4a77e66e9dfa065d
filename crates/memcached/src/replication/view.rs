//! The members as replication sees them: the topology for the policy, and the replicas of a key.

use std::sync::Arc;

use steersman_selection::{Locality, NodeIndex, Topology};

use crate::node::Node;

/// One state of the membership; part of the snapshot that a change of members replaces.
#[derive(Debug, Clone, Default)]
pub(crate) struct View {
    pub(super) topology: Topology,
}

/// A replica of a key.
pub(super) struct Target {
    pub(super) index: NodeIndex,
    pub(super) node: Arc<Node>,
}

impl View {
    pub(super) fn insert(&mut self, index: NodeIndex, locality: Locality) {
        self.topology.insert(index, locality);
    }

    pub(crate) fn remove(&mut self, indices: &[NodeIndex]) {
        self.topology.remove_all(indices);
    }
}
