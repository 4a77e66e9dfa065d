//! The roster: the cluster's nodes as policies know them.
//!
//! Policies want dense indices and a topology; the driver has host ids and a list of nodes whose
//! order changes. A roster is an immutable snapshot that translates. It knows nothing of the driver,
//! whose nodes cannot be made in a test.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::Arc;

use steersman_selection::{Locality, NodeIndex, Timestamp, Topology};
use uuid::Uuid;

use crate::host_hash::HostHasher;
use crate::ledger::Ledger;

/// The nodes of one state of the cluster.
#[derive(Debug, Default)]
pub(crate) struct Roster {
    /// Those that are connected. Policies plan with these.
    live: Arc<Topology>,
    /// All that may be asked, the last resort when no other is left.
    enabled: Arc<Topology>,
    hosts: HashMap<Uuid, NodeIndex, BuildHasherDefault<HostHasher>>,
    /// By node index.
    members: Vec<Option<Member>>,
}

/// What is kept for a node while the cluster has it.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    pub(crate) host_id: Uuid,
    /// Where it is in the driver's list.
    pub(crate) position: usize,
    pub(crate) ledger: Arc<Ledger>,
}

/// A node as it was seen in the driver's list.
#[derive(Debug, Clone)]
pub(crate) struct Sighting {
    pub(crate) host_id: Uuid,
    pub(crate) locality: Locality,
    pub(crate) is_enabled: bool,
    pub(crate) is_connected: bool,
}

impl Roster {
    pub(crate) fn live(&self) -> &Topology {
        &self.live
    }

    pub(crate) fn enabled(&self) -> &Topology {
        &self.enabled
    }

    #[inline]
    pub(crate) fn index(&self, host_id: Uuid) -> Option<NodeIndex> {
        self.hosts.get(&host_id).copied()
    }

    #[inline]
    pub(crate) fn member(&self, node: NodeIndex) -> Option<&Member> {
        self.members.get(node.get())?.as_ref()
    }

    pub(crate) fn members(&self) -> impl Iterator<Item = (NodeIndex, &Member)> {
        let slots = self.members.iter().enumerate();
        slots.filter_map(|(index, member)| {
            Some((NodeIndex::try_from(index).ok()?, member.as_ref()?))
        })
    }

    /// Whether `other` has the same nodes connected.
    pub(crate) fn has_same_live(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.live, &other.live)
    }

    /// The roster of the nodes that are seen now, in the order of the driver's list.
    ///
    /// Nodes keep their indices. Those that are not in the list any more are forgotten, and their
    /// indices given to others. (Nodes beyond the 65,535th are left out.)
    pub(crate) fn succeed(&self, sightings: &[Sighting], now: Timestamp) -> Self {
        let mut members = self.members.clone();
        let mut hosts =
            HashMap::with_capacity_and_hasher(sightings.len(), BuildHasherDefault::default());
        let position_of: HashMap<_, _> = sightings
            .iter()
            .enumerate()
            .map(|(position, seen)| (seen.host_id, position))
            .collect();
        for (index, slot) in members.iter_mut().enumerate() {
            let Some(member) = slot else { continue };
            match (position_of.get(&member.host_id), NodeIndex::try_from(index)) {
                (Some(&position), Ok(index)) => {
                    member.position = position;
                    hosts.insert(member.host_id, index);
                }
                _ => *slot = None,
            }
        }
        for (position, seen) in sightings.iter().enumerate() {
            if hosts.contains_key(&seen.host_id) {
                continue;
            }
            let free = members
                .iter()
                .position(Option::is_none)
                .unwrap_or(members.len());
            let Ok(index) = NodeIndex::try_from(free) else {
                break;
            };
            if free == members.len() {
                members.push(None);
            }
            members[free] = Some(Member {
                host_id: seen.host_id,
                position,
                ledger: Arc::new(Ledger::new(now)),
            });
            hosts.insert(seen.host_id, index);
        }

        let indexed = |wanted: fn(&Sighting) -> bool| {
            let sightings = sightings.iter().filter(move |seen| wanted(seen));
            let indexed = sightings.filter_map(|seen| Some((*hosts.get(&seen.host_id)?, seen)));
            indexed.collect::<Vec<_>>()
        };
        let live = indexed(|seen| seen.is_enabled && seen.is_connected);
        let enabled = indexed(|seen| seen.is_enabled);
        Self {
            live: self.changed(&self.live, &live, &members),
            enabled: self.changed(&self.enabled, &enabled, &members),
            hosts,
            members,
        }
    }

    /// A topology of those nodes; the one of before if it has the same.
    fn changed(
        &self,
        before: &Arc<Topology>,
        nodes: &[(NodeIndex, &Sighting)],
        members: &[Option<Member>],
    ) -> Arc<Topology> {
        let is_same_host = |node: NodeIndex| {
            let host =
                |members: &[Option<Member>]| Some(members.get(node.get())?.as_ref()?.host_id);
            host(&self.members) == host(members)
        };
        let stays =
            |node: NodeIndex| is_same_host(node) && nodes.iter().any(|&(other, _)| other == node);
        let mut after = Topology::clone(before);
        for &node in before.nodes() {
            if !stays(node) {
                after.remove(node);
            }
        }
        let mut is_changed = after.nodes().len() != before.nodes().len();
        for &(node, seen) in nodes {
            if after.locality(node) != Some(&seen.locality) {
                after.insert(node, seen.locality.clone());
                is_changed = true;
            }
        }
        if !is_changed {
            return Arc::clone(before);
        }
        let after = Arc::new(after);
        before.succeed(Arc::clone(&after));
        after
    }
}

#[cfg(test)]
mod tests;
