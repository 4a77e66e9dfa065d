//! Rendezvous hashing, exact: every node is scored, the highest score wins.
//!
//! Thaler and Ravishankar, "Using name-based mappings to increase hit rates", IEEE/ACM
//! Transactions on Networking 6(1), 1998. A node of weight w takes part under w virtual ids, which
//! keeps scores integers and so the same on every machine; the weighted variants with logarithms
//! depend on the last bit of a maths library.

use crate::{Member, NodeIndex, hash};

/// How many virtual ids are scored before their best is compared with the best so far.
const BLOCK: usize = 64;

/// How many maxima a block is reduced to first. Independent of each other, they keep a scalar
/// processor's pipelines full, and are a vector where the target has 64-bit vector multiplication.
const LANES: usize = 8;

/// The virtual ids of the active nodes. Their order means nothing: scores never tie.
#[derive(Debug, Clone, Default)]
pub(super) struct Rendezvous {
    /// The hashes of all virtual ids, those of a node together.
    virtual_ids: Vec<u64>,
    /// Whose each virtual id is.
    owners: Vec<NodeIndex>,
    /// Where the virtual ids of a node are, by its index; empty for a node that is not active.
    spans: Vec<Span>,
    active: usize,
}

#[derive(Debug, Clone, Copy, Default)]
struct Span {
    start: u32,
    len: u32,
}

impl Rendezvous {
    /// Adds a node, which must not be there yet.
    pub(super) fn insert(&mut self, index: NodeIndex, member: &Member) {
        if self.spans.len() <= index.get() {
            self.spans.resize(index.get() + 1, Span::default());
        }
        let start = self.virtual_ids.len();
        self.virtual_ids
            .extend(hash::virtual_ids(member.name(), member.weight()));
        self.owners.resize(self.virtual_ids.len(), index);
        self.spans[index.get()] = Span {
            start: u32::try_from(start).expect("the sum of weights is at most 2^20"),
            len: member.weight(),
        };
        self.active += 1;
    }

    /// Takes a node out, if it is there.
    pub(super) fn remove(&mut self, index: NodeIndex) {
        let Some(span) = self.spans.get_mut(index.get()).map(std::mem::take) else {
            return;
        };
        if span.len == 0 {
            return;
        }
        self.virtual_ids.drain(span.range());
        self.owners.drain(span.range());
        for later in &mut self.spans {
            if later.start > span.start {
                later.start -= span.len;
            }
        }
        self.active -= 1;
    }

    /// How many nodes there are.
    pub(super) fn len(&self) -> usize {
        self.active
    }

    /// The score of a node that is there: the best of its virtual ids.
    #[inline]
    pub(super) fn score(&self, index: NodeIndex, hash: u64) -> u64 {
        let ids = &self.virtual_ids[self.spans[index.get()].range()];
        ids.iter()
            .fold(0, |best, id| best.max(hash::score(hash, *id)))
    }

    /// The node with the highest score.
    pub(super) fn owner(&self, hash: u64) -> Option<NodeIndex> {
        let mut best = 0;
        let mut best_block = 0;
        for (block, ids) in self.virtual_ids.chunks(BLOCK).enumerate() {
            let score = max_score(ids, hash);
            if score > best {
                best = score;
                best_block = block;
            }
        }
        let start = best_block * BLOCK;
        let ids = self.virtual_ids.iter().skip(start).take(BLOCK);
        let position = start
            + ids
                .into_iter()
                .position(|id| hash::score(hash, *id) == best)?;
        self.owners.get(position).copied()
    }

    /// The nodes with the highest scores, best first, as many as there is room for; returns how
    /// many there are.
    pub(super) fn best(&self, hash: u64, out: &mut [NodeIndex]) -> usize {
        let mut len = 0;
        // The score to beat, once `out` is full.
        let mut last = None;
        for (block, ids) in self.virtual_ids.chunks(BLOCK).enumerate() {
            if last.is_some_and(|last| max_score(ids, hash) <= last) {
                continue;
            }
            let owners = &self.owners[block * BLOCK..];
            for (id, owner) in ids.iter().zip(owners) {
                if last.is_some_and(|last| hash::score(hash, *id) <= last) {
                    continue;
                }
                len = self.enter(*owner, hash, out, len);
                if len == out.len() {
                    let Some(worst) = out.last() else { return 0 };
                    last = Some(self.score(*worst, hash));
                }
            }
        }
        len
    }

    /// Enters a node into the `len` best so far; returns how many there are now.
    fn enter(&self, node: NodeIndex, hash: u64, out: &mut [NodeIndex], len: usize) -> usize {
        let score = self.score(node, hash);
        let rank = out[..len].partition_point(|other| self.score(*other, hash) > score);
        if rank == out.len() || out[..len].get(rank) == Some(&node) {
            return len;
        }
        let len = out.len().min(len + 1);
        out[rank..len].rotate_right(1);
        out[rank] = node;
        len
    }
}

impl Span {
    #[inline]
    fn range(self) -> std::ops::Range<usize> {
        let start = self.start as usize;
        start..start + self.len as usize
    }
}

/// The highest score of some virtual ids, 0 for none.
#[inline]
fn max_score(ids: &[u64], hash: u64) -> u64 {
    let mut best = [0; LANES];
    let (rows, rest) = ids.as_chunks::<LANES>();
    for row in rows {
        for (best, id) in best.iter_mut().zip(row) {
            *best = (*best).max(hash::score(hash, *id));
        }
    }
    for (best, id) in best.iter_mut().zip(rest) {
        *best = (*best).max(hash::score(hash, *id));
    }
    best.into_iter().fold(0, u64::max)
}
