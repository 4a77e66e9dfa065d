//! The replicas of a request's key.

use scylla::routing::Shard;
use smallvec::SmallVec;
use steersman_selection::NodeIndex;

/// The nodes that hold the key, in the order of the ring or of the tablet. Empty if that is not
/// known. Up to eight need no allocation.
#[derive(Debug, Default)]
pub(crate) struct Replicas {
    nodes: SmallVec<[NodeIndex; 8]>,
    /// The shards of a tablet's replicas. On a ring of tokens each node can tell its own.
    shards: SmallVec<[Shard; 8]>,
}

/// Where a replica keeps the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// In the shard that the node computes from the token.
    OfToken,
    /// In this shard.
    In(Shard),
}

impl Replicas {
    #[inline]
    pub(crate) fn of_ring(nodes: &[NodeIndex]) -> Self {
        Self {
            nodes: SmallVec::from_slice(nodes),
            shards: SmallVec::new(),
        }
    }

    /// The replicas of a tablet.
    pub(crate) fn of_tablet(replicas: impl Iterator<Item = (NodeIndex, Shard)>) -> Self {
        let (nodes, shards) = replicas.unzip();
        Self { nodes, shards }
    }

    #[inline]
    pub(crate) fn nodes(&self) -> &[NodeIndex] {
        &self.nodes
    }

    /// Where a node keeps the key; `None` if it is no replica. Depends on nothing but the request
    /// and the node, since the driver takes the same node with another shard for another target.
    #[inline]
    pub(crate) fn place(&self, node: NodeIndex) -> Option<Place> {
        let index = self.nodes.iter().position(|&replica| replica == node)?;
        let shard = self.shards.get(index);
        Some(shard.map_or(Place::OfToken, |&shard| Place::In(shard)))
    }
}
