//! What callers' keys are called on the servers: a prefix in front of each, and a digest in place
//! of one that is too long. A client without such rules sends keys as they are given.

#[cfg(feature = "long-keys")]
mod digest;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Deref;

use steersman_memcached_protocol::{Key, KeyError};

use crate::error::{Error, ErrorKind, Result, Stage};

/// How a caller's key becomes the one that is sent.
#[derive(Debug, Clone, Default)]
pub(crate) struct KeyRules {
    pub(crate) prefix: Box<[u8]>,
    #[cfg(feature = "long-keys")]
    pub(crate) hash_long: bool,
}

impl KeyRules {
    /// Checks that there are keys that can be sent.
    pub(crate) fn validate(&self) -> Result<()> {
        let invalid = |why: String| Err(Error::config("key_prefix", why));
        if let Err(error) = check(&self.prefix) {
            return invalid(format!("as a key by itself, {error}"));
        }
        let room = self.longest_prefix();
        if self.prefix.len() > room {
            return invalid(format!(
                "has {} bytes: with at most {room} there is room for keys in the 250 bytes that \
                 memcached takes",
                self.prefix.len()
            ));
        }
        Ok(())
    }

    #[cfg_attr(
        not(feature = "long-keys"),
        expect(clippy::unused_self, reason = "only digests take room")
    )]
    fn longest_prefix(&self) -> usize {
        #[cfg(feature = "long-keys")]
        if self.hash_long {
            return digest::ROOM;
        }
        Key::MAX_LEN - 1
    }

    /// The key that is sent for a caller's key. Whether its bytes make a key is left to the request:
    /// those of a meta command may be any.
    #[inline(never)]
    pub(crate) fn sent(&self, key: &[u8]) -> Result<SentKey> {
        if key.is_empty() {
            return Err(invalid_key(KeyError::Empty));
        }
        let len = self.prefix.len() + key.len();
        #[cfg(feature = "long-keys")]
        if self.hash_long && len >= Key::MAX_LEN {
            // Much of it is not sent, and so not looked at again.
            check(key).map_err(invalid_key)?;
            return Ok(digest::sent(&self.prefix, key));
        }
        if len > Key::MAX_LEN {
            let error = invalid_key(KeyError::TooLong { len });
            return Err(match self.prefix.len() {
                0 => error,
                prefix => error.adding(&format!(" (the client's prefix has {prefix} of them)")),
            });
        }
        let mut sent = SentKey::new();
        sent.push(&self.prefix);
        sent.push(key);
        Ok(sent)
    }
}

/// The key that is sent for a caller's key under these rules, or without any.
pub(crate) fn sent<'a>(rules: Option<&KeyRules>, key: &'a [u8]) -> Result<Cow<'a, [u8]>> {
    Ok(match rules {
        None => Cow::Borrowed(key),
        Some(rules) => Cow::Owned(rules.sent(key)?.to_vec()),
    })
}

/// A key as it is sent; on the stack, so that rules for keys cost no allocation.
pub(crate) struct SentKey {
    bytes: [u8; Key::MAX_LEN],
    len: usize,
}

impl SentKey {
    fn new() -> Self {
        Self {
            bytes: [0; Key::MAX_LEN],
            len: 0,
        }
    }

    /// Adds these bytes, for which there must be room.
    fn push(&mut self, bytes: &[u8]) {
        let end = self.len + bytes.len();
        self.bytes[self.len..end].copy_from_slice(bytes);
        self.len = end;
    }
}

impl Deref for SentKey {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// Checks the bytes of a key, whatever its length.
fn check(key: &[u8]) -> Result<(), KeyError> {
    for (index, part) in key.chunks(Key::MAX_LEN).enumerate() {
        Key::new(part).map_err(|error| match error {
            KeyError::ForbiddenByte { position, byte } => KeyError::ForbiddenByte {
                position: index * Key::MAX_LEN + position,
                byte,
            },
            other => other,
        })?;
    }
    Ok(())
}

/// What a call says whose key cannot be sent.
pub(crate) fn invalid_key(error: KeyError) -> Error {
    Error::new(ErrorKind::InvalidKey, Stage::Validation, error.to_string()).with_source(error)
}
