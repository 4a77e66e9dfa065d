//! The replicas of a request's key.

use scylla::routing::Shard;
use smallvec::SmallVec;
use steersman_selection::NodeIndex;

/// The nodes that hold the key, with the shard that does there, in the order of the ring. Empty if
/// that is not known. Up to eight need no allocation.
#[derive(Debug, Default)]
pub(crate) struct Replicas {
    nodes: SmallVec<[NodeIndex; 8]>,
    shards: SmallVec<[Shard; 8]>,
}

impl Replicas {
    #[inline]
    pub(crate) fn push(&mut self, node: NodeIndex, shard: Shard) {
        self.nodes.push(node);
        self.shards.push(shard);
    }

    #[inline]
    pub(crate) fn nodes(&self) -> &[NodeIndex] {
        &self.nodes
    }

    /// The shard to ask of a node: none in particular if it is no replica. Depends on nothing but
    /// the request and the node, since the driver takes the same node with another shard for
    /// another target.
    #[inline]
    pub(crate) fn shard(&self, node: NodeIndex) -> Option<Shard> {
        let place = self.nodes.iter().position(|&replica| replica == node)?;
        self.shards.get(place).copied()
    }
}
