//! The replicas of a request's key.

use scylla::routing::Shard;
use smallvec::SmallVec;
use steersman_selection::NodeIndex;

/// The nodes that hold the key, in the order of the ring or of the tablet. Up to eight need no
/// allocation.
#[derive(Debug)]
pub(crate) enum Replicas<'a> {
    /// On a ring of tokens each node can tell the shard. Empty if the replicas are not known.
    OfRing(&'a [NodeIndex]),
    OfTablet {
        nodes: SmallVec<[NodeIndex; 8]>,
        shards: SmallVec<[Shard; 8]>,
    },
}

/// Where a replica keeps the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// In the shard that the node computes from the token.
    OfToken,
    /// In this shard.
    In(Shard),
}

impl Replicas<'_> {
    /// The replicas of a tablet.
    pub(crate) fn of_tablet(replicas: impl Iterator<Item = (NodeIndex, Shard)>) -> Self {
        let (nodes, shards) = replicas.unzip();
        Self::OfTablet { nodes, shards }
    }

    #[inline]
    pub(crate) fn nodes(&self) -> &[NodeIndex] {
        match self {
            Self::OfRing(nodes) => nodes,
            Self::OfTablet { nodes, .. } => nodes,
        }
    }

    /// Where a node keeps the key; `None` if it is no replica. Depends on nothing but the request
    /// and the node, since the driver takes the same node with another shard for another target.
    #[inline]
    pub(crate) fn place(&self, node: NodeIndex) -> Option<Place> {
        let index = self.nodes().iter().position(|&replica| replica == node)?;
        Some(match self {
            Self::OfRing(_) => Place::OfToken,
            Self::OfTablet { shards, .. } => shards
                .get(index)
                .map_or(Place::OfToken, |&shard| Place::In(shard)),
        })
    }
}
