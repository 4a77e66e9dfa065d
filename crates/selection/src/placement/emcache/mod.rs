//! The placement of emcache, a Python client: rendezvous hashing with a hash of its own.
//!
//! Derived from the behaviour of version 1.3.3: a node's score is a 32-bit fold of the murmur3
//! hash of the key followed by the node's id; ties go to the node whose id alone hashes higher,
//! full ties to the node that was listed first.

mod id;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::HashSet;
use std::sync::Arc;

use crate::hash::murmur3::{Murmur3, Word, words};
use crate::{Error, Member, NodeIndex, Scheme};

/// All members, in the order of the list.
#[derive(Debug, Clone)]
pub(super) struct Emcache {
    scheme: Scheme,
    fold: Fold,
    nodes: Vec<Node>,
}

#[derive(Debug, Clone)]
struct Node {
    index: NodeIndex,
    id: Arc<[Word]>,
    /// The fold of the id's own hash, which decides ties.
    hash: u32,
    active: bool,
}

/// How emcache makes 32 bits of 64. It reads single bytes as C's `char` and widens them, so what
/// comes out depends on whether `char` is signed: a byte of 128 or more sets all bits above it.
#[derive(Debug, Clone, Copy)]
enum Fold {
    SignedChar,
    UnsignedChar,
}

impl Emcache {
    /// Where C's `char` is signed: x86-64, macOS.
    pub(super) fn signed() -> Self {
        Self::new(Scheme::Emcache, Fold::SignedChar)
    }

    /// Where C's `char` is unsigned: Linux on aarch64.
    pub(super) fn unsigned() -> Self {
        Self::new(Scheme::EmcacheAarch64, Fold::UnsignedChar)
    }

    fn new(scheme: Scheme, fold: Fold) -> Self {
        Self {
            scheme,
            fold,
            nodes: Vec::new(),
        }
    }

    /// Adds nodes at the end of the list. Fails if emcache could not have one of them, and then adds
    /// none.
    pub(super) fn insert(&mut self, come: &[(NodeIndex, &Member)]) -> Result<(), Error> {
        let nodes: Result<Vec<_>, Error> = come
            .iter()
            .map(|(index, member)| self.node(*index, member))
            .collect();
        self.nodes.extend(nodes?);
        Ok(())
    }

    fn node(&self, index: NodeIndex, member: &Member) -> Result<Node, Error> {
        if member.weight() != 1 {
            let scheme = self.scheme.name();
            return Err(Error::unsupported_weight(
                member.name(),
                member.weight(),
                scheme,
            ));
        }
        let id: Arc<[Word]> = words(id::of(member.name())?.as_bytes()).collect();
        let hash = self.fold.score(&Murmur3::default(), &id);
        Ok(Node {
            index,
            id,
            hash,
            active: true,
        })
    }

    pub(super) fn remove(&mut self, gone: &[NodeIndex]) {
        let gone: HashSet<_> = gone.iter().collect();
        self.nodes.retain(|node| !gone.contains(&node.index));
    }

    /// Lets nodes take part or not; their places in the list stay.
    pub(super) fn set_active(&mut self, indices: &[NodeIndex], active: bool) {
        let indices: HashSet<_> = indices.iter().collect();
        for node in &mut self.nodes {
            if indices.contains(&node.index) {
                node.active = active;
            }
        }
    }

    pub(super) fn owner(&self, key: &[u8]) -> Option<NodeIndex> {
        let mut best = None;
        for (rank, index) in self.ranked(key) {
            if best.is_none_or(|(highest, _)| rank > highest) {
                best = Some((rank, index));
            }
        }
        best.map(|(_, index)| index)
    }

    /// The best nodes, best first, as many as there is room for; returns how many there are.
    pub(super) fn best(&self, key: &[u8], out: &mut [NodeIndex]) -> usize {
        let mut ranked: Vec<_> = self.ranked(key).collect();
        ranked.sort_by_key(|(rank, _)| Reverse(*rank));
        for (out, (_, index)) in out.iter_mut().zip(&ranked) {
            *out = *index;
        }
        out.len().min(ranked.len())
    }

    /// The active nodes in the order of the list, each with its score and its own hash.
    fn ranked(&self, key: &[u8]) -> impl Iterator<Item = ((u32, u32), NodeIndex)> {
        let mut state = Murmur3::default();
        state.update(words(key));
        let active = self.nodes.iter().filter(|node| node.active);
        active.map(move |node| ((self.fold.score(&state, &node.id), node.hash), node.index))
    }
}

impl Fold {
    /// The fold of what has been hashed so far, followed by a node's id.
    fn score(self, before: &Murmur3, id: &[Word]) -> u32 {
        let mut state = before.clone();
        state.update(id.iter().copied());
        self.apply(state.first_half())
    }

    fn apply(self, hash: u64) -> u32 {
        let [b0, b1, b2, b3, ..] = hash.to_le_bytes();
        let sign_bits = match self {
            Self::SignedChar if b0 >= 0x80 || b1 >= 0x80 => 0xffff_ff00,
            Self::SignedChar if b2 >= 0x80 => 0xffff_0000,
            Self::SignedChar if b3 >= 0x80 => 0xff00_0000,
            Self::SignedChar | Self::UnsignedChar => 0,
        };
        sign_bits | u32::from(b0)
    }
}
