//! Lists that are indexed by a hash of the key, which most clients call modula.

use std::sync::Arc;

use super::Node;
use crate::NodeIndex;

/// The active nodes in a client's order.
#[derive(Debug, Clone)]
pub(super) struct List {
    pick: Pick,
    entries: Arc<[NodeIndex]>,
    /// The nodes and how often each is among the entries.
    nodes: Arc<[(NodeIndex, u32)]>,
}

/// How a key picks one of so many entries.
#[derive(Debug, Clone, Copy)]
enum Pick {
    /// The hash modulo the number of entries.
    Modulo(fn(&[u8]) -> u32),
    /// A function of the key and the number of entries.
    Consistent(fn(&[u8], usize) -> usize),
}

impl List {
    /// The key's hash modulo the number of nodes picks the node.
    pub(super) fn modulo<'a>(
        hash: fn(&[u8]) -> u32,
        nodes: impl Iterator<Item = &'a Node>,
    ) -> Self {
        Self::new(Pick::Modulo(hash), nodes.map(|node| (node.index, 1)))
    }

    /// The same in a list that has each node as often as its weight says.
    pub(super) fn weighted<'a>(
        hash: fn(&[u8]) -> u32,
        nodes: impl Iterator<Item = &'a Node>,
    ) -> Self {
        let nodes = nodes.map(|node| (node.index, node.weight));
        Self::new(Pick::Modulo(hash), nodes)
    }

    /// A function of the key and the number of nodes picks the node.
    pub(super) fn consistent<'a>(
        pick: fn(&[u8], usize) -> usize,
        nodes: impl Iterator<Item = &'a Node>,
    ) -> Self {
        Self::new(Pick::Consistent(pick), nodes.map(|node| (node.index, 1)))
    }

    fn new(pick: Pick, nodes: impl Iterator<Item = (NodeIndex, u32)>) -> Self {
        let nodes: Arc<[_]> = nodes.collect();
        let entries = nodes
            .iter()
            .flat_map(|(index, times)| std::iter::repeat_n(*index, *times as usize));
        Self {
            pick,
            entries: entries.collect(),
            nodes,
        }
    }

    #[inline]
    pub(super) fn owner(&self, key: &[u8]) -> Option<NodeIndex> {
        match &*self.entries {
            [] => None,
            [only] => Some(*only),
            entries => Some(entries[self.pick.of(key, entries.len())]),
        }
    }

    /// The best nodes, best first: the owner, the owner in the list without that one, and so on, as
    /// many as there is room for; returns how many there are.
    pub(super) fn best(&self, key: &[u8], out: &mut [NodeIndex]) -> usize {
        let wanted = out.len().min(self.nodes.len());
        let mut length = self.entries.len();
        for rank in 0..wanted {
            let mut entry = self.pick.of(key, length);
            for (index, times) in self.nodes.iter() {
                let times = *times as usize;
                if out[..rank].contains(index) {
                    continue;
                }
                if entry < times {
                    out[rank] = *index;
                    length -= times;
                    break;
                }
                entry -= times;
            }
        }
        wanted
    }
}

impl Pick {
    /// A number below the length, which is not 0.
    #[inline]
    fn of(self, key: &[u8], length: usize) -> usize {
        match self {
            Self::Modulo(hash) => hash(key) as usize % length,
            Self::Consistent(pick) => pick(key, length),
        }
    }
}
