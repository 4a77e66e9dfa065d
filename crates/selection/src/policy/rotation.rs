//! Turns: where in a list a plan begins and how it goes round.
//!
//! Each plan takes one turn. If the node whose turn it is is held back, and another one of the list
//! takes it, that one's own turn is over as well. Were it not, all turns of a node that is held back
//! would fall to the one behind it, which then has twice the load of the others.

use super::Call;
use crate::NodeIndex;
use crate::sync::atomic::{AtomicI32, Ordering};

/// A counter of plans: each plan begins one place further than the plan before.
///
/// 32 bits that wrap, as in the Java driver, so that a plan is reproduced from its number.
#[derive(Debug, Default)]
pub(super) struct Rotation(AtomicI32);

impl Rotation {
    pub(super) fn starting_at(plan: i32) -> Self {
        Self(AtomicI32::new(plan))
    }

    /// The place of a call's plan. A call that has had a plan already moves nothing on.
    #[inline]
    pub(super) fn begin(&self, call: &Call<'_>) -> Place {
        Place(if call.is_continued() {
            self.0.load(Ordering::Relaxed)
        } else {
            self.0.fetch_add(1, Ordering::Relaxed)
        })
    }

    /// The plan that began last took so many nodes of its list before it came to the one that is
    /// used: the next plan begins behind that one.
    #[cold]
    pub(super) fn pass_over(&self, nodes: usize) {
        // Lists are of at most 65,535 nodes.
        let nodes = i32::try_from(nodes).unwrap_or_default();
        self.0.fetch_add(nodes, Ordering::Relaxed);
    }
}

/// Where a plan is. It runs on from list to list.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place(i32);

impl Place {
    /// The node at this place of a list that goes round, and a step further. `None` only for an
    /// empty list.
    #[inline]
    pub(super) fn step(&mut self, nodes: &[NodeIndex]) -> Option<NodeIndex> {
        let place = self.0;
        self.0 = place.wrapping_add(1);
        // Lists are of at most 65,535 nodes, and the remainder is not negative.
        let length = i32::try_from(nodes.len()).ok()?;
        let index = usize::try_from(place.checked_rem_euclid(length)?).ok()?;
        nodes.get(index).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Topology;

    #[test]
    fn places_wrap_and_go_round() {
        let nodes = [0, 1, 2].map(|index| NodeIndex::try_from(index).unwrap());
        let rotation = Rotation::starting_at(i32::MAX);
        let topology = Topology::new();
        let call = Call::new(&topology);
        let mut place = rotation.begin(&call);
        // 2^31 - 1 is 1 modulo 3; -2^31 is 1 too.
        assert_eq!(place.step(&nodes), Some(nodes[1]));
        assert_eq!(place.step(&nodes), Some(nodes[1]));
        assert_eq!(place.step(&nodes), Some(nodes[2]));
        for call in [call.continued(), call.continued(), call] {
            assert_eq!(rotation.begin(&call).step(&nodes), Some(nodes[1]));
        }
        assert_eq!(rotation.begin(&call).step(&nodes), Some(nodes[2]));
        assert_eq!(Rotation::default().begin(&call).step(&[]), None);
    }
}
