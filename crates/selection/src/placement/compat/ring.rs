//! Consistent hashing: nodes have points on a ring of numbers, and a key belongs to the node of the
//! first point that is not below its hash, or of the first point of all.
//!
//! Karger et al., "Consistent hashing and random trees", STOC 1997. The clients' rings differ in the
//! points alone. A lookup that wants a point above the hash hashes to the next number; one that
//! wants the last point not above it has all numbers complemented.

use std::sync::Arc;

use super::Node;
use crate::NodeIndex;

/// A place on a ring.
pub(super) trait Point: Copy + Ord + std::fmt::Debug {
    /// The first bits, 1 to 31 of them.
    fn top(self, bits: u32) -> usize;

    /// How far it is behind another one, around the ring.
    fn behind(self, other: Self) -> Self;
}

/// How a client makes points of nodes and hashes keys.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout<P> {
    /// The hash of a key.
    pub(super) hash: fn(&[u8]) -> P,
    /// The number of groups of points that a node of some weight has, among so many nodes whose
    /// weights are so much in all.
    pub(super) groups: fn(u32, u64, usize) -> u32,
    /// The points of a node's group of that number. They depend on nothing else.
    pub(super) points: fn(&Self, &str, u32) -> Points<P>,
}

/// The points of a group: one or four.
pub(super) enum Points<P> {
    One(P),
    Four([P; 4]),
}

/// The points of all active nodes.
#[derive(Debug, Clone)]
pub(super) struct Ring<P> {
    layout: Layout<P>,
    nodes: Arc<[Node]>,
    total_weight: u64,
    /// In ascending order; of equal ones the first counts.
    points: Arc<[P]>,
    /// Whose they are, as places in `nodes`.
    owners: Arc<[u16]>,
    /// The number of the group that each is of.
    groups: Arc<[u32]>,
    /// The first point of each bucket, the points that begin with the same `bits` bits, and the
    /// number of points behind them. There are about as many buckets as points.
    buckets: Arc<[u32]>,
    bits: u32,
}

impl<P: Point> Ring<P> {
    /// The ring of some nodes; of equal points the one of the earlier node counts.
    pub(super) fn new<'a>(layout: Layout<P>, nodes: impl Iterator<Item = &'a Node>) -> Self {
        let nodes: Arc<[Node]> = nodes.cloned().collect();
        let total_weight = nodes.iter().map(|node| u64::from(node.weight)).sum();
        let mut ring = Vec::new();
        for (place, node) in (0_u16..).zip(nodes.iter()) {
            for group in 0..(layout.groups)(node.weight, total_weight, nodes.len()) {
                let points = (layout.points)(&layout, &node.text, group);
                ring.extend(points.as_slice().iter().map(|point| (*point, place, group)));
            }
        }
        ring.sort_by_key(|(point, ..)| *point);
        let bits = ring.len().max(2).ilog2();
        Self {
            layout,
            total_weight,
            buckets: buckets(ring.iter().map(|(point, ..)| point.top(bits)), bits),
            points: ring.iter().map(|(point, ..)| *point).collect(),
            owners: ring.iter().map(|(_, place, _)| *place).collect(),
            groups: ring.iter().map(|(.., group)| *group).collect(),
            nodes,
            bits,
        }
    }

    #[inline]
    pub(super) fn owner(&self, key: &[u8]) -> Option<NodeIndex> {
        if let [only] = &*self.nodes {
            return Some(only.index);
        }
        let place = self.owners.get(self.position((self.layout.hash)(key)))?;
        Some(self.nodes[usize::from(*place)].index)
    }

    /// The best nodes, best first: the owner, its owner on the ring that there would be without that
    /// one, and so on, as many as there is room for; returns how many there are.
    pub(super) fn best(&self, key: &[u8], out: &mut [NodeIndex]) -> usize {
        let wanted = out.len().min(self.nodes.len());
        let hash = (self.layout.hash)(key);
        for rank in 0..wanted {
            let (gone, rest) = out.split_at_mut(rank);
            let next = self.without(gone, hash);
            rest[0] = self.nodes[next].index;
        }
        wanted
    }

    /// The position of the first point that is not below the hash; 0 if there is none.
    #[inline]
    fn position(&self, hash: P) -> usize {
        let bucket = hash.top(self.bits);
        let (start, end) = (self.buckets[bucket], self.buckets[bucket + 1]);
        let (start, end) = (start as usize, end as usize);
        let below = self.points[start..end].partition_point(|point| *point < hash);
        let position = start + below;
        if position == self.points.len() {
            0
        } else {
            position
        }
    }

    /// The place of the hash's owner on the ring that there would be without some nodes, which are
    /// not all.
    ///
    /// That ring is not made. A node that stays has fewer groups there, and then some of its
    /// points do not count, or more: these are made and compared with the first that does count.
    fn without(&self, gone: &[NodeIndex], hash: P) -> usize {
        let gone = |node: &Node| gone.contains(&node.index);
        let left = || {
            self.nodes
                .iter()
                .enumerate()
                .filter(|(_, node)| !gone(node))
        };
        let count = left().count();
        let total = left().map(|(_, node)| u64::from(node.weight)).sum();
        let has = |node: &Node| (self.layout.groups)(node.weight, total, count);
        let had =
            |node: &Node| (self.layout.groups)(node.weight, self.total_weight, self.nodes.len());

        let start = self.position(hash);
        let positions = (start..self.points.len()).chain(0..start);
        let first = positions
            .map(|position| (self.points[position], position))
            .find(|(_, position)| {
                let node = &self.nodes[usize::from(self.owners[*position])];
                !gone(node) && self.groups[*position] < has(node)
            })
            .map(|(point, position)| (point.behind(hash), usize::from(self.owners[position])));
        let new = left().flat_map(|(place, node)| {
            (had(node)..has(node)).filter_map(move |group| {
                let points = (self.layout.points)(&self.layout, &node.text, group);
                let nearest = points
                    .as_slice()
                    .iter()
                    .map(|point| point.behind(hash))
                    .min();
                nearest.map(|nearest| (nearest, place))
            })
        });
        let nearest = new.chain(first).min().map(|(_, place)| place);
        nearest
            .or_else(|| left().next().map(|(place, _)| place))
            .unwrap_or_default()
    }
}

impl<P> Points<P> {
    fn as_slice(&self) -> &[P] {
        match self {
            Self::One(point) => std::slice::from_ref(point),
            Self::Four(points) => points,
        }
    }
}

/// Where each bucket of sorted points begins, and the number of points, given the bucket of each.
fn buckets(of_points: impl Iterator<Item = usize>, bits: u32) -> Arc<[u32]> {
    let mut starts = vec![0_u32; (1 << bits) + 1];
    for bucket in of_points {
        starts[bucket + 1] += 1;
    }
    let mut sum = 0;
    for start in &mut starts {
        sum += *start;
        *start = sum;
    }
    starts.into()
}

impl Point for u32 {
    #[inline]
    fn top(self, bits: u32) -> usize {
        (self >> (Self::BITS - bits)) as usize
    }

    fn behind(self, other: Self) -> Self {
        self.wrapping_sub(other)
    }
}

impl Point for u128 {
    #[inline]
    fn top(self, bits: u32) -> usize {
        (self >> (Self::BITS - bits)) as usize
    }

    fn behind(self, other: Self) -> Self {
        self.wrapping_sub(other)
    }
}
