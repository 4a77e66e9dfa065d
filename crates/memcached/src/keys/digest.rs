//! The form in which keys are sent that are too long: a readable beginning and a digest.
//!
//! The digest is SHA-256 (FIPS 180-4), so that whoever chooses keys, as visitors of a site choose
//! addresses, cannot make two of them share a value. Other clients write the same form with
//! other digests.

use sha2::{Digest, Sha256};
use steersman_memcached_protocol::Key;

use super::SentKey;

/// Stands between the beginning and the digest.
const MARK: &[u8] = b":sha256:";

/// The digest's length in hexadecimal.
const DIGEST: usize = 64;

/// How much of a sent key is left for the prefix and the key's beginning.
pub(super) const ROOM: usize = Key::MAX_LEN - MARK.len() - DIGEST;

/// What is sent for a key that has [`Key::MAX_LEN`] bytes or more with its prefix, which has at most
/// [`ROOM`]. It has [`Key::MAX_LEN`] bytes, unlike any key that is sent as it is.
pub(super) fn sent(prefix: &[u8], key: &[u8]) -> SentKey {
    let mut sent = SentKey::new();
    sent.push(prefix);
    sent.push(&key[..ROOM - prefix.len()]);
    sent.push(MARK);
    for byte in Sha256::digest(key) {
        let digit = |value: u8| b"0123456789abcdef"[usize::from(value)];
        sent.push(&[digit(byte >> 4), digit(byte & 15)]);
    }
    sent
}
