//! Keys: what memcached accepts as one, checked once and then carried as a type.
//!
//! A key with a space or a line break in it would be read by the server as more fields or as
//! another command, so nothing that is not a [`Key`] is ever written to a connection.

use std::error::Error;
use std::fmt;

/// A key that memcached accepts: 1 to 250 bytes, each of them at least 33 and not 127.
///
/// Bytes above 127 are allowed, so keys may be UTF-8 or binary as long as they hold no white
/// space and no control characters.
///
/// ```
/// use steersman_memcached_protocol::{Key, KeyError};
///
/// let key = Key::new(b"user:42")?;
/// assert_eq!(key.as_bytes(), b"user:42");
/// assert_eq!(Key::new(b""), Err(KeyError::Empty));
/// assert_eq!(
///     Key::new(b"two words"),
///     Err(KeyError::ForbiddenByte { position: 3, byte: b' ' })
/// );
/// # Ok::<(), KeyError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key<'a>(&'a [u8]);

impl<'a> Key<'a> {
    /// The longest key, in bytes.
    pub const MAX_LEN: usize = 250;

    /// Checks `bytes` against the rules of memcached.
    ///
    /// # Errors
    /// [`KeyError`] says which rule is broken, and where.
    pub fn new(bytes: &'a [u8]) -> Result<Self, KeyError> {
        if bytes.is_empty() {
            return Err(KeyError::Empty);
        }
        if bytes.len() > Self::MAX_LEN {
            return Err(KeyError::TooLong { len: bytes.len() });
        }
        if may_hold_forbidden(bytes)
            && let Some(position) = bytes.iter().position(|&byte| is_forbidden(byte))
        {
            let byte = bytes[position];
            return Err(KeyError::ForbiddenByte { position, byte });
        }
        Ok(Self(bytes))
    }

    /// The bytes of the key.
    pub const fn as_bytes(self) -> &'a [u8] {
        self.0
    }
}

impl fmt::Debug for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key(\"{}\")", self.0.escape_ascii())
    }
}

/// Shows the key with everything that is not printable ASCII escaped.
impl fmt::Display for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.escape_ascii().fmt(f)
    }
}

impl AsRef<[u8]> for Key<'_> {
    fn as_ref(&self) -> &[u8] {
        self.0
    }
}

impl<'a> TryFrom<&'a [u8]> for Key<'a> {
    type Error = KeyError;

    fn try_from(bytes: &'a [u8]) -> Result<Self, KeyError> {
        Self::new(bytes)
    }
}

/// Why bytes are not a [`Key`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyError {
    /// The key has no bytes.
    Empty,
    /// The key has more than [`Key::MAX_LEN`] bytes.
    TooLong {
        /// Its length in bytes.
        len: usize,
    },
    /// A binary key has more than [`BinaryKey::MAX_LEN`](crate::meta::BinaryKey::MAX_LEN) bytes.
    BinaryTooLong {
        /// Its length in bytes.
        len: usize,
    },
    /// The key holds a byte that memcached would not take as part of a key: white space or a
    /// control character.
    ForbiddenByte {
        /// Where the first such byte is, counted from 0.
        position: usize,
        /// The byte.
        byte: u8,
    },
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the key is empty: memcached keys have 1 to 250 bytes"),
            Self::TooLong { len } => {
                write!(
                    f,
                    "the key has {len} bytes: memcached keys have at most 250"
                )
            }
            Self::BinaryTooLong { len } => write!(
                f,
                "the key has {len} bytes: binary keys have at most 186, which are 248 in base64"
            ),
            Self::ForbiddenByte { position, byte } => write!(
                f,
                "the key has byte 0x{byte:02x} at position {position}: memcached keys hold \
                 neither white space nor control characters"
            ),
        }
    }
}

impl Error for KeyError {}

const fn is_forbidden(byte: u8) -> bool {
    byte < 33 || byte == 127
}

/// Rules out forbidden bytes eight at a time: false only if there are none.
fn may_hold_forbidden(bytes: &[u8]) -> bool {
    const EACH: u64 = 0x0101_0101_0101_0101;
    const TOP: u64 = 0x80 * EACH;

    // The top bit of a byte of the result is set if the byte of `word` is less than `bound`; a
    // borrow can set it for the next byte too, but only if there is one that is less.
    let less = |word: u64, bound: u64| word.wrapping_sub(bound * EACH) & !word & TOP;
    let found = |word: &[u8; 8]| {
        let word = u64::from_ne_bytes(*word);
        less(word, 33) | less(word ^ (127 * EACH), 1)
    };
    let (words, _) = bytes.as_chunks::<8>();
    match bytes.last_chunk::<8>() {
        // The last eight bytes overlap the others, which spares a loop over the rest.
        Some(last) => {
            words
                .iter()
                .fold(found(last), |all, word| all | found(word))
                != 0
        }
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_allowed_or_not_as_memcached_has_it() {
        for byte in 0..=u8::MAX {
            let bytes = [b'k', byte, b'k'];
            let forbidden = byte <= b' ' || byte == 0x7f;
            let expected = if forbidden {
                Err(KeyError::ForbiddenByte { position: 1, byte })
            } else {
                Ok(Key(&bytes))
            };
            assert_eq!(Key::new(&bytes), expected);
        }
    }

    #[test]
    fn a_forbidden_byte_is_found_wherever_it_is() {
        for len in 1..=30 {
            for position in 0..len {
                for byte in [0, b'\n', b' ', 127] {
                    let mut bytes = vec![b'\x80'; len];
                    bytes[position] = byte;
                    assert_eq!(
                        Key::new(&bytes),
                        Err(KeyError::ForbiddenByte { position, byte })
                    );
                }
            }
        }
    }

    #[test]
    fn lengths_from_1_to_250() {
        assert_eq!(Key::new(b""), Err(KeyError::Empty));
        assert_eq!(Key::new(&[b'k'; 250]).unwrap().as_bytes().len(), 250);
        assert_eq!(Key::new(&[b'k'; 251]), Err(KeyError::TooLong { len: 251 }));
    }

    #[test]
    fn the_first_forbidden_byte_is_reported() {
        assert_eq!(
            Key::new(b"a\r\nb\n"),
            Err(KeyError::ForbiddenByte {
                position: 1,
                byte: b'\r'
            })
        );
    }

    #[test]
    fn messages_say_the_rule() {
        assert!(
            KeyError::TooLong { len: 300 }
                .to_string()
                .contains("at most 250")
        );
        assert!(
            Key::new(b"a b")
                .unwrap_err()
                .to_string()
                .contains("0x20 at position 1")
        );
        assert_eq!(
            Key::new("né".as_bytes()).unwrap().to_string(),
            "n\\xc3\\xa9"
        );
    }
}
