//! Rendezvous hashing as other clients have it: every node is scored for the key, the highest score
//! wins, and of equal ones the last.

use std::cmp::Reverse;

use super::mcrouter::Rendezvous;
use super::memcachio::Memcachio;
use super::pymemcache::Pymemcache;
use crate::NodeIndex;

/// The active nodes, in the order that decides ties.
#[derive(Debug, Clone)]
pub(super) enum Scores {
    Mcrouter(Rendezvous),
    Memcachio(Memcachio),
    Pymemcache(Pymemcache),
}

impl Scores {
    pub(super) fn owner(&self, key: &[u8]) -> Option<NodeIndex> {
        let mut best = None;
        self.each(key, |score, index| {
            if best.is_none_or(|(highest, _)| score >= highest) {
                best = Some((score, index));
            }
        });
        best.map(|(_, index)| index)
    }

    /// The best nodes, best first, as many as there is room for; returns how many there are.
    pub(super) fn best(&self, key: &[u8], out: &mut [NodeIndex]) -> usize {
        let mut scored = Vec::new();
        self.each(key, |score, index| scored.push((score, index)));
        scored.reverse();
        scored.sort_by_key(|(score, _)| Reverse(*score));
        for (out, (_, index)) in out.iter_mut().zip(&scored) {
            *out = *index;
        }
        out.len().min(scored.len())
    }

    /// Tells the score of each node.
    #[inline]
    fn each(&self, key: &[u8], visit: impl FnMut(u128, NodeIndex)) {
        match self {
            Self::Mcrouter(nodes) => nodes.each(key, visit),
            Self::Memcachio(nodes) => nodes.each(key, visit),
            Self::Pymemcache(nodes) => nodes.each(key, visit),
        }
    }
}
