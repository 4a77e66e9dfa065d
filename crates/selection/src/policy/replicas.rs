//! The replicas of a key, and the orders they can be tried in.

use std::num::NonZeroU64;

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
            let index = usize::from(ReplicaSet::MOST) + self.next;
            self.next += usize::from(index < self.replicas.len());
            index
        });
        let node = *self.replicas.get(index)?;
        Some(Candidate::new(node, Tier::Replica))
    }
}

/// Which of up to 64 replicas are still to be looked at, and in which order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Drawing {
    left: ReplicaSet,
    count: u8,
    /// The last random number; without one the replicas are drawn in order.
    random: Option<NonZeroU64>,
}

impl Drawing {
    /// The first replicas of so many.
    #[inline]
    pub(super) fn new(replicas: usize, random: Option<u64>) -> Self {
        let (left, count) = ReplicaSet::first(replicas);
        Self {
            left,
            count,
            // Only the upper bits of a random number count.
            random: random.map(|number| NonZeroU64::MIN | number),
        }
    }

    /// Takes those out, and returns them, of which that is so.
    #[inline]
    pub(super) fn split_off(&mut self, is_so: impl Fn(usize) -> bool) -> ReplicaSet {
        let mut out = ReplicaSet::default();
        let mut seen = self.left;
        while let Some(index) = seen.pop() {
            if is_so(index) {
                self.remove(index);
                out.insert(index);
            }
        }
        out
    }

    /// Goes on with these.
    pub(super) fn again(&mut self, replicas: ReplicaSet) {
        self.left = replicas;
        self.count = replicas.len();
    }

    /// Draws one.
    #[inline]
    pub(super) fn draw(&mut self) -> Option<usize> {
        let mut candidates = self.left;
        if let Some(random) = self.random.filter(|_| self.count > 1) {
            for _ in 0..dice::below(random.get(), u64::from(self.count)) {
                candidates.pop();
            }
            self.random = Some(NonZeroU64::MIN | dice::reroll(random.get()));
        }
        let index = candidates.pop()?;
        self.remove(index);
        Some(index)
    }

    #[inline]
    pub(super) fn remove(&mut self, index: usize) {
        self.count -= u8::from(self.left.contains(index));
        self.left.remove(index);
    }

    #[inline]
    pub(super) fn contains(&self, index: usize) -> bool {
        self.left.contains(index)
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// A set of replicas by their places in the call's list, the first 64 at most.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ReplicaSet(u64);

impl ReplicaSet {
    const MOST: u8 = 64;

    /// The first of so many, and how many those are.
    #[inline]
    fn first(replicas: usize) -> (Self, u8) {
        match u8::try_from(replicas) {
            Ok(count) if count < Self::MOST => (Self((1 << count) - 1), count),
            _ => (Self(u64::MAX), Self::MOST),
        }
    }

    pub(super) fn len(self) -> u8 {
        // At most 64.
        u8::try_from(self.0.count_ones()).unwrap_or(Self::MOST)
    }

    #[inline]
    pub(super) fn insert(&mut self, index: usize) {
        self.0 |= 1 << index;
    }

    #[inline]
    fn remove(&mut self, index: usize) {
        self.0 &= !(1 << index);
    }

    #[inline]
    pub(super) fn contains(self, index: usize) -> bool {
        index < usize::from(Self::MOST) && self.0 & (1 << index) != 0
    }

    /// Takes the first one out.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let index = self.0.trailing_zeros();
        self.0 &= self.0 - 1;
        Some(index as usize)
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
