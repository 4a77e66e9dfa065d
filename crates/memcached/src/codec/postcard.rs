//! The compact binary format of postcard, by serde.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::{CodecError, CodecErrorKind};
use super::layout::Format;
use super::{Decode, Encode, Encoded};

/// [postcard](https://postcard.jamesmunns.com/wire-format), a compact binary format, of types that
/// implement serde's traits. Needs the crate's feature `postcard`.
///
/// It stores no names and no types: what reads a value must have the type that wrote it, field by
/// field, or gets an error at best. Give keys a version if types may change while values live. A type
/// that contains itself is decoded to whatever depth the value says, so read such types from
/// servers that others can write to by `Json`, which bounds it.
///
/// ```
/// use steersman_memcached::codec::{Decode, Encode, Postcard};
///
/// let encoded = Postcard.encode(&(1_u32, "Ada"))?;
/// assert_eq!(encoded.data, b"\x01\x03Ada"[..]);
/// let pair: (u32, String) = Postcard.decode(encoded, 1024)?;
/// assert_eq!(pair, (1, "Ada".to_owned()));
/// # Ok::<(), steersman_memcached::codec::CodecError>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Postcard;

impl Format for Postcard {
    const ID: u8 = 4;
    const NAME: &'static str = "postcard";
}

impl<T: Serialize + ?Sized> Encode<T> for Postcard {
    fn encode(&self, value: &T) -> Result<Encoded, CodecError> {
        let data = postcard::to_allocvec(value).map_err(|error| {
            CodecError::new(CodecErrorKind::Encode, "has no form in postcard").with_source(error)
        })?;
        Ok(Self::mark(data))
    }
}

impl<T: DeserializeOwned> Decode<T> for Postcard {
    fn decode(&self, value: Encoded, max_size: usize) -> Result<T, CodecError> {
        let data = Self::unmark(value, max_size)?;
        let what = "is nothing in postcard of the type that was asked for";
        match postcard::take_from_bytes(&data) {
            Ok((value, [])) => Ok(value),
            Ok((_, rest)) => Err(CodecError::corrupt(format!(
                "{what}: {} bytes are left over",
                rest.len()
            ))),
            Err(error) => Err(CodecError::corrupt(what).with_source(error)),
        }
    }
}
