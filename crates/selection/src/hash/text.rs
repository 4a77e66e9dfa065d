//! Keys as the text that clients of languages with strings of characters hash.

/// The characters of a key, as code points. A key that is not UTF-8 was never such a text; its bytes
/// stand for themselves then.
pub(crate) fn code_points(key: &[u8]) -> impl Iterator<Item = u32> + '_ {
    let (text, bytes) = match std::str::from_utf8(key) {
        Ok(text) => (text, &[][..]),
        Err(_) => ("", key),
    };
    let points = text.chars().map(u32::from);
    points.chain(bytes.iter().copied().map(u32::from))
}

/// The same as the UTF-16 units of a Java string.
pub(crate) fn utf16_units(key: &[u8]) -> impl Iterator<Item = u32> + '_ {
    code_points(key).flat_map(|point| {
        let mut units = [0; 2];
        let character = char::from_u32(point).unwrap_or_default();
        let count = character.encode_utf16(&mut units).len();
        units.into_iter().take(count).map(u32::from)
    })
}

/// Java's `String.hashCode`: a polynomial in 31.
pub(crate) fn java_hash_code(key: &[u8]) -> u32 {
    utf16_units(key).fold(0, |hash: u32, unit| {
        hash.wrapping_mul(31).wrapping_add(unit)
    })
}

#[cfg(test)]
mod tests {
    use super::{code_points, java_hash_code, utf16_units};

    #[test]
    fn characters_and_units() {
        let points = |key| code_points(key).collect::<Vec<_>>();
        assert_eq!(points("aé測".as_bytes()), [0x61, 0xe9, 0x6e2c]);
        assert_eq!(points(b"a\xff\xc3"), [0x61, 0xff, 0xc3]);
        assert!(utf16_units("🦀".as_bytes()).eq([0xd83e, 0xdd80]));
    }

    /// The values are Java's.
    #[test]
    fn hash_codes() {
        assert_eq!(java_hash_code(b""), 0);
        assert_eq!(java_hash_code(b"hello"), 99_162_322);
        assert_eq!(java_hash_code(b"polygenelubricants"), 1 << 31);
    }
}
