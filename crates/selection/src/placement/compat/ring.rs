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
    /// The highest number.
    const MAX: Self;

    /// The first bits, 1 to 31 of them.
    fn top(self, bits: u32) -> usize;

    /// How far it is behind another one, around the ring.
    fn behind(self, other: Self) -> Self;
}

/// How many points are looked at without a branch, from the first of a bucket. Which of them counts
/// cannot be predicted, and a wrong guess costs more than all of the lookup.
const AHEAD: usize = 4;

/// How a client makes points of nodes and hashes keys.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout<P> {
    /// The hash of a key.
    pub(super) hash: fn(&[u8]) -> P,
    pub(super) groups: Groups,
    /// The points of a node's group of that number. They depend on nothing else.
    pub(super) points: fn(&Self, &str, u32) -> Points<P>,
}

/// How many groups of points a node has.
#[derive(Debug, Clone, Copy)]
pub(super) enum Groups {
    /// So many for its weight, whatever other nodes there are.
    Fixed(fn(u32) -> u32),
    /// So many for its weight, all nodes' weight and the number of nodes.
    Shared(fn(u32, u64, usize) -> u32),
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
    /// How many groups each of them has.
    counts: Arc<[u32]>,
    /// In ascending order; of equal ones the first counts. [`AHEAD`] highest numbers follow.
    points: Arc<[P]>,
    /// Whose they are, as places in `nodes`. The first follows the last once more.
    owners: Arc<[u16]>,
    /// The number of the group that each is of.
    groups: Arc<[u32]>,
    /// The first point of each bucket, the points that begin with the same `bits` bits, and the
    /// number of points behind them. There are as many buckets as points, or up to twice as many.
    buckets: Arc<[u32]>,
    bits: u32,
    /// The points of one more group of each node, if groups are shared, and whose they are: what most
    /// often is on the ring without some node.
    spare: Arc<[(P, u16)]>,
}

impl<P: Point> Ring<P> {
    /// The ring of some nodes; of equal points the one of the earlier node counts.
    pub(super) fn new<'a>(layout: Layout<P>, nodes: impl Iterator<Item = &'a Node>) -> Self {
        let nodes: Arc<[Node]> = nodes.cloned().collect();
        let total = nodes.iter().map(|node| u64::from(node.weight)).sum();
        let count = |node: &Node| layout.groups.of(node, total, nodes.len());
        let counts: Arc<[u32]> = nodes.iter().map(count).collect();
        let mut ring = Vec::new();
        let mut spare = Vec::new();
        for ((node, count), place) in nodes.iter().zip(counts.iter()).zip(0_u16..) {
            for group in 0..*count {
                let points = (layout.points)(&layout, &node.text, group);
                ring.extend(points.as_slice().iter().map(|point| (*point, place, group)));
            }
            if let Groups::Shared(_) = layout.groups {
                let points = (layout.points)(&layout, &node.text, *count);
                spare.extend(points.as_slice().iter().map(|point| (*point, place)));
            }
        }
        ring.sort_by_key(|(point, ..)| *point);
        spare.sort_by_key(|(point, _)| *point);
        let bits = ring.len().max(2).next_power_of_two().ilog2();
        let owners = ring.iter().chain(ring.first()).map(|(_, place, _)| *place);
        let points = ring.iter().map(|(point, ..)| *point);
        Self {
            layout,
            buckets: buckets(ring.iter().map(|(point, ..)| point.top(bits)), bits),
            points: points.chain([P::MAX; AHEAD]).collect(),
            owners: owners.collect(),
            groups: ring.iter().map(|(.., group)| *group).collect(),
            spare: spare.into(),
            nodes,
            counts,
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

    /// The position of the first point that is not below the hash; the number of points if there is
    /// none.
    #[inline]
    fn position(&self, hash: P) -> usize {
        let bucket = hash.top(self.bits);
        let start = self.buckets[bucket] as usize;
        // Points of later buckets are not below.
        let ahead = &self.points[start..start + AHEAD];
        let below = ahead.iter().filter(|point| **point < hash).count();
        if below < AHEAD {
            return start + below;
        }
        // As on rings of hashes that do not fill 32 bits, where most points share a bucket.
        let end = self.buckets[bucket + 1] as usize;
        start + self.points[start..end].partition_point(|point| *point < hash)
    }

    /// The place of the hash's owner on the ring that there would be without some nodes, which are
    /// not all.
    ///
    /// That ring is not made. A node that stays may have fewer groups there, and then some of its
    /// points do not count, or more, whose points are compared with the first that does count.
    fn without(&self, gone: &[NodeIndex], hash: P) -> usize {
        let gone = |node: &Node| gone.contains(&node.index);
        let left = || self.nodes.iter().zip(0..).filter(|(node, _)| !gone(node));
        let count = left().count();
        let total = left().map(|(node, _)| u64::from(node.weight)).sum();
        let has = |node: &Node| self.layout.groups.of(node, total, count);

        let start = self.position(hash);
        let positions = (start..self.groups.len()).chain(0..start);
        let mut counting = positions.filter(|position| {
            let node = &self.nodes[usize::from(self.owners[*position])];
            !gone(node) && self.groups[*position] < has(node)
        });
        let mut nearest = counting
            .next()
            .map(|position| (self.points[position].behind(hash), self.owners[position]));
        if let Groups::Shared(_) = self.layout.groups {
            let more =
                |place: u16| has(&self.nodes[usize::from(place)]) > self.counts[usize::from(place)];
            if left().any(|(_, place)| more(place)) {
                let start = self.spare.partition_point(|(point, _)| *point < hash);
                let spare = self.spare[start..].iter().chain(&self.spare[..start]);
                let mut spare = spare
                    .filter(|(_, place)| !gone(&self.nodes[usize::from(*place)]) && more(*place));
                let spare = spare
                    .next()
                    .map(|(point, place)| (point.behind(hash), *place));
                let made =
                    left().filter_map(|(node, place)| self.nearest(place, node, has(node), hash));
                nearest = made.chain(spare).chain(nearest).min();
            }
        }
        let nearest = nearest.or_else(|| left().next().map(|(_, place)| (hash, place)));
        nearest.map_or(0, |(_, place)| usize::from(place))
    }

    /// The nearest point behind the hash of those that a node has in addition to the ring and the spare
    /// ones, if it has so many groups.
    fn nearest(&self, place: u16, node: &Node, groups: u32, hash: P) -> Option<(P, u16)> {
        let made = (self.counts[usize::from(place)] + 1..groups).filter_map(|group| {
            let points = (self.layout.points)(&self.layout, &node.text, group);
            points
                .as_slice()
                .iter()
                .map(|point| point.behind(hash))
                .min()
        });
        Some((made.min()?, place))
    }
}

impl Groups {
    /// The number of a node's groups, among so many nodes with these weights in all.
    #[inline]
    fn of(self, node: &Node, total_weight: u64, nodes: usize) -> u32 {
        match self {
            Self::Fixed(groups) => groups(node.weight),
            Self::Shared(groups) => groups(node.weight, total_weight, nodes),
        }
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

macro_rules! points {
    ($($number:ty),*) => {$(
        impl Point for $number {
            const MAX: Self = Self::MAX;

            #[inline]
            fn top(self, bits: u32) -> usize {
                (self >> (Self::BITS - bits)) as usize
            }

            fn behind(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
        }
    )*};
}
points!(u32, u128);
