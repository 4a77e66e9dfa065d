//! `MurmurHash3_x86_32` (Austin Appleby, 2011, public domain), as a state that takes bytes piece by
//! piece: pymemcache hashes a node's name followed by the key, so the state after the name serves
//! every key.

/// The state of a hash that has seen some bytes.
#[derive(Debug, Clone)]
pub(crate) struct Murmur3 {
    hash: u32,
    length: u32,
    /// The bytes that do not fill a word yet, the first of them lowest.
    pending: u32,
    /// How many they are, 0 to 3.
    held: u32,
}

impl Murmur3 {
    pub(crate) fn new(seed: u32) -> Self {
        Self {
            hash: seed,
            length: 0,
            pending: 0,
            held: 0,
        }
    }

    /// Appends bytes to what is hashed.
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        let (words, tail) = bytes.as_chunks();
        for word in words {
            let word = u64::from(u32::from_le_bytes(*word)) << (8 * self.held);
            let word = word | u64::from(self.pending);
            #[expect(clippy::cast_possible_truncation, reason = "the halves are meant")]
            {
                self.mix_in(word as u32);
                self.pending = (word >> 32) as u32;
            }
        }
        for byte in tail {
            self.pending |= u32::from(*byte) << (8 * self.held);
            self.held += 1;
            if self.held == 4 {
                self.mix_in(self.pending);
                (self.pending, self.held) = (0, 0);
            }
        }
        #[expect(clippy::cast_possible_truncation, reason = "a length modulo 2^32")]
        let more = bytes.len() as u32;
        self.length = self.length.wrapping_add(more);
    }

    /// The hash of all bytes so far.
    pub(crate) fn finish(&self) -> u32 {
        // No bytes scramble to zero.
        let mut hash = self.hash ^ scramble(self.pending) ^ self.length;
        hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
        hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
        hash ^ (hash >> 16)
    }

    fn mix_in(&mut self, word: u32) {
        let hash = (self.hash ^ scramble(word)).rotate_left(13);
        self.hash = hash.wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
}

/// libmemcached's: with a seed that depends on the length, 0xdeadbeef times that.
pub(crate) fn murmur3_32(bytes: &[u8]) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "C's length, modulo 2^32")]
    let length = bytes.len() as u32;
    let mut state = Murmur3::new(0xdead_beef_u32.wrapping_mul(length));
    state.update(bytes);
    state.finish()
}

fn scramble(word: u32) -> u32 {
    let word = word.wrapping_mul(0xcc9e_2d51).rotate_left(15);
    word.wrapping_mul(0x1b87_3593)
}

#[cfg(test)]
mod tests {
    use super::Murmur3;

    fn hash(pieces: &[&[u8]], seed: u32) -> u32 {
        let mut state = Murmur3::new(seed);
        for piece in pieces {
            state.update(piece);
        }
        state.finish()
    }

    #[test]
    fn known_values() {
        // What the reference implementation prints.
        assert_eq!(hash(&[], 0), 0);
        assert_eq!(hash(&[], 1), 0x514e_28b7);
        assert_eq!(hash(&[b"hello"], 0), 0x248b_fa47);
        let fox = b"The quick brown fox jumps over the lazy dog";
        assert_eq!(hash(&[fox], 0), 0x2e4f_f723);
    }

    #[test]
    fn pieces_hash_like_the_whole() {
        let bytes: Vec<u8> = (100..=140).collect();
        for first in 0..bytes.len() {
            for second in first..bytes.len() {
                let pieces = [&bytes[..first], &bytes[first..second], &bytes[second..]];
                assert_eq!(hash(&pieces, 7), hash(&[&bytes], 7), "{first} {second}");
            }
        }
    }
}
