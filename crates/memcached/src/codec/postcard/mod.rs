//! The compact binary format of postcard, by serde.
//!
//! It is written by the `postcard` crate and read here: that crate's own reader goes as deep as a value says,
//! until the stack ends, and takes as many elements without content as it says, which may be 2^64 in ten
//! bytes. What is stored may be hostile, so both have bounds here.

mod deserializer;
mod reader;
#[cfg(test)]
mod tests;

use serde::Serialize;
use serde::de::DeserializeOwned;

use self::deserializer::Deserializer;
use super::error::{CodecError, CodecErrorKind};
use super::layout::Format;
use super::{Decode, Encode, Encoded};

/// [postcard](https://postcard.jamesmunns.com/wire-format), a compact binary format, of types that
/// implement serde's traits. Needs the crate's feature `postcard`.
///
/// It stores no names and no types: what reads a value must have the type that wrote it, field by
/// field, or gets an error at best. Give keys a version if types may change while values live.
///
/// What is read may be nested 128 deep, where each list, map, structure, enumeration and option counts, and
/// have 65,536 elements of lists and maps that take no bytes, such as those of a `Vec<()>`. A value beyond that
/// can be stored, and is [corrupt](CodecErrorKind::Corrupt) when it is read.
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
        let mut deserializer = Deserializer::new(&data);
        match T::deserialize(&mut deserializer) {
            Ok(value) => match deserializer.left_over() {
                0 => Ok(value),
                rest => Err(CodecError::corrupt(format!(
                    "{what}: {rest} bytes are left over"
                ))),
            },
            Err(error) => Err(CodecError::corrupt(what).with_source(error)),
        }
    }
}
