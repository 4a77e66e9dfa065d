//! mcrouter, a proxy.
//!
//! - Ch3, its default, walks a binary tree whose decisions are bits of the key's hash, hashed again
//!   for more of them; the result is a place in the list, and a longer list moves keys to its new end
//!   alone.
//! - Crc32 is 31 bits of CRC-32 modulo the number of nodes.
//! - Rendezvous scores each node by its hash mixed with the key's, cut to double precision; of equal
//!   scores the later in the list wins. With weights a score is `weight / -ln(share)`, where the
//!   share is made of 53 bits of the same mix. Its logarithm is the platform's: where libraries
//!   differ in the last bit, equal scores could be decided otherwise.
//!
//! What rendezvous hashes of a node is its tag, as it is written in mcrouter's configuration: IPv6 with
//! the brackets that it has there.

use std::sync::Arc;

use super::list::List;
use super::scores::Scores;
use super::{Node, active, is_weighted};
use crate::hash::crc::crc32_31;
use crate::hash::murmur2::murmur2_64;
use crate::{McrouterWeights, NodeIndex};

/// The seed of Ch3's hash and of the hashes of rendezvous' nodes.
const SEED: u32 = 4_193_360_111;

/// The seed of rendezvous' hashes of keys.
const KEY_SEED: u32 = 2_718_281_828;

pub(super) fn ch3(nodes: &[Node]) -> List {
    List::consistent(furc, active(nodes))
}

pub(super) fn crc32(nodes: &[Node]) -> List {
    List::modulo(crc32_31, active(nodes))
}

pub(super) fn scores(weights: McrouterWeights, nodes: &[Node]) -> Scores {
    let weighted = weights == McrouterWeights::Weighted || is_weighted(nodes);
    let node = |node: &Node| {
        let hash = murmur2_64(node.text.as_bytes(), SEED);
        (hash, f64::from(node.weight), node.index)
    };
    Scores::Mcrouter(Rendezvous {
        weighted,
        nodes: active(nodes).map(node).collect(),
    })
}

/// The hashes of the nodes and their weights.
#[derive(Debug, Clone)]
pub(super) struct Rendezvous {
    weighted: bool,
    nodes: Arc<[(u64, f64, NodeIndex)]>,
}

impl Rendezvous {
    #[inline]
    pub(super) fn each(&self, key: &[u8], mut visit: impl FnMut(u128, NodeIndex)) {
        let key = murmur2_64(key, KEY_SEED);
        for (hash, weight, index) in self.nodes.iter() {
            let mixed = mix(*hash, key);
            #[expect(clippy::cast_precision_loss, reason = "so does mcrouter")]
            let score = if self.weighted {
                let share = (mixed & ((1 << 53) - 1)) as f64 / (1_u64 << 53) as f64;
                weight * (1.0 / -share.ln())
            } else {
                mixed as f64
            };
            // Numbers that are not negative are in the order of their bits.
            visit(u128::from(score.to_bits()), *index);
        }
    }
}

/// `Hash128to64` of `CityHash` (Geoff Pike and Jyrki Alakuijala, Google, 2011).
fn mix(upper: u64, lower: u64) -> u64 {
    const MUL: u64 = 0x9ddf_ea08_eb38_2d69;
    let a = (lower ^ upper).wrapping_mul(MUL);
    let b = (upper ^ (a ^ (a >> 47))).wrapping_mul(MUL);
    (b ^ (b >> 47)).wrapping_mul(MUL)
}

/// The distance between the bits that are asked for, and the most bits of a place: lists are of 2^23
/// at most.
const STRIDE: u32 = 23;

/// How often a place beyond the list is drawn before the first one is taken.
const TRIES: u32 = 32;

/// Ch3, which mcrouter's sources call `FurcHash`: the place of a key in a list.
fn furc(key: &[u8], length: usize) -> usize {
    if length < 2 {
        return 0;
    }
    let mut bits = Bits::of(key);
    let mut depth = (length - 1).ilog2() + 1;
    let mut at = depth;
    for _ in 0..TRIES {
        while !bits.get(at) {
            depth -= 1;
            if depth == 0 {
                return 0;
            }
            at = depth;
        }
        at += STRIDE;
        let mut place = 1;
        for _ in 1..depth {
            place = place << 1 | usize::from(bits.get(at));
            at += STRIDE;
        }
        if place < length {
            return place;
        }
    }
    0
}

/// An endless sequence of bits: those of the key's hash, of the hash of that, and so on.
struct Bits {
    first: u64,
    /// A later word of 64 bits and its number.
    word: u64,
    number: u32,
}

impl Bits {
    fn of(key: &[u8]) -> Self {
        let first = murmur2_64(key, SEED);
        Self {
            first,
            word: first,
            number: 0,
        }
    }

    fn get(&mut self, bit: u32) -> bool {
        let number = bit / u64::BITS;
        if number < self.number {
            (self.word, self.number) = (self.first, 0);
        }
        while self.number < number {
            self.word = murmur2_64(&self.word.to_le_bytes(), SEED);
            self.number += 1;
        }
        self.word >> (bit % u64::BITS) & 1 == 1
    }
}

#[cfg(test)]
mod tests;
