//! pymemcache, and python-memcached before it.

use super::super::Encoded;
use super::super::error::CodecError;
use super::super::plain::text;
use super::{Scalar, decimal, inflated, serialised, unknown_flags};

const PICKLE: u32 = 1;
const INTEGER: u32 = 1 << 1;
const LONG: u32 = 1 << 2;
const COMPRESSED: u32 = 1 << 3;
const TEXT: u32 = 1 << 4;

/// The layout of [pymemcache](https://pymemcache.readthedocs.io)'s `PickleSerde` and
/// `CompressedSerde` (checked with 4.0.0), for reading.
///
/// | flags | what |
/// | --- | --- |
/// | 0 | bytes |
/// | 1 | pickle: an error |
/// | 2, 4 | an integer as decimal text; one beyond 64 bits is an error |
/// | 16 | text in UTF-8 |
/// | + 8 | compressed by zlib, which takes the crate's feature `zlib` |
///
/// ```
/// use steersman_memcached::codec::{Decode, Encoded, Pymemcache, Scalar};
///
/// let stored = Encoded { data: "70000".into(), flags: 2 };
/// let number: u32 = Pymemcache.decode(stored.clone(), 1024)?;
/// assert_eq!(number, 70_000);
/// let scalar: Scalar = Pymemcache.decode(stored, 1024)?;
/// assert_eq!(scalar, Scalar::Integer(70_000));
/// # Ok::<(), steersman_memcached::codec::CodecError>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Pymemcache;

impl Pymemcache {
    pub(super) fn scalar(value: Encoded, max_size: usize) -> Result<Scalar, CodecError> {
        if value.flags & !(PICKLE | INTEGER | LONG | COMPRESSED | TEXT) != 0 {
            return Err(unknown_flags("pymemcache"));
        }
        if value.flags & PICKLE != 0 {
            return Err(serialised("Python's pickle"));
        }
        let Encoded { data, flags } = inflated(value, COMPRESSED, max_size)?;
        match flags {
            0 => Ok(Scalar::Bytes(data)),
            TEXT => text(data).map(Scalar::Text),
            INTEGER | LONG => decimal(&data).map(Scalar::Integer),
            _ => Err(unknown_flags("pymemcache")),
        }
    }
}
