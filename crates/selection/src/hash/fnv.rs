//! The hashes of Fowler, Noll and Vo, as memcached's clients have them.
//!
//! What is hashed is a sequence of units: sign-extended bytes for libmemcached and twemproxy, UTF-16
//! units for spymemcached. All of them keep the low 32 bits of the 64-bit hash; neither the
//! multiplication nor the exclusive or lets higher bits into those, so 32 bits are enough to compute
//! them.

const OFFSET_32: u32 = 0x811c_9dc5;
const PRIME_32: u32 = 0x0100_0193;

/// The low halves of the 64-bit hash's constants.
const OFFSET_64: u32 = 0x8422_2325;
const PRIME_64: u32 = 0x0000_01b3;

/// FNV-1 with 32 bits: multiplies, then takes in a unit.
pub(crate) fn fnv1_32(units: impl Iterator<Item = u32>) -> u32 {
    units.fold(OFFSET_32, |hash, unit| hash.wrapping_mul(PRIME_32) ^ unit)
}

/// FNV-1a with 32 bits: takes in a unit, then multiplies.
pub(crate) fn fnv1a_32(units: impl Iterator<Item = u32>) -> u32 {
    units.fold(OFFSET_32, |hash, unit| (hash ^ unit).wrapping_mul(PRIME_32))
}

/// The low half of FNV-1 with 64 bits.
pub(crate) fn fnv1_64(units: impl Iterator<Item = u32>) -> u32 {
    units.fold(OFFSET_64, |hash, unit| hash.wrapping_mul(PRIME_64) ^ unit)
}

/// The low half of FNV-1a with 64 bits.
pub(crate) fn fnv1a_64(units: impl Iterator<Item = u32>) -> u32 {
    units.fold(OFFSET_64, |hash, unit| (hash ^ unit).wrapping_mul(PRIME_64))
}
