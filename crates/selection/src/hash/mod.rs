//! Hash functions: here those of the native placements, in the modules those of other clients.
//!
//! Everything here decides where keys live, so nothing here may ever change: another seed or
//! constant would be another placement under another name. `tests/vectors` pins it.

#[cfg(feature = "compat")]
pub(crate) mod crc;
#[cfg(feature = "compat")]
pub(crate) mod digest;
#[cfg(feature = "compat")]
pub(crate) mod fnv;
#[cfg(feature = "compat")]
pub(crate) mod hsieh;
#[cfg(feature = "compat")]
pub(crate) mod jenkins;
#[cfg(feature = "compat")]
pub(crate) mod murmur2;
pub(crate) mod murmur3;
#[cfg(feature = "compat")]
pub(crate) mod murmur3_32;
#[cfg(feature = "compat")]
pub(crate) mod one_at_a_time;
#[cfg(feature = "compat")]
pub(crate) mod text;

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// The seed of a node's first virtual id; the i-th (from 0) has this plus i. Spells `Steersma`.
const NODE_SEED: u64 = 0x5374_6565_7273_6d61;

/// Sets the hashes of slots apart from their numbers; the golden ratio's first 64 bits.
const SLOT_SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// The hash of a key: XXH3-64 with seed 0.
#[inline]
pub(crate) fn key(key: &[u8]) -> u64 {
    xxh3_64(key)
}

/// The hashes of a node's virtual ids, as many as its weight. They depend on the name alone, so a
/// node that gains weight keeps the ids it had.
pub(crate) fn virtual_ids(name: &str, weight: u32) -> impl Iterator<Item = u64> {
    (0..u64::from(weight))
        .map(move |i| xxh3_64_with_seed(name.as_bytes(), NODE_SEED.wrapping_add(i)))
}

/// The hash of a slot, which stands for the hashes of all keys in it.
#[inline]
pub(crate) const fn slot(slot: u64) -> u64 {
    mix(slot ^ SLOT_SEED)
}

/// The score of a virtual id for a key or a slot: the node with the highest one is the owner.
#[inline]
pub(crate) const fn score(hash: u64, virtual_id: u64) -> u64 {
    mix(hash ^ virtual_id)
}

/// Scrambles 64 bits, reversibly: each step maps different inputs to different outputs, so two
/// virtual ids never have the same score. The multipliers are those of Stafford's variant 13 of
/// the `MurmurHash3` finaliser, which `SplitMix64` uses too (Steele, Lea and Flood, OOPSLA 2014).
#[inline]
const fn mix(x: u64) -> u64 {
    let x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (x ^ (x >> 32)).wrapping_mul(0x94d0_49bb_1331_11eb)
}

/// A byte widened as C widens a signed `char`: one of 128 or more sets all bits above it.
#[cfg(feature = "compat")]
#[inline]
pub(crate) const fn widened(byte: u8) -> u32 {
    (byte.cast_signed() as i32).cast_unsigned()
}

#[cfg(all(test, feature = "compat"))]
mod tests;
