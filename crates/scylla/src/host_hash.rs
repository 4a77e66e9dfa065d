//! A hash for host ids, which are random numbers or nearly so.

use std::hash::Hasher;

/// Mixes eight bytes at a time: a few nanoseconds for a host id, which each request looks up once
/// a replica. Ids come from the cluster's own system tables, so nobody chooses them to collide.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct HostHasher(u64);

/// The golden ratio of 2^64, made odd.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

impl Hasher for HostHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for &word in words {
            self.write_u64(u64::from_le_bytes(word));
        }
        if !rest.is_empty() {
            // A copy of so few bytes would cost a call.
            let word = rest
                .iter()
                .fold(0, |word, &byte| word << 8 | u64::from(byte));
            self.write_u64(word);
        }
    }

    #[inline]
    fn write_u8(&mut self, byte: u8) {
        self.write_u64(u64::from(byte));
    }

    #[inline]
    fn write_u64(&mut self, word: u64) {
        let wide = u128::from(self.0 ^ word) * u128::from(FACTOR);
        let [low, high] = [wide, wide >> 64].map(|half| half & u128::from(u64::MAX));
        self.0 = u64::try_from(low ^ high).unwrap_or_default();
    }

    #[inline]
    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::hash::{BuildHasher, BuildHasherDefault};

    use uuid::Uuid;

    use super::HostHasher;

    #[test]
    fn ids_that_count_up_spread() {
        let build = BuildHasherDefault::<HostHasher>::default();
        for shift in [0, 64, 120] {
            let low: HashSet<_> = (0..128_u128)
                .map(|number| build.hash_one(Uuid::from_u128(number << shift)) % 1024)
                .collect();
            assert!(low.len() > 100, "shift {shift}: {}", low.len());
        }
    }
}
