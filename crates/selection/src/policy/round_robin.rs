//! Round robin: all nodes in turn.

use super::rotation::{Place, Rotation};
use super::{Call, Candidate, Plan, Policy, Tier, Turn};
use crate::{NodeIndex, Timestamp};

/// All nodes of the topology in turn, wherever they are: each plan begins one node further than
/// the plan before, and goes round once.
///
/// # Examples
///
/// ```
/// use steersman_selection::{
///     Call, Locality, NodeIndex, Plan, Policy, RoundRobin, Timestamp, Topology,
/// };
///
/// let [a, b] = [0, 1].map(|index| NodeIndex::try_from(index).unwrap());
/// let mut topology = Topology::new();
/// topology.insert(a, Locality::unknown());
/// topology.insert(b, Locality::unknown());
///
/// let policy = RoundRobin::new();
/// let now = Timestamp::from_nanos(0);
/// for order in [[a, b], [b, a]] {
///     let mut plan = policy.plan(Call::new(&topology));
///     assert_eq!(plan.next(now), Some(order[0]));
///     assert_eq!(plan.next(now), Some(order[1]));
///     assert_eq!(plan.next(now), None);
/// }
/// ```
#[derive(Debug, Default)]
pub struct RoundRobin {
    rotation: Rotation,
}

impl RoundRobin {
    /// The first plan begins with the first node.
    pub fn new() -> Self {
        Self::default()
    }

    /// The first plan begins so many nodes further. Give each client a random number, so that a
    /// fleet that starts at once does not begin with the same node.
    pub fn starting_at(plan: i32) -> Self {
        Self {
            rotation: Rotation::starting_at(plan),
        }
    }
}

impl Policy for RoundRobin {
    type Plan<'a> = RoundRobinPlan<'a>;

    #[inline]
    fn plan<'a>(&'a self, call: Call<'a>) -> RoundRobinPlan<'a> {
        let nodes = call.topology().nodes();
        RoundRobinPlan {
            rotation: &self.rotation,
            nodes,
            remaining: nodes.len(),
            place: self.rotation.begin(&call),
        }
    }

    #[inline]
    fn appraise(
        &self,
        call: &Call<'_>,
        node: NodeIndex,
        _now: Timestamp,
        _turn: Turn,
    ) -> Option<Candidate> {
        call.topology()
            .contains(node)
            .then(|| Candidate::new(node, Tier::Local))
    }
}

/// A plan of [`RoundRobin`].
#[derive(Debug, Clone)]
pub struct RoundRobinPlan<'a> {
    rotation: &'a Rotation,
    nodes: &'a [NodeIndex],
    remaining: usize,
    place: Place,
}

impl Plan for RoundRobinPlan<'_> {
    #[inline]
    fn advance(&mut self, _now: Timestamp, _turn: Turn) -> Option<Candidate> {
        self.remaining = self.remaining.checked_sub(1)?;
        let node = self.place.step(self.nodes)?;
        Some(Candidate::new(node, Tier::Local))
    }

    fn passed_over(&mut self) {
        let named = self.nodes.len() - self.remaining;
        self.rotation.pass_over(named.saturating_sub(1));
    }
}
