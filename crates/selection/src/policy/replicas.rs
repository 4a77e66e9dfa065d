//! The replicas of a key, and the orders they can be tried in.

use super::dice::{self, Dice};
use super::{Call, Candidate, Plan, Policy, Tier, Turn};
use crate::{NodeIndex, Timestamp};

/// In which order replicas are tried.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum ReplicaOrder {
    /// As the placement lists them: the owner first. Each key has one favourite node, so caches
    /// along the way hold each key once.
    Topological,
    /// Each request in an order of its own, all orders alike: load is spread over the replicas.
    #[default]
    Random,
    /// In the order in which the child policy's plan names them.
    Neutral,
}

/// The replicas alone, in the order of the call or shuffled: for keys that no other node holds, as
/// in a replicated cache.
///
/// Names whatever the call lists, in the topology or not, all as [`Tier::Replica`]. Of a list of
/// more than 64, only the first 64 are shuffled.
///
/// # Examples
///
/// ```
/// use steersman_selection::{
///     Call, LatencyAware, Locality, NodeIndex, Plan, Policy, Replicas, Timestamp, Topology,
/// };
///
/// let [a, b] = [0, 1].map(|index| NodeIndex::try_from(index).unwrap());
/// let mut topology = Topology::new();
/// topology.insert(a, Locality::unknown());
/// topology.insert(b, Locality::unknown());
///
/// let policy = LatencyAware::new(Replicas::in_order());
/// let now = Timestamp::from_nanos(0);
/// policy.topology_changed(&topology, now);
/// let replicas = [b, a];
/// let mut plan = policy.plan(Call::new(&topology).replicas(&replicas));
/// assert_eq!(plan.next(now), Some(b));
/// assert_eq!(plan.next(now), Some(a));
/// assert_eq!(plan.next(now), None);
/// ```
#[derive(Debug)]
pub struct Replicas {
    dice: Option<Dice>,
}

impl Replicas {
    /// In the order of the call, the owner first.
    pub fn in_order() -> Self {
        Self { dice: None }
    }

    /// In an order of its own for each request; the seed fixes the orders.
    pub fn shuffled(seed: u64) -> Self {
        Self {
            dice: Some(Dice::new(seed)),
        }
    }
}

impl Policy for Replicas {
    type Plan<'a> = ReplicasPlan<'a>;

    #[inline]
    fn plan<'a>(&'a self, call: Call<'a>) -> ReplicasPlan<'a> {
        let replicas = call.known_replicas();
        ReplicasPlan {
            replicas,
            drawing: Drawing::new(replicas.len(), self.dice.as_ref().map(Dice::roll)),
            next: 0,
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
        let listed = call.known_replicas().contains(&node);
        listed.then(|| Candidate::new(node, Tier::Replica))
    }
}

/// A plan of [`Replicas`].
#[derive(Debug, Clone)]
pub struct ReplicasPlan<'a> {
    replicas: &'a [NodeIndex],
    drawing: Drawing,
    /// The next one of those that are not drawn, behind the first 64.
    next: usize,
}

impl Plan for ReplicasPlan<'_> {
    #[inline]
    fn advance(&mut self, _now: Timestamp, _turn: Turn) -> Option<Candidate> {
        let index = self.drawing.draw().unwrap_or_else(|| {
            let index = Drawing::MOST + self.next;
            self.next += usize::from(index < self.replicas.len());
            index
        });
        let node = *self.replicas.get(index)?;
        Some(Candidate::new(node, Tier::Replica))
    }
}

/// Which of up to 64 replicas are still to be looked at, one bit each, and the order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Drawing {
    left: u64,
    /// The last random number; without one the replicas are drawn in order.
    random: Option<u64>,
}

impl Drawing {
    pub(super) const MOST: usize = 64;

    /// The first replicas of so many.
    #[inline]
    pub(super) fn new(replicas: usize, random: Option<u64>) -> Self {
        let left = if replicas >= Self::MOST {
            u64::MAX
        } else {
            (1 << replicas) - 1
        };
        Self { left, random }
    }

    /// Puts one back, or marks it in a set.
    #[inline]
    pub(super) fn insert(&mut self, index: usize) {
        self.left |= 1 << index;
    }

    #[inline]
    pub(super) fn remove(&mut self, index: usize) {
        self.left &= !(1 << index);
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// Draws one.
    #[inline]
    pub(super) fn draw(&mut self) -> Option<usize> {
        if self.left == 0 {
            return None;
        }
        let mut candidates = self.left;
        if let Some(random) = &mut self.random {
            for _ in 0..dice::below(*random, u64::from(candidates.count_ones())) {
                candidates &= candidates - 1;
            }
            *random = dice::reroll(*random);
        }
        let index = candidates.trailing_zeros();
        self.left &= !(1 << index);
        Some(index as usize)
    }

    #[inline]
    pub(super) fn contains(&self, index: usize) -> bool {
        index < Self::MOST && self.left & (1 << index) != 0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::Topology;

    #[test]
    fn all_orders_are_alike() {
        let dice = Dice::new(3);
        let mut orders = HashMap::new();
        for _ in 0..6_000 {
            let mut drawing = Drawing::new(3, Some(dice.roll()));
            let order: Vec<_> = std::iter::from_fn(|| drawing.draw()).collect();
            *orders.entry(order).or_insert(0) += 1;
        }
        assert_eq!(orders.len(), 6);
        for (order, count) in orders {
            assert!((850..1_150).contains(&count), "{order:?}: {count}");
        }
    }

    #[test]
    fn lists_longer_than_the_set_are_complete() {
        let nodes: Vec<_> = (0..70)
            .map(|index| NodeIndex::try_from(index).unwrap())
            .collect();
        let topology = Topology::new();
        for policy in [Replicas::in_order(), Replicas::shuffled(1)] {
            let mut plan = policy.plan(Call::new(&topology).replicas(&nodes));
            let now = Timestamp::from_nanos(0);
            let mut seen: Vec<_> = std::iter::from_fn(|| plan.next(now)).collect();
            assert_eq!(seen == nodes, policy.dice.is_none());
            assert_eq!(plan.next(now), None);
            seen.sort_unstable();
            assert_eq!(seen, nodes);
        }
    }
}
