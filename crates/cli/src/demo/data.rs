//! The demo's keys and values. A value carries its key and a checksum, so that a wrong, cut or
//! mixed-up value is found out by looking at it.

use xxhash_rust::xxh3::xxh3_64;

/// The name of the key with this number.
pub(super) fn key(number: u32) -> String {
    format!("user:{number}")
}

/// `KEY PAYLOAD CHECKSUM`, 60 to 315 bytes long depending on the key.
pub(super) fn value(key: &str) -> Vec<u8> {
    let hash = xxh3_64(key.as_bytes());
    let length = 32 + usize::from(hash.to_le_bytes()[0]);
    let letters = (0..length).map(|at| b'a' + hash.to_le_bytes()[at % 8] % 26);
    let mut value = format!("{key} ").into_bytes();
    value.extend(letters);
    let checksum = format!(" {:016x}", xxh3_64(&value));
    value.extend(checksum.into_bytes());
    value
}

/// Whether these bytes are a whole value of this key.
pub(super) fn is_right(key: &str, bytes: &[u8]) -> bool {
    let Some((body, checksum)) = bytes.split_last_chunk::<17>() else {
        return false;
    };
    let named = body.strip_prefix(key.as_bytes());
    named.is_some_and(|rest| rest.starts_with(b" "))
        && *checksum == *format!(" {:016x}", xxh3_64(body)).as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_right_for_its_own_key_and_whole() {
        for number in 0..300 {
            let (key, value) = (key(number), value(&key(number)));
            assert!(is_right(&key, &value));
            assert!(!is_right(&super::key(number + 1), &value));
            assert!(!is_right("user:", &value));
            for at in 0..value.len() {
                assert!(!is_right(&key, &value[..at]));
                let mut broken = value.clone();
                broken[at] ^= 1;
                assert!(!is_right(&key, &broken), "{at}");
            }
        }
        assert!(!is_right("user:1", b""));
    }
}
