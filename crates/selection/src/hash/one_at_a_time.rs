//! Bob Jenkins' one-at-a-time hash ("Hash functions", Dr. Dobb's Journal, September 1997), as
//! libmemcached and twemproxy have it.
//!
//! They read bytes as C's `char`, which is signed on most machines, so that a byte of 128 or more
//! adds its sign bits too.

/// The hash of some bytes.
pub(crate) fn one_at_a_time(bytes: &[u8]) -> u32 {
    let mut hash = 0_u32;
    for byte in bytes {
        hash = hash.wrapping_add(super::widened(*byte));
        hash = hash.wrapping_add(hash << 10);
        hash ^= hash >> 6;
    }
    hash = hash.wrapping_add(hash << 3);
    hash ^= hash >> 11;
    hash.wrapping_add(hash << 15)
}
