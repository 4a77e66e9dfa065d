//! The keys of meta commands: plain ones, and binary ones in base64.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::{Key, KeyError};

/// A key of any bytes, 1 to 186 of them, which travels in base64.
///
/// The server keeps the bytes themselves: the item of the binary key `foo` is that of the plain
/// key `foo`. Needs memcached 1.6.10; the classic commands cannot name such a key, so it is a type
/// of its own.
///
/// ```
/// use steersman_memcached_protocol::KeyError;
/// use steersman_memcached_protocol::meta::BinaryKey;
///
/// let key = BinaryKey::new(b"\x00\r\n")?;
/// assert_eq!(key.as_bytes(), b"\x00\r\n");
/// assert_eq!(BinaryKey::new(b""), Err(KeyError::Empty));
/// assert!(BinaryKey::new(&[0; 187]).is_err());
/// # Ok::<(), KeyError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BinaryKey<'a>(&'a [u8]);

impl<'a> BinaryKey<'a> {
    /// The longest key, in bytes: its base64 has 248, and memcached takes up to 250.
    pub const MAX_LEN: usize = 186;

    /// Checks the length.
    ///
    /// # Errors
    /// [`KeyError::Empty`] and [`KeyError::BinaryTooLong`].
    pub fn new(bytes: &'a [u8]) -> Result<Self, KeyError> {
        match bytes.len() {
            0 => Err(KeyError::Empty),
            1..=Self::MAX_LEN => Ok(Self(bytes)),
            len => Err(KeyError::BinaryTooLong { len }),
        }
    }

    /// The bytes of the key.
    pub const fn as_bytes(self) -> &'a [u8] {
        self.0
    }
}

impl fmt::Debug for BinaryKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BinaryKey(\"{}\")", self.0.escape_ascii())
    }
}

/// The key of a meta command. Made from a [`Key`] or a [`BinaryKey`] by `into`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MetaKey<'a> {
    /// A plain key, sent as it is.
    Plain(Key<'a>),
    /// A binary key, sent in base64 with the flag `b`.
    Binary(BinaryKey<'a>),
}

impl<'a> MetaKey<'a> {
    /// The bytes under which the server keeps the item.
    pub const fn as_bytes(self) -> &'a [u8] {
        match self {
            Self::Plain(key) => key.as_bytes(),
            Self::Binary(key) => key.as_bytes(),
        }
    }

    /// Hands over the key as it stands on the wire.
    pub(crate) fn with_wire<R>(self, then: impl FnOnce(&[u8]) -> R) -> R {
        match self {
            Self::Plain(key) => then(key.as_bytes()),
            Self::Binary(key) => {
                let mut encoded = [0; Key::MAX_LEN];
                let len = STANDARD
                    .encode_slice(key.as_bytes(), &mut encoded)
                    .expect("the base64 of 186 bytes has 248");
                then(&encoded[..len])
            }
        }
    }
}

impl<'a> From<Key<'a>> for MetaKey<'a> {
    fn from(key: Key<'a>) -> Self {
        Self::Plain(key)
    }
}

impl<'a> From<BinaryKey<'a>> for MetaKey<'a> {
    fn from(key: BinaryKey<'a>) -> Self {
        Self::Binary(key)
    }
}

/// The bytes of a key that came in base64, if it is that.
pub(super) fn decode(encoded: &[u8]) -> Option<Vec<u8>> {
    STANDARD.decode(encoded).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn binary_keys_travel_as_plain_ones(bytes in prop::collection::vec(any::<u8>(), 1..=186)) {
            let key = MetaKey::from(BinaryKey::new(&bytes).unwrap());
            key.with_wire(|wire| {
                prop_assert!(Key::new(wire).is_ok());
                prop_assert_eq!(decode(wire).unwrap(), key.as_bytes());
                Ok(())
            })?;
        }
    }

    #[test]
    fn the_length_is_bounded() {
        assert_eq!(BinaryKey::new(b""), Err(KeyError::Empty));
        let error = BinaryKey::new(&[0; 187]).unwrap_err();
        assert_eq!(error, KeyError::BinaryTooLong { len: 187 });
        assert!(error.to_string().contains("at most 186"), "{error}");
    }
}
