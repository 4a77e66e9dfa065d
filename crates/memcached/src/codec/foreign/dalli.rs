//! dalli.

use super::super::Encoded;
use super::super::error::CodecError;
use super::super::plain::text;
use super::{Scalar, inflated, serialised, unknown_flags};

const SERIALIZED: u32 = 1;
const COMPRESSED: u32 = 1 << 1;
const UTF8: u32 = 1 << 2;

/// The layout of [dalli](https://github.com/petergoldstein/dalli) 5.0.4 (Ruby), for reading.
///
/// | flags | what |
/// | --- | --- |
/// | 0 | a string that was stored with `raw: true`, or a binary one with `string_fastpath` |
/// | 1 | an object serialised by the client's serializer, `Marshal` if it was given no other: an error |
/// | 4 | a string in UTF-8 that was stored with `string_fastpath` |
/// | + 2 | compressed by zlib, or by gzip with `GzipCompressor`, which takes the crate's feature `zlib` |
///
/// Up to 5.0.3 UTF-8 strings with `string_fastpath` had the bit of compressed ones, by a mistake;
/// such a value is read as a compressed one, which it is not, and so is an error.
///
/// ```
/// use steersman_memcached::codec::{Decode, Encoded, Dalli};
///
/// let stored = Encoded { data: "Ada".into(), flags: 4 };
/// let name: String = Dalli.decode(stored, 1024)?;
/// assert_eq!(name, "Ada");
/// # Ok::<(), steersman_memcached::codec::CodecError>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Dalli;

impl Dalli {
    pub(super) fn scalar(value: Encoded, max_size: usize) -> Result<Scalar, CodecError> {
        if value.flags & !(SERIALIZED | COMPRESSED | UTF8) != 0 {
            return Err(unknown_flags("dalli"));
        }
        if value.flags & SERIALIZED != 0 {
            return Err(serialised(
                "Ruby (Marshal, unless dalli was given another serializer)",
            ));
        }
        let Encoded { data, flags } = inflated(value, COMPRESSED, max_size)?;
        Ok(match flags {
            UTF8 => Scalar::Text(text(data)?),
            _ => Scalar::Bytes(data),
        })
    }
}
