//! The topology: which nodes there are and where, as a snapshot that plans borrow.
//!
//! What policies need for each request is laid out when the topology changes, which is rare, so
//! that a plan finds the nodes of a datacenter or a rack with one look.

mod locality;

use std::sync::{Arc, OnceLock};

pub use self::locality::Locality;

use crate::NodeIndex;

/// The nodes that requests may go to, and their localities.
///
/// A topology holds the nodes that are worth asking; one that is known to be down is not in it.
/// Lists keep the order in which nodes were inserted; a node that leaves and comes back is last.
/// To change a topology that others read, change a clone and swap it in, tell policies by
/// [`Policy::topology_changed`](crate::Policy::topology_changed), and link the old one to the new
/// by [`Topology::succeed`] if open plans should learn of it.
///
/// # Examples
///
/// ```
/// use steersman_selection::{Locality, NodeIndex, Topology};
///
/// let [a, b, c] = [0, 1, 2].map(|index| NodeIndex::try_from(index).unwrap());
/// let mut topology = Topology::new();
/// topology.insert(a, Locality::datacenter("eu-1"));
/// topology.insert(b, Locality::datacenter("eu-2"));
/// topology.insert(c, Locality::datacenter("eu-1"));
/// assert_eq!(topology.nodes(), [a, b, c]);
///
/// let local = topology.datacenter("eu-1").unwrap();
/// assert_eq!(local.nodes(), [a, c]);
/// ```
#[derive(Debug, Default)]
pub struct Topology {
    nodes: Vec<NodeIndex>,
    entries: Vec<Entry>,
    datacenters: Vec<Datacenter>,
    successor: OnceLock<Arc<Topology>>,
}

/// What is known under one node index.
#[derive(Debug, Clone, Default)]
struct Entry {
    /// How often a node came in under this index: tells a node from a later one of the same index.
    incarnation: u32,
    /// None once the node has left.
    place: Option<Place>,
}

#[derive(Debug, Clone)]
struct Place {
    locality: Locality,
    datacenter: usize,
}

/// The nodes of one datacenter, with those of each rack once more.
#[derive(Debug, Clone)]
pub struct Datacenter {
    name: Arc<str>,
    nodes: Vec<NodeIndex>,
    racks: Vec<Rack>,
}

/// The nodes of one rack of a datacenter, and those that are not in it.
#[derive(Debug, Clone)]
pub struct Rack {
    name: Arc<str>,
    nodes: Vec<NodeIndex>,
    others: Vec<NodeIndex>,
}

impl Topology {
    /// A topology without nodes.
    pub fn new() -> Self {
        Self::default()
    }

    /// A topology without nodes whose datacenters are listed in a given order.
    ///
    /// Policies that go on to remote datacenters visit them in the order of this list; those that
    /// are not in it follow in the order in which their first node was inserted.
    pub fn with_datacenters<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut topology = Self::new();
        for name in names {
            topology.find_or_add(name);
        }
        topology
    }

    /// Puts a node in. One that is in already stays where it is in the lists, unless its locality
    /// is another one: then it leaves and comes anew.
    pub fn insert(&mut self, node: NodeIndex, locality: Locality) {
        if let Some(place) = self.place(node) {
            if place.locality == locality {
                return;
            }
            self.remove(node);
        }
        let datacenter = self.find_or_add(locality.datacenter_name());
        self.datacenters[datacenter].insert(node, locality.rack_name());
        self.nodes.push(node);
        if self.entries.len() <= node.get() {
            self.entries.resize_with(node.get() + 1, Entry::default);
        }
        let entry = &mut self.entries[node.get()];
        entry.incarnation = entry.incarnation.wrapping_add(1);
        entry.place = Some(Place {
            locality,
            datacenter,
        });
    }

    /// Takes a node out, and says whether it was in.
    pub fn remove(&mut self, node: NodeIndex) -> bool {
        self.remove_all(&[node]) == 1
    }

    /// Takes nodes out, all at once: each list is gone over once. Returns how many were in.
    pub fn remove_all(&mut self, nodes: &[NodeIndex]) -> usize {
        let before = self.nodes.len();
        let mut datacenters = vec![false; self.datacenters.len()];
        for node in nodes {
            let entry = self.entries.get_mut(node.get());
            if let Some(place) = entry.and_then(|entry| entry.place.take()) {
                datacenters[place.datacenter] = true;
            }
        }
        let entries = &self.entries;
        let stays = |node: &NodeIndex| entries[node.get()].place.is_some();
        for (datacenter, loses) in self.datacenters.iter_mut().zip(datacenters) {
            if loses {
                datacenter.retain(stays);
            }
        }
        self.nodes.retain(stays);
        before - self.nodes.len()
    }

    /// Links this topology to the one that replaces it. Only the first call has an effect.
    ///
    /// An open plan keeps the nodes it began with, but a plan that reaches a further datacenter
    /// takes the nodes that are there by then.
    pub fn succeed(&self, successor: Arc<Topology>) {
        // Setting it twice would mean two histories; the first one stands.
        let _ = self.successor.set(successor);
    }

    /// The newest topology that this one is linked to, or itself.
    pub fn latest(&self) -> &Topology {
        let mut latest = self;
        while let Some(next) = latest.successor.get() {
            latest = next;
        }
        latest
    }

    /// All nodes.
    #[inline]
    pub fn nodes(&self) -> &[NodeIndex] {
        &self.nodes
    }

    /// All datacenters, those that have become empty too.
    #[inline]
    pub fn datacenters(&self) -> &[Datacenter] {
        &self.datacenters
    }

    /// The datacenter of that name.
    #[inline]
    pub fn datacenter(&self, name: &str) -> Option<&Datacenter> {
        self.datacenters
            .iter()
            .find(|datacenter| *datacenter.name == *name)
    }

    /// Whether the node is in.
    #[inline]
    pub fn contains(&self, node: NodeIndex) -> bool {
        self.place(node).is_some()
    }

    /// Where the node is, if it is in.
    pub fn locality(&self, node: NodeIndex) -> Option<&Locality> {
        self.place(node).map(|place| &place.locality)
    }

    /// Which of [`Topology::datacenters`] the node is in.
    #[inline]
    pub(crate) fn datacenter_of(&self, node: NodeIndex) -> Option<usize> {
        self.place(node).map(|place| place.datacenter)
    }

    /// Which node of this index it is, counted from the first that came in; 0 if none ever did.
    pub(crate) fn incarnation(&self, node: NodeIndex) -> u32 {
        self.entries
            .get(node.get())
            .map_or(0, |entry| entry.incarnation)
    }

    #[inline]
    fn place(&self, node: NodeIndex) -> Option<&Place> {
        self.entries.get(node.get())?.place.as_ref()
    }

    fn find_or_add(&mut self, name: &str) -> usize {
        let known = self.datacenters.iter().position(|dc| *dc.name == *name);
        known.unwrap_or_else(|| {
            self.datacenters.push(Datacenter {
                name: name.into(),
                nodes: Vec::new(),
                racks: Vec::new(),
            });
            self.datacenters.len() - 1
        })
    }
}

impl Clone for Topology {
    /// The same nodes, linked to no successor.
    fn clone(&self) -> Self {
        Self {
            nodes: self.nodes.clone(),
            entries: self.entries.clone(),
            datacenters: self.datacenters.clone(),
            successor: OnceLock::new(),
        }
    }
}

impl Drop for Topology {
    /// Lets go of the successors one by one: dropped in one another they could exhaust the stack.
    fn drop(&mut self) {
        let mut next = self.successor.take();
        while let Some(mut successor) = next.and_then(Arc::into_inner) {
            next = successor.successor.take();
        }
    }
}

impl Datacenter {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its nodes, those of all racks and of none.
    #[inline]
    pub fn nodes(&self) -> &[NodeIndex] {
        &self.nodes
    }

    /// The rack of that name.
    #[inline]
    pub fn rack(&self, name: &str) -> Option<&Rack> {
        self.racks.iter().find(|rack| *rack.name == *name)
    }

    fn insert(&mut self, node: NodeIndex, rack: Option<&str>) {
        if let Some(name) = rack
            && self.rack(name).is_none()
        {
            self.racks.push(Rack {
                name: name.into(),
                nodes: Vec::new(),
                others: self.nodes.clone(),
            });
        }
        self.nodes.push(node);
        for known in &mut self.racks {
            if rack == Some(&known.name) {
                known.nodes.push(node);
            } else {
                known.others.push(node);
            }
        }
    }

    fn retain(&mut self, stays: impl Fn(&NodeIndex) -> bool) {
        self.nodes.retain(&stays);
        for rack in &mut self.racks {
            rack.nodes.retain(&stays);
            rack.others.retain(&stays);
        }
    }
}

impl Rack {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its nodes.
    #[inline]
    pub fn nodes(&self) -> &[NodeIndex] {
        &self.nodes
    }

    /// The other nodes of its datacenter.
    #[inline]
    pub fn others(&self) -> &[NodeIndex] {
        &self.others
    }
}

#[cfg(test)]
mod tests;
