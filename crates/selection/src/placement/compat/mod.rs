//! The placements of other clients. A module for each client says what is hashed and how; how the
//! hash finds a node is shared: a [`ring`] of points, a [`list`] that is indexed, or [`scores`] of
//! which the highest wins.
//!
//! A change of members makes the table of the members that are active afresh, as the clients do.

mod dalli;
mod gomemcache;
mod ketama;
mod libmemcached;
mod list;
mod mcrouter;
mod memcachio;
mod pymemcache;
mod ring;
mod scores;
mod spymemcached;
mod twemproxy;
mod uhashring;

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::sync::Arc;

use self::list::List;
use self::ring::Ring;
use self::scores::Scores;
use super::address::Address;
use crate::{Compat, Error, Member, NodeIndex, Scheme};

/// The members of a placement as another client has them.
#[derive(Debug, Clone)]
pub(super) struct Compatible {
    scheme: Compat,
    /// All members, in the order of the list.
    nodes: Vec<Node>,
    table: Table,
}

/// A member.
#[derive(Debug, Clone)]
struct Node {
    index: NodeIndex,
    /// What is hashed of its name.
    text: Arc<str>,
    weight: u32,
    active: bool,
}

/// How keys find the active nodes.
#[derive(Debug, Clone)]
enum Table {
    Ring(Ring<u32>),
    WideRing(Ring<u128>),
    List(List),
    Scores(Scores),
}

impl Compatible {
    pub(super) fn new(scheme: Compat) -> Self {
        Self {
            scheme,
            nodes: Vec::new(),
            table: table(scheme, &[]),
        }
    }

    /// Adds nodes at the end of the list, active. Fails if the client could not have one of them, and
    /// then adds none.
    pub(super) fn insert(&mut self, come: &[(NodeIndex, &Member)]) -> Result<(), Error> {
        let mut total = self.nodes.iter().map(|node| u64::from(node.weight)).sum();
        let nodes: Result<Vec<_>, Error> = come
            .iter()
            .map(|(index, member)| self.node(*index, member, &mut total))
            .collect();
        self.nodes.extend(nodes?);
        self.make_table();
        Ok(())
    }

    /// A node beside others with these weights in all.
    fn node(&self, index: NodeIndex, member: &Member, total: &mut u64) -> Result<Node, Error> {
        let (name, weight) = (member.name(), member.weight());
        let text = text(self.scheme, name)?;
        *total += u64::from(weight);
        match most_weight(self.scheme) {
            None if weight != 1 => {
                let scheme = Scheme::Compat(self.scheme).to_string();
                Err(Error::unsupported_weight(name, weight, &scheme))
            }
            Some(most) if *total > most as u64 => Err(Error::weights_too_large(name, weight, most)),
            _ => Ok(Node {
                index,
                text: text.into(),
                weight,
                active: true,
            }),
        }
    }

    pub(super) fn remove(&mut self, gone: &[NodeIndex]) {
        let gone: HashSet<_> = gone.iter().collect();
        self.nodes.retain(|node| !gone.contains(&node.index));
        self.make_table();
    }

    /// Lets nodes take part or not; their places in the list stay.
    pub(super) fn set_active(&mut self, indices: &[NodeIndex], active: bool) {
        let indices: HashSet<_> = indices.iter().collect();
        for node in &mut self.nodes {
            if indices.contains(&node.index) {
                node.active = active;
            }
        }
        self.make_table();
    }

    fn make_table(&mut self) {
        self.table = table(self.scheme, &self.nodes);
    }

    #[inline]
    pub(super) fn owner(&self, key: &[u8]) -> Option<NodeIndex> {
        match &self.table {
            Table::Ring(ring) => ring.owner(key),
            Table::WideRing(ring) => ring.owner(key),
            Table::List(list) => list.owner(key),
            Table::Scores(scores) => scores.owner(key),
        }
    }

    /// The best nodes, best first, as many as there is room for; returns how many there are.
    pub(super) fn best(&self, key: &[u8], out: &mut [NodeIndex]) -> usize {
        match &self.table {
            Table::Ring(ring) => ring.best(key, out),
            Table::WideRing(ring) => ring.best(key, out),
            Table::List(list) => list.best(key, out),
            Table::Scores(scores) => scores.best(key, out),
        }
    }
}

/// What a client hashes of a node that is named as its users write it.
fn text(scheme: Compat, name: &str) -> Result<String, Error> {
    match scheme {
        Compat::LibmemcachedModula(_)
        | Compat::LibmemcachedKetama(_)
        | Compat::LibmemcachedKetamaWeighted(_) => libmemcached::text(name),
        Compat::LibmemcachedKetamaSpy(_) | Compat::LibmemcachedKetamaWeightedSpy(_) => {
            libmemcached::spy_text(name)
        }
        Compat::TwemproxyKetama(_) | Compat::TwemproxyModula(_) => twemproxy::text(name),
        Compat::SpymemcachedKetama(names) => spymemcached::text(names, name),
        Compat::Uhashring(_) | Compat::McrouterRendezvous(_) => as_written(name),
        Compat::Memcachio => memcachio::text(name),
        Compat::SpymemcachedModula(_)
        | Compat::Pymemcache(_)
        | Compat::Dalli
        | Compat::Gomemcache
        | Compat::McrouterCh3
        | Compat::McrouterCrc32 => host_and_port(name),
    }
}

/// `host:port`, the port always with it, or a socket's path.
fn host_and_port(name: &str) -> Result<String, Error> {
    Ok(match Address::of(name)? {
        Address::Tcp { host, port } => format!("{host}:{port}"),
        Address::Unix { path } => path.to_owned(),
    })
}

/// The same, with the brackets of an IPv6 address if it is written with them.
fn as_written(name: &str) -> Result<String, Error> {
    match Address::of(name)? {
        Address::Tcp { host, port } if name.starts_with('[') => Ok(format!("[{host}]:{port}")),
        _ => host_and_port(name),
    }
}

/// The most that weights may add up to; `None` for a client without weights.
fn most_weight(scheme: Compat) -> Option<usize> {
    match scheme {
        Compat::LibmemcachedModula(_)
        | Compat::LibmemcachedKetama(_)
        | Compat::LibmemcachedKetamaSpy(_)
        | Compat::LibmemcachedKetamaWeighted(_)
        | Compat::LibmemcachedKetamaWeightedSpy(_)
        | Compat::TwemproxyKetama(_)
        | Compat::TwemproxyModula(_)
        | Compat::SpymemcachedKetama(_)
        | Compat::Dalli
        | Compat::McrouterRendezvous(_) => Some(super::roster::MAX_TOTAL_WEIGHT),
        Compat::Uhashring(ring) => Some(uhashring::most_weight(ring)),
        Compat::SpymemcachedModula(_)
        | Compat::Pymemcache(_)
        | Compat::Gomemcache
        | Compat::McrouterCh3
        | Compat::McrouterCrc32
        | Compat::Memcachio => None,
    }
}

fn table(scheme: Compat, nodes: &[Node]) -> Table {
    match scheme {
        Compat::LibmemcachedModula(hash) => Table::List(libmemcached::list(hash, nodes)),
        Compat::LibmemcachedKetama(hash) | Compat::LibmemcachedKetamaSpy(hash) => {
            Table::Ring(libmemcached::ring(hash, nodes))
        }
        Compat::LibmemcachedKetamaWeighted(hash) | Compat::LibmemcachedKetamaWeightedSpy(hash) => {
            Table::Ring(libmemcached::weighted_ring(hash, nodes))
        }
        Compat::TwemproxyKetama(hash) => Table::Ring(twemproxy::ring(hash, nodes)),
        Compat::TwemproxyModula(hash) => Table::List(twemproxy::list(hash, nodes)),
        Compat::SpymemcachedKetama(_) => Table::Ring(spymemcached::ring(nodes)),
        Compat::SpymemcachedModula(hash) => Table::List(spymemcached::list(hash, nodes)),
        Compat::Pymemcache(keys) => Table::Scores(pymemcache::scores(keys, nodes)),
        Compat::Uhashring(ring) => uhashring::table(ring, nodes),
        Compat::Dalli => Table::Ring(dalli::ring(nodes)),
        Compat::Gomemcache => Table::List(gomemcache::list(nodes)),
        Compat::McrouterCh3 => Table::List(mcrouter::ch3(nodes)),
        Compat::McrouterCrc32 => Table::List(mcrouter::crc32(nodes)),
        Compat::McrouterRendezvous(weights) => Table::Scores(mcrouter::scores(weights, nodes)),
        Compat::Memcachio => Table::Scores(memcachio::scores(nodes)),
    }
}

/// The nodes that take part.
fn active(nodes: &[Node]) -> impl DoubleEndedIterator<Item = &Node> {
    nodes.iter().filter(|node| node.active)
}

/// Whether the list has weights, those of inactive nodes included: they are configured still.
fn is_weighted(nodes: &[Node]) -> bool {
    nodes.iter().any(|node| node.weight > 1)
}
