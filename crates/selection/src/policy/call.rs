//! A request as policies see it.

use super::Consistency;
use crate::{NodeIndex, Topology};

/// One request, as far as policies care: a borrowed view that is cheap to copy.
///
/// # Examples
///
/// ```
/// use steersman_selection::{Call, Consistency, Locality, NodeIndex, Topology};
///
/// let [a, b] = [0, 1].map(|index| NodeIndex::try_from(index).unwrap());
/// let mut topology = Topology::new();
/// topology.insert(a, Locality::datacenter("eu-1"));
/// topology.insert(b, Locality::datacenter("eu-1"));
///
/// let replicas = [b];
/// let call = Call::new(&topology)
///     .replicas(&replicas)
///     .consistency(Consistency::LocalQuorum);
/// assert!(call.may_hold_key(b) && !call.may_hold_key(a));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    topology: &'a Topology,
    replicas: &'a [NodeIndex],
    consistency: Consistency,
    continued: bool,
}

impl<'a> Call<'a> {
    /// A request that any node of the topology can serve: no replicas, [`Consistency::One`].
    #[inline]
    pub fn new(topology: &'a Topology) -> Self {
        Self {
            topology,
            replicas: &[],
            consistency: Consistency::One,
            continued: false,
        }
    }

    /// The same request for a key that lives on these nodes, the owner first.
    ///
    /// An empty list says that the replicas are not known. Policies that put replicas first
    /// ([`TokenAware`](crate::TokenAware)) look at the first 64 only.
    #[inline]
    pub fn replicas(mut self, replicas: &'a [NodeIndex]) -> Self {
        self.replicas = replicas;
        self
    }

    /// The same request at that level.
    #[inline]
    pub fn consistency(mut self, consistency: Consistency) -> Self {
        self.consistency = consistency;
        self
    }

    /// The same request, for whoever makes a second plan for it instead of keeping the first.
    ///
    /// Policies that take nodes in turn do not count it, so that each request moves them on by one
    /// whether it needed a second plan or not. (Were it counted, and every request needed two
    /// plans, all first attempts would go to every other node.) None of its attempts is the
    /// request's first, so none is a probe.
    #[inline]
    pub fn continued(mut self) -> Self {
        self.continued = true;
        self
    }

    /// The nodes there are.
    #[inline]
    pub fn topology(&self) -> &'a Topology {
        self.topology
    }

    /// The nodes that hold the key, the owner first; empty if that is not known.
    #[inline]
    pub fn known_replicas(&self) -> &'a [NodeIndex] {
        self.replicas
    }

    /// The request's consistency level.
    #[inline]
    pub fn level(&self) -> Consistency {
        self.consistency
    }

    /// Whether the request has had a plan before this one.
    #[inline]
    pub fn is_continued(&self) -> bool {
        self.continued
    }

    /// How many nodes can serve it, as far as that is known.
    #[inline]
    pub(crate) fn candidates(&self) -> usize {
        match self.replicas.len() {
            0 => self.topology.nodes().len(),
            replicas => replicas,
        }
    }

    /// Whether the node is a replica; true of all nodes if replicas are not known.
    #[inline]
    pub fn may_hold_key(&self, node: NodeIndex) -> bool {
        self.replicas.is_empty() || self.replicas.contains(&node)
    }
}
