//! `MurmurHash3_x64_128` (Austin Appleby, 2011, public domain) with seed 0, of which emcache takes
//! the first half.
//!
//! It is a state that takes bytes piece by piece: emcache hashes the key followed by the node's id,
//! so the state after the key serves every node.

const C1: u64 = 0x87c3_7b91_1142_53d5;
const C2: u64 = 0x4cf5_ad43_2745_937f;
const BLOCK: usize = 16;

/// Up to 16 bytes, the first of them lowest, and how many they are; the rest is zero.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Word {
    bytes: u128,
    count: usize,
}

/// Cuts bytes into words. What is hashed many times is cut once.
pub(crate) fn words(bytes: &[u8]) -> impl Iterator<Item = Word> {
    bytes.chunks(BLOCK).map(|chunk| {
        let mut block = [0; BLOCK];
        block[..chunk.len()].copy_from_slice(chunk);
        Word {
            bytes: u128::from_le_bytes(block),
            count: chunk.len(),
        }
    })
}

/// The state of a hash that has seen some bytes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Murmur3 {
    h1: u64,
    h2: u64,
    length: u64,
    /// The bytes that do not fill a block yet, the first of them lowest.
    pending: u128,
    /// How many they are, 0 to 15.
    held: usize,
}

impl Murmur3 {
    /// Appends words to what is hashed.
    pub(crate) fn update(&mut self, words: impl IntoIterator<Item = Word>) {
        for word in words {
            self.append(word);
        }
    }

    /// The first 64 bits of the hash of all bytes so far.
    pub(crate) fn first_half(&self) -> u64 {
        // No bytes scramble to zero, so a tail is a block filled up with zeros.
        let (k1, k2) = scramble(self.pending);
        let h1 = self.h1 ^ k1 ^ self.length;
        let h2 = self.h2 ^ k2 ^ self.length;
        let h1 = h1.wrapping_add(h2);
        let h2 = h2.wrapping_add(h1);
        finalise(h1).wrapping_add(finalise(h2))
    }

    fn append(&mut self, Word { bytes, count }: Word) {
        self.length = self.length.wrapping_add(count as u64);
        let room = BLOCK - self.held;
        self.pending |= bytes << (8 * self.held);
        self.held += count;
        if count >= room {
            self.mix_in(self.pending);
            self.held -= BLOCK;
            self.pending = if room < BLOCK { bytes >> (8 * room) } else { 0 };
        }
    }

    fn mix_in(&mut self, block: u128) {
        let (k1, k2) = scramble(block);
        self.h1 = (self.h1 ^ k1).rotate_left(27).wrapping_add(self.h2);
        self.h1 = self.h1.wrapping_mul(5).wrapping_add(0x52dc_e729);
        self.h2 = (self.h2 ^ k2).rotate_left(31).wrapping_add(self.h1);
        self.h2 = self.h2.wrapping_mul(5).wrapping_add(0x3849_5ab5);
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the halves are meant")]
fn scramble(block: u128) -> (u64, u64) {
    let (k1, k2) = (block as u64, (block >> 64) as u64);
    (
        k1.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2),
        k2.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1),
    )
}

fn finalise(mut k: u64) -> u64 {
    k ^= k >> 33;
    k = k.wrapping_mul(0xff51_afd7_ed55_8ccd);
    k ^= k >> 33;
    k = k.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    k ^ (k >> 33)
}

#[cfg(test)]
mod tests {
    use super::{Murmur3, words};

    fn first_half(bytes: &[u8]) -> u64 {
        let mut state = Murmur3::default();
        state.update(words(bytes));
        state.first_half()
    }

    #[test]
    fn known_values() {
        // The first half of what the reference implementation prints.
        assert_eq!(first_half(b""), 0);
        assert_eq!(first_half(b"hello"), 0xcbd8_a7b3_41bd_9b02);
        assert_eq!(
            first_half(b"The quick brown fox jumps over the lazy dog"),
            0xe34b_bc7b_bc07_1b6c
        );
    }

    #[test]
    fn pieces_hash_like_the_whole() {
        let bytes: Vec<u8> = (0..=100).collect();
        for first in 0..bytes.len() {
            for second in first..bytes.len() {
                let mut state = Murmur3::default();
                state.update(words(&bytes[..first]));
                state.update(words(&bytes[first..second]));
                state.update(words(&bytes[second..]));
                assert_eq!(state.first_half(), first_half(&bytes), "{first} {second}");
            }
        }
    }
}
