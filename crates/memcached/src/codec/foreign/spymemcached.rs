//! spymemcached.

use std::time::{Duration, UNIX_EPOCH};

use super::super::Encoded;
use super::super::error::CodecError;
use super::super::plain::text;
use super::{Scalar, boolean, inflated, serialised, unknown_flags};

const SERIALIZED: u32 = 1;
const COMPRESSED: u32 = 2;
/// What the types are numbered in.
const TYPE_SHIFT: u32 = 8;

/// The layout of [spymemcached](https://github.com/couchbase/spymemcached)'s `SerializingTranscoder`
/// (checked with 2.12.3), for reading.
///
/// | flags | what |
/// | --- | --- |
/// | 0 | text in UTF-8 |
/// | 1 | an object serialised by Java: an error |
/// | 256 | a boolean: the digit 1 or 0 |
/// | 512, 768 | an int, a long: big-endian, in two's complement, without leading zero bytes |
/// | 1024 | a date: milliseconds since 1970, as a long |
/// | 1280 | a byte |
/// | 1536, 1792 | a float, a double: its bits, as an int or a long |
/// | 2048 | bytes |
/// | + 2 | compressed by gzip, which takes the crate's feature `zlib` |
///
/// ```
/// use steersman_memcached::codec::{Decode, Encoded, Spymemcached};
///
/// let stored = Encoded { data: b"\x01\x11\x70"[..].into(), flags: 2 << 8 };
/// let number: i32 = Spymemcached.decode(stored, 1024)?;
/// assert_eq!(number, 70_000);
/// # Ok::<(), steersman_memcached::codec::CodecError>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Spymemcached;

impl Spymemcached {
    pub(super) fn scalar(value: Encoded, max_size: usize) -> Result<Scalar, CodecError> {
        if value.flags & !(SERIALIZED | COMPRESSED) == 0 && value.flags & SERIALIZED != 0 {
            return Err(serialised("Java"));
        }
        let of_type = (value.flags & !COMPRESSED) >> TYPE_SHIFT;
        if value.flags & !COMPRESSED != of_type << TYPE_SHIFT || of_type > 8 {
            return Err(unknown_flags("spymemcached"));
        }
        let data = inflated(value, COMPRESSED, max_size)?.data;
        Ok(match of_type {
            0 => Scalar::Text(text(data)?),
            1 => Scalar::Boolean(boolean(&data)?),
            2 => Scalar::Integer(i32::from_be_bytes(padded(&data)?).into()),
            3 => Scalar::Integer(i64::from_be_bytes(padded(&data)?)),
            4 => time(i64::from_be_bytes(padded(&data)?))?,
            5 => Scalar::Integer(i8::from_be_bytes(padded(&data)?).into()),
            6 => Scalar::Float(f32::from_be_bytes(padded(&data)?).into()),
            7 => Scalar::Float(f64::from_be_bytes(padded(&data)?)),
            _ => Scalar::Bytes(data),
        })
    }
}

/// A number with the zero bytes in front that were left out.
fn padded<const N: usize>(data: &[u8]) -> Result<[u8; N], CodecError> {
    let mut bytes = [0; N];
    let zeros = N.checked_sub(data.len()).ok_or_else(|| {
        let len = data.len();
        CodecError::corrupt(format!("has {len} bytes, and its flags say {N} at most"))
    })?;
    bytes[zeros..].copy_from_slice(data);
    Ok(bytes)
}

fn time(millis: i64) -> Result<Scalar, CodecError> {
    let distance = Duration::from_millis(millis.unsigned_abs());
    let time = if millis < 0 {
        UNIX_EPOCH.checked_sub(distance)
    } else {
        UNIX_EPOCH.checked_add(distance)
    };
    time.map(Scalar::Time)
        .ok_or_else(|| CodecError::corrupt("is a time that is out of range"))
}
