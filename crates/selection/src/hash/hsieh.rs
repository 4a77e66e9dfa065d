//! Paul Hsieh's `SuperFastHash` (2004), as twemproxy and, where it was built in, libmemcached have it.
//!
//! The last three bytes end with one that is read as C's signed `char`; a single last byte is not.

/// The hash of some bytes; 0 for none.
pub(crate) fn hsieh(bytes: &[u8]) -> u32 {
    let pair = |low: u8, high: u8| u32::from(u16::from_le_bytes([low, high]));
    let (words, tail) = bytes.as_chunks();
    let mut hash = words.iter().fold(0_u32, |hash, &[a, b, c, d]| {
        let hash = hash.wrapping_add(pair(a, b));
        let hash = (hash << 16) ^ (pair(c, d) << 11) ^ hash;
        hash.wrapping_add(hash >> 11)
    });
    match *tail {
        [a, b, c] => {
            hash = hash.wrapping_add(pair(a, b));
            hash ^= hash << 16;
            hash ^= super::widened(c) << 18;
            hash = hash.wrapping_add(hash >> 11);
        }
        [a, b] => {
            hash = hash.wrapping_add(pair(a, b));
            hash ^= hash << 11;
            hash = hash.wrapping_add(hash >> 17);
        }
        [a] => {
            hash = hash.wrapping_add(u32::from(a));
            hash ^= hash << 10;
            hash = hash.wrapping_add(hash >> 1);
        }
        _ => {}
    }
    hash ^= hash << 3;
    hash = hash.wrapping_add(hash >> 5);
    hash ^= hash << 4;
    hash = hash.wrapping_add(hash >> 17);
    hash ^= hash << 25;
    hash.wrapping_add(hash >> 6)
}
