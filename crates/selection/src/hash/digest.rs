//! MD5 and SHA-1, of which clients take a part. Nothing here is a secret, so that both are broken
//! does not matter.

use md5::{Digest, Md5};
use sha1::Sha1;

/// The MD5 of some bytes.
#[inline]
pub(crate) fn md5(bytes: &[u8]) -> [u8; 16] {
    Md5::digest(bytes).into()
}

/// The MD5 of some bytes followed by others, as the number that its 32 hexadecimal digits are.
pub(crate) fn md5_number(bytes: &[u8], more: &[u8]) -> u128 {
    let digest = Md5::new_with_prefix(bytes).chain_update(more);
    u128::from_be_bytes(digest.finalize().into())
}

/// The four little-endian words of the MD5 of some bytes.
pub(crate) fn md5_words(bytes: &[u8]) -> [u32; 4] {
    let number = u128::from_le_bytes(md5(bytes));
    #[expect(clippy::cast_possible_truncation, reason = "a word is meant")]
    [0, 32, 64, 96].map(|bit| (number >> bit) as u32)
}

/// The first of them: what ketama makes of a key.
pub(crate) fn md5_32(bytes: &[u8]) -> u32 {
    md5_words(bytes)[0]
}

/// The first 32 bits of the SHA-1 of some bytes, big endian.
pub(crate) fn sha1_32(bytes: &[u8]) -> u32 {
    let digest: [u8; 20] = Sha1::digest(bytes).into();
    let [a, b, c, d, ..] = digest;
    u32::from_be_bytes([a, b, c, d])
}
