//! pylibmc.

use super::super::Encoded;
use super::super::error::CodecError;
use super::super::plain::text;
use super::{Scalar, boolean, decimal, inflated, serialised, unknown_flags};

const PICKLE: u32 = 1;
const BOOLEAN: u32 = 1 << 1;
const INTEGER: u32 = 1 << 2;
const COMPRESSED: u32 = 1 << 3;
const TEXT: u32 = 1 << 4;

/// The layout of [pylibmc](https://sendapatch.se/projects/pylibmc/) (checked with 1.6.3), for reading.
///
/// | flags | what |
/// | --- | --- |
/// | 0 | bytes |
/// | 1 | pickle, floating-point numbers included: an error |
/// | 2 | a boolean: the digit 1 or 0 |
/// | 4 | an integer as decimal text; one beyond 64 bits is an error |
/// | 16 | text in UTF-8 |
/// | + 8 | compressed by zlib, which takes the crate's feature `zlib` |
///
/// Its 2 is an integer to [`Pymemcache`](super::Pymemcache), so the two cannot be mixed up.
///
/// ```
/// use steersman_memcached::codec::{Decode, Encoded, Pylibmc};
///
/// let stored = Encoded { data: "1".into(), flags: 2 };
/// let is_open: bool = Pylibmc.decode(stored, 1024)?;
/// assert!(is_open);
/// # Ok::<(), steersman_memcached::codec::CodecError>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Pylibmc;

impl Pylibmc {
    pub(super) fn scalar(value: Encoded, max_size: usize) -> Result<Scalar, CodecError> {
        if value.flags & !(PICKLE | BOOLEAN | INTEGER | COMPRESSED | TEXT) != 0 {
            return Err(unknown_flags("pylibmc"));
        }
        if value.flags & PICKLE != 0 {
            return Err(serialised("Python's pickle"));
        }
        let Encoded { data, flags } = inflated(value, COMPRESSED, max_size)?;
        match flags {
            0 => Ok(Scalar::Bytes(data)),
            BOOLEAN => boolean(&data).map(Scalar::Boolean),
            INTEGER => decimal(&data).map(Scalar::Integer),
            TEXT => text(data).map(Scalar::Text),
            _ => Err(unknown_flags("pylibmc")),
        }
    }
}
