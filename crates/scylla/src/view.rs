//! The view: everything that was made from one state of the cluster.

use std::sync::Arc;

use scylla::cluster::ClusterState;
use steersman_selection::{Locality, Timestamp};

use crate::driver;
use crate::misplacement::Misplacement;
use crate::ring::Ring;
use crate::roster::Roster;
use crate::status::{Identity, identities};

#[derive(Debug, Default)]
pub(crate) struct View {
    state: StateId,
    pub(crate) roster: Roster,
    pub(crate) ring: Arc<Ring>,
    /// What nodes are called, in the order of the driver's list.
    pub(crate) nodes: Vec<Identity>,
    misplacement: Option<Misplacement>,
}

/// What tells a state of the cluster from others: the addresses of its parts. Those of a state that
/// is gone may be used again, but hardly all of them by the same later state; and then the nodes are
/// looked at with each tick.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct StateId {
    state: usize,
    nodes: usize,
    ring: usize,
}

impl StateId {
    #[inline]
    fn of(cluster: &ClusterState) -> Self {
        let entry = cluster.replica_locator().ring().iter().next();
        Self {
            state: std::ptr::from_ref(cluster).addr(),
            nodes: cluster.get_nodes_info().as_ptr().addr(),
            ring: entry.map_or(0, |entry| std::ptr::from_ref(entry).addr()),
        }
    }
}

impl View {
    /// Whether it was made from that state.
    #[inline]
    pub(crate) fn is_of(&self, cluster: &ClusterState) -> bool {
        self.state == StateId::of(cluster)
    }

    /// What is wrong with what the policy prefers, unless it was the same before.
    pub(crate) fn misplacement(&self, before: &Self) -> Option<&Misplacement> {
        let found = self.misplacement.as_ref()?;
        (before.misplacement.as_ref() != Some(found)).then_some(found)
    }

    /// The view of the nodes as they are now, for a policy that prefers these.
    pub(crate) fn succeed(
        &self,
        cluster: &ClusterState,
        preferred: Option<&Locality>,
        now: Timestamp,
    ) -> Self {
        let ring = if self.is_of(cluster) {
            Arc::clone(&self.ring)
        } else {
            Arc::new(driver::ring(cluster))
        };
        let sightings = driver::sightings(cluster);
        Self {
            state: StateId::of(cluster),
            misplacement: preferred.and_then(|preferred| Misplacement::of(preferred, &sightings)),
            roster: self.roster.succeed(&sightings, now),
            ring,
            nodes: identities(cluster),
        }
    }
}
