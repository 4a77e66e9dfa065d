//! Who is at an address.
//!
//! A listener is told the address that an attempt is sent to, after any translation, and a policy the
//! node that has answered. Both together say whose address it is, again with each answer: an address
//! may pass from one node to another.

use std::collections::HashMap;
use std::net::SocketAddr;

use arc_swap::ArcSwap;
use uuid::Uuid;

/// The addresses that are remembered at most. A node has one or two, unless each connection is
/// translated to another.
const MOST: usize = 1 << 14;

#[derive(Debug, Default)]
pub(super) struct Addresses {
    hosts: ArcSwap<HashMap<SocketAddr, Uuid>>,
}

impl Addresses {
    /// Who has answered from there.
    #[inline]
    pub(super) fn find(&self, address: SocketAddr) -> Option<Uuid> {
        self.hosts.load().get(&address).copied()
    }

    /// A node has answered from there.
    #[inline]
    pub(super) fn learn(
        &self,
        address: SocketAddr,
        host_id: Uuid,
        is_member: impl Fn(Uuid) -> bool,
    ) {
        if self.find(address) != Some(host_id) {
            self.enter(address, host_id, is_member);
        }
    }

    /// Nodes that left the cluster are forgotten with the next that is learnt.
    #[cold]
    fn enter(&self, address: SocketAddr, host_id: Uuid, is_member: impl Fn(Uuid) -> bool) {
        self.hosts.rcu(|before| {
            let kept = before.iter().filter(|&(_, &host_id)| is_member(host_id));
            let mut after: HashMap<_, _> = kept.map(|(&address, &host)| (address, host)).collect();
            if after.len() >= MOST {
                after.clear();
            }
            after.insert(address, host_id);
            after
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(port: u16) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], port))
    }

    #[test]
    fn an_address_is_of_the_node_that_answered_last() {
        let addresses = Addresses::default();
        let [a, b] = [1, 2].map(Uuid::from_u128);
        assert_eq!(addresses.find(address(1)), None);
        addresses.learn(address(1), a, |_| true);
        addresses.learn(address(2), a, |_| true);
        assert_eq!(addresses.find(address(2)), Some(a));
        addresses.learn(address(2), b, |_| true);
        assert_eq!(addresses.find(address(1)), Some(a));
        assert_eq!(addresses.find(address(2)), Some(b));
    }

    #[test]
    fn nodes_that_left_and_addresses_without_end_are_forgotten() {
        let addresses = Addresses::default();
        let [a, b] = [1, 2].map(Uuid::from_u128);
        addresses.learn(address(1), a, |_| true);
        addresses.learn(address(2), b, |host| host == b);
        assert_eq!(addresses.find(address(1)), None);
        let all: HashMap<_, _> = (0..MOST)
            .map(|number| {
                let [_, .., high, low] = number.to_be_bytes();
                (SocketAddr::from(([10, 0, high, low], 9042)), b)
            })
            .collect();
        addresses.hosts.store(all.into());
        addresses.learn(address(3), b, |_| true);
        assert_eq!(addresses.hosts.load().len(), 1);
        assert_eq!(addresses.find(address(3)), Some(b));
    }
}
