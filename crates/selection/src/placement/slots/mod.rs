//! Rendezvous hashing of slots instead of keys: a lookup is one load.
//!
//! Keys fall into slots by the first bits of their hash. Each slot has a hash of its own and goes
//! to the node that scores highest for it, so the table follows from the members alone, and a
//! change of members changes only the entries that name a node that came or went.

#[cfg(all(test, loom))]
mod models;
#[cfg(all(test, not(loom)))]
mod tests;

use super::rendezvous::{MAX_UNALLOCATED, Rendezvous};
use crate::sync::atomic::{AtomicU16, Ordering};
use crate::{Member, NodeIndex, hash};

/// The most replicas that a slot can hold.
pub(super) const MAX_REPLICAS: usize = MAX_UNALLOCATED;

/// As many nodes enter a table in place. For each of them every slot has to be looked at, while a slot
/// that is computed again, when a key next falls in it, costs each node a look: the more nodes come
/// the less there is to save, and the longer the change would take.
const FEW: usize = 16;

/// The table of the slots' best nodes.
///
/// Entries are filled when first asked for, by any number of threads at once. Relaxed order is
/// enough: an entry is a function of the members, so all writers store the same value, and members
/// change only under exclusive access.
#[derive(Debug)]
pub(super) struct Slots {
    nodes: Rendezvous,
    /// `replicas` entries a slot, best first; only the first [`Slots::depth`] are used.
    entries: Box<[Entry]>,
    bits: u8,
    replicas: usize,
}

impl Slots {
    /// An empty table: `bits` of 8 to 24, `replicas` of 1 to [`MAX_REPLICAS`].
    pub(super) fn new(nodes: Rendezvous, bits: u8, replicas: usize) -> Self {
        Self {
            nodes,
            entries: (0..replicas << bits).map(|_| Entry::empty()).collect(),
            bits,
            replicas,
        }
    }

    /// The best node for a key.
    #[inline]
    pub(super) fn owner(&self, key_hash: u64) -> Option<NodeIndex> {
        let slot = self.slot(key_hash);
        match self.entries[slot * self.replicas].load() {
            Some(owner) => Some(owner),
            None => self.compute(slot),
        }
    }

    /// The best nodes for a key, as many as there is room for; returns how many there are.
    pub(super) fn best(&self, key_hash: u64, out: &mut [NodeIndex]) -> usize {
        let slot = self.slot(key_hash);
        if out.len() > self.replicas {
            return self.nodes.best(hash::slot(slot as u64), out);
        }
        let wanted = out.len().min(self.depth());
        let out = &mut out[..wanted];
        if !self.read(slot, out) {
            self.compute(slot);
            self.read(slot, out);
        }
        wanted
    }

    /// Computes every entry that nobody has asked for yet.
    pub(super) fn fill(&self) {
        let mut known = [NodeIndex::default(); MAX_REPLICAS];
        let known = &mut known[..self.depth()];
        for slot in 0..1 << self.bits {
            if !self.read(slot, known) {
                self.compute(slot);
            }
        }
    }

    /// Adds nodes. A few enter the slots where they beat a node that is there; for many, the whole
    /// table is left to be computed again.
    pub(super) fn insert(&mut self, come: &[(NodeIndex, &Member)]) {
        let before = self.depth();
        self.nodes.insert(come);
        if come.len() > FEW {
            self.entries.fill_with(Entry::empty);
            return;
        }
        let nodes = &self.nodes;
        for (slot, entries) in self.entries.chunks_exact_mut(self.replicas).enumerate() {
            let (known, _) = entries.split_at(before);
            if known.last().and_then(Entry::load).is_none() {
                continue;
            }
            let hash = hash::slot(slot as u64);
            let mut held = before;
            for (index, _) in come {
                held = enter(entries, held, *index, |node| nodes.score(node, hash));
            }
        }
    }

    /// Takes nodes out. The slots that they were in are left to be computed again.
    pub(super) fn remove(&mut self, gone: &[NodeIndex]) {
        self.nodes.remove(gone);
        let is_gone = |entry: &Entry| entry.load().is_some_and(|node| !self.nodes.contains(node));
        for entries in self.entries.chunks_exact_mut(self.replicas) {
            if entries.iter().any(is_gone) {
                entries.fill_with(Entry::empty);
            }
        }
    }

    /// How many nodes a slot names.
    fn depth(&self) -> usize {
        self.replicas.min(self.nodes.len())
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "24 bits are left at most")]
    fn slot(&self, key_hash: u64) -> usize {
        (key_hash >> (64 - u32::from(self.bits))) as usize
    }

    /// Copies the first entries of a slot; false if one of them is empty.
    fn read(&self, slot: usize, out: &mut [NodeIndex]) -> bool {
        let entries = &self.entries[slot * self.replicas..];
        out.iter_mut().zip(entries).all(|(out, entry)| {
            let held = entry.load();
            *out = held.unwrap_or_default();
            held.is_some()
        })
    }

    /// Computes the entries of a slot; returns the first.
    #[cold]
    fn compute(&self, slot: usize) -> Option<NodeIndex> {
        let mut best = [NodeIndex::default(); MAX_REPLICAS];
        let best = &mut best[..self.depth()];
        self.nodes.best(hash::slot(slot as u64), best);
        for (entry, node) in self.entries[slot * self.replicas..].iter().zip(&*best) {
            entry.store(*node);
        }
        best.first().copied()
    }
}

/// Puts a node among the first `held` entries of a slot, which are known, where its score ranks it.
/// Returns how many are held then: one more if there was room.
fn enter(
    entries: &mut [Entry],
    held: usize,
    node: NodeIndex,
    score: impl Fn(NodeIndex) -> u64,
) -> usize {
    let after = entries.len().min(held + 1);
    let own = score(node);
    let beats = |entry: &Entry| entry.load().is_none_or(|other| score(other) < own);
    if after == held && !beats(&entries[held - 1]) {
        return held;
    }
    let rank = entries[..held].partition_point(|entry| !beats(entry));
    entries[rank..after].rotate_right(1);
    entries[rank] = Entry::holding(node);
    after
}

impl Clone for Slots {
    /// Copies the entries that are known. Of a slot that another thread is just computing it may
    /// see a part; the clone starts without any of it, so that changes find slots whole or empty.
    fn clone(&self) -> Self {
        let mut clone = Self {
            nodes: self.nodes.clone(),
            entries: self.entries.clone(),
            ..*self
        };
        let depth = clone.depth();
        if depth > 1 {
            for entries in clone.entries.chunks_exact_mut(self.replicas) {
                if entries[..depth].iter().any(|entry| entry.load().is_none()) {
                    entries.fill_with(Entry::empty);
                }
            }
        }
        clone
    }
}

/// The index of a node, or `u16::MAX` for one that nobody has computed yet.
#[derive(Debug)]
struct Entry(AtomicU16);

impl Entry {
    fn empty() -> Self {
        Self(AtomicU16::new(u16::MAX))
    }

    fn holding(node: NodeIndex) -> Self {
        Self(AtomicU16::new(node.to_slot()))
    }

    #[inline]
    fn load(&self) -> Option<NodeIndex> {
        NodeIndex::from_slot(self.0.load(Ordering::Relaxed))
    }

    fn store(&self, node: NodeIndex) {
        self.0.store(node.to_slot(), Ordering::Relaxed);
    }
}

impl Clone for Entry {
    #[inline]
    fn clone(&self) -> Self {
        Self(AtomicU16::new(self.0.load(Ordering::Relaxed)))
    }
}
