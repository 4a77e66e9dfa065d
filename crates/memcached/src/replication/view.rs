//! The members as replication sees them: the topology for the policy, each node's latencies.

use std::sync::Arc;

use steersman_selection::{Locality, NodeIndex, Topology};

use super::window::Window;
use crate::node::Node;

/// One state of the membership; part of the snapshot that a change of members replaces.
#[derive(Debug, Clone, Default)]
pub(crate) struct View {
    pub(super) topology: Topology,
    /// By the placement's index.
    windows: Vec<Option<Arc<Window>>>,
}

/// A replica of a key.
pub(super) struct Target {
    pub(super) index: NodeIndex,
    pub(super) node: Arc<Node>,
    pub(super) window: Arc<Window>,
}

impl View {
    pub(super) fn insert(&mut self, index: NodeIndex, locality: Locality) {
        self.topology.insert(index, locality);
        if self.windows.len() <= index.get() {
            self.windows.resize(index.get() + 1, None);
        }
        self.windows[index.get()] = Some(Arc::new(Window::new()));
    }

    pub(crate) fn remove(&mut self, indices: &[NodeIndex]) {
        self.topology.remove_all(indices);
        for index in indices {
            if let Some(window) = self.windows.get_mut(index.get()) {
                *window = None;
            }
        }
    }

    pub(super) fn target(&self, index: NodeIndex, node: &Arc<Node>) -> Option<Target> {
        let window = self.windows.get(index.get())?.as_ref()?;
        Some(Target {
            index,
            node: Arc::clone(node),
            window: Arc::clone(window),
        })
    }

    pub(super) fn windows(&self) -> impl Iterator<Item = &Window> {
        self.windows.iter().flatten().map(AsRef::as_ref)
    }
}
