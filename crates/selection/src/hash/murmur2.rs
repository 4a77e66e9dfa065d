//! `MurmurHash2` (Austin Appleby, 2008, public domain): its form of 32 bits, which libmemcached and
//! twemproxy have, and `MurmurHash64A`, which mcrouter has.

const M32: u32 = 0x5bd1_e995;
const M64: u64 = 0xc6a4_a793_5bd1_e995;

/// 32 bits, with a seed that depends on the length: 0xdeadbeef times that.
pub(crate) fn murmur2_32(bytes: &[u8]) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "C's length, modulo 2^32")]
    let length = bytes.len() as u32;
    let (words, tail) = bytes.as_chunks();
    let mut hash = 0xdead_beef_u32.wrapping_mul(length) ^ length;
    for word in words {
        let word = u32::from_le_bytes(*word).wrapping_mul(M32);
        hash = hash.wrapping_mul(M32) ^ (word ^ (word >> 24)).wrapping_mul(M32);
    }
    if !tail.is_empty() {
        let mut last = [0; 4];
        last[..tail.len()].copy_from_slice(tail);
        hash = (hash ^ u32::from_le_bytes(last)).wrapping_mul(M32);
    }
    hash = (hash ^ (hash >> 13)).wrapping_mul(M32);
    hash ^ (hash >> 15)
}

/// 64 bits with a seed.
pub(crate) fn murmur2_64(bytes: &[u8], seed: u32) -> u64 {
    let (words, tail) = bytes.as_chunks();
    let mut hash = u64::from(seed) ^ (bytes.len() as u64).wrapping_mul(M64);
    for word in words {
        let word = u64::from_le_bytes(*word).wrapping_mul(M64);
        hash = (hash ^ (word ^ (word >> 47)).wrapping_mul(M64)).wrapping_mul(M64);
    }
    if !tail.is_empty() {
        let mut last = [0; 8];
        last[..tail.len()].copy_from_slice(tail);
        hash = (hash ^ u64::from_le_bytes(last)).wrapping_mul(M64);
    }
    hash = (hash ^ (hash >> 47)).wrapping_mul(M64);
    hash ^ (hash >> 47)
}
