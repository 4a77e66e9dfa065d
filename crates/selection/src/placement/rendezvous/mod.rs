//! Rendezvous hashing, exact: every node is scored, the highest score wins.
//!
//! Thaler and Ravishankar, "Using name-based mappings to increase hit rates", IEEE/ACM
//! Transactions on Networking 6(1), 1998. A node of weight w takes part under w virtual ids, which
//! keeps scores integers and so the same on every machine; the weighted variants with logarithms
//! depend on the last bit of a maths library.

#[cfg(test)]
mod tests;

use std::cmp::Reverse;

use crate::{Member, NodeIndex, hash};

/// How many virtual ids are scored before their best is compared with the best so far.
const BLOCK: usize = 64;

/// How many maxima a block is reduced to first. Independent of each other, they keep a scalar
/// processor's pipelines full, and are a vector where the target has 64-bit vector multiplication.
const LANES: usize = 8;

/// The most nodes that [`Rendezvous::best`] ranks without allocating.
pub(super) const MAX_UNALLOCATED: usize = 16;

/// The virtual ids of the active nodes. Their order means nothing: scores never tie.
#[derive(Debug, Clone, Default)]
pub(super) struct Rendezvous {
    /// The hashes of all virtual ids, those of a node together.
    virtual_ids: Vec<u64>,
    /// Whose each virtual id is.
    owners: Vec<NodeIndex>,
    /// The virtual ids of a node, by its index.
    nodes: Vec<Ids>,
    active: usize,
}

/// The virtual ids of one node; none for a node that is not active.
#[derive(Debug, Clone, Copy, Default)]
struct Ids {
    /// The first of them, held here so that a node of weight 1 is scored with one load.
    first: u64,
    start: u32,
    len: u32,
}

impl Rendezvous {
    /// Adds nodes, which must not be there yet.
    pub(super) fn insert(&mut self, come: &[(NodeIndex, &Member)]) {
        for (index, member) in come {
            if self.nodes.len() <= index.get() {
                self.nodes.resize(index.get() + 1, Ids::default());
            }
            let start = self.virtual_ids.len();
            self.virtual_ids
                .extend(hash::virtual_ids(member.name(), member.weight()));
            self.owners.resize(self.virtual_ids.len(), *index);
            self.nodes[index.get()] = Ids {
                first: self.virtual_ids[start],
                start: u32::try_from(start).expect("weights add up to 2^20 at most"),
                len: member.weight(),
            };
        }
        self.active += come.len();
    }

    /// Takes nodes out, those of them that are there.
    pub(super) fn remove(&mut self, gone: &[NodeIndex]) {
        for index in gone {
            let ids = self.nodes.get_mut(index.get()).map(std::mem::take);
            self.active -= usize::from(ids.is_some_and(|ids| ids.len > 0));
        }
        let virtual_ids = std::mem::take(&mut self.virtual_ids);
        let owners = std::mem::take(&mut self.owners);
        let mut rest = &*virtual_ids;
        for run in owners.chunk_by(|a, b| a == b) {
            let (ids, after) = rest.split_at(run.len());
            rest = after;
            if self.contains(run[0]) {
                self.nodes[run[0].get()].start =
                    u32::try_from(self.owners.len()).expect("weights add up to 2^20 at most");
                self.virtual_ids.extend_from_slice(ids);
                self.owners.extend_from_slice(run);
            }
        }
    }

    /// Whether the node is there.
    #[inline]
    pub(super) fn contains(&self, index: NodeIndex) -> bool {
        self.nodes.get(index.get()).is_some_and(|ids| ids.len > 0)
    }

    /// How many nodes there are.
    pub(super) fn len(&self) -> usize {
        self.active
    }

    /// The score of a node that is there: the best of its virtual ids.
    #[inline]
    pub(super) fn score(&self, index: NodeIndex, hash: u64) -> u64 {
        let ids = self.nodes[index.get()];
        let first = hash::score(hash, ids.first);
        if ids.len == 1 {
            return first;
        }
        let scores = self.virtual_ids[ids.range()]
            .iter()
            .map(|id| hash::score(hash, *id));
        scores.fold(first, u64::max)
    }

    /// The node with the highest score.
    pub(super) fn owner(&self, hash: u64) -> Option<NodeIndex> {
        let (blocks, rest) = self.virtual_ids.as_chunks();
        let mut best = 0;
        let mut position = 0;
        for (number, block) in blocks.iter().enumerate() {
            let score = max_score(block, hash);
            if score > best {
                best = score;
                position = number * BLOCK;
            }
        }
        if let Some(block) = blocks.get(position / BLOCK) {
            position += block
                .iter()
                .take_while(|id| hash::score(hash, **id) != best)
                .count();
        }
        for (offset, id) in rest.iter().enumerate() {
            let score = hash::score(hash, *id);
            if score > best {
                best = score;
                position = blocks.len() * BLOCK + offset;
            }
        }
        self.owners.get(position).copied()
    }

    /// The nodes with the highest scores, best first, as many as there is room for; returns how
    /// many there are.
    pub(super) fn best(&self, hash: u64, out: &mut [NodeIndex]) -> usize {
        if out.len() > MAX_UNALLOCATED {
            return self.best_of_all(hash, out);
        }
        let last = match out {
            [] => return 0,
            [best] => {
                let owner = self.owner(hash);
                *best = owner.unwrap_or(*best);
                return usize::from(owner.is_some());
            }
            [.., _] => out.len() - 1,
        };
        let mut scores = [0; MAX_UNALLOCATED];
        let mut len = 0;
        for (ids, owners) in self
            .virtual_ids
            .chunks(BLOCK)
            .zip(self.owners.chunks(BLOCK))
        {
            let beaten = |block| max_score(block, hash) <= scores[last];
            if len > last && ids.try_into().is_ok_and(beaten) {
                continue;
            }
            for (id, owner) in ids.iter().zip(owners) {
                let score = hash::score(hash, *id);
                if len > last && score <= scores[last] {
                    continue;
                }
                let known = out[..len].iter().position(|node| node == owner);
                let mut rank = match known {
                    Some(rank) if scores[rank] > score => continue,
                    Some(rank) => rank,
                    None => {
                        len = out.len().min(len + 1);
                        len - 1
                    }
                };
                while rank > 0 && scores[rank - 1] < score {
                    scores[rank] = scores[rank - 1];
                    out[rank] = out[rank - 1];
                    rank -= 1;
                }
                scores[rank] = score;
                out[rank] = *owner;
            }
        }
        len
    }

    /// The same for any number of nodes: scores and sorts them all.
    fn best_of_all(&self, hash: u64, out: &mut [NodeIndex]) -> usize {
        let mut scored: Vec<_> = (self.owners.chunk_by(|a, b| a == b))
            .map(|owners| (self.score(owners[0], hash), owners[0]))
            .collect();
        scored.sort_unstable_by_key(|(score, _)| Reverse(*score));
        for (out, (_, node)) in out.iter_mut().zip(&scored) {
            *out = *node;
        }
        out.len().min(scored.len())
    }
}

impl Ids {
    #[inline]
    fn range(self) -> std::ops::Range<usize> {
        let start = self.start as usize;
        start..start + self.len as usize
    }
}

/// The highest score of a block of virtual ids.
#[inline]
fn max_score(block: &[u64; BLOCK], hash: u64) -> u64 {
    let mut best = [0; LANES];
    let (rows, _) = block.as_chunks::<LANES>();
    for row in rows {
        for (best, id) in best.iter_mut().zip(row) {
            *best = (*best).max(hash::score(hash, *id));
        }
    }
    best.into_iter().fold(0, u64::max)
}
