//! Bytes and texts as they are.

use bytes::Bytes;

use super::error::CodecError;
use super::layout::Format;
use super::{Decode, Encode, Encoded};

/// Bytes as they are, marked as such. Stores whatever is `AsRef<[u8]>`; reads `Bytes` and `Vec<u8>`.
///
/// ```
/// use steersman_memcached::codec::{Decode, Encode, Raw};
///
/// let encoded = Raw.encode(&[1, 2, 3])?;
/// assert_eq!(encoded.flags, 0x5354_0001);
/// let bytes: Vec<u8> = Raw.decode(encoded, 1024)?;
/// assert_eq!(bytes, [1, 2, 3]);
/// # Ok::<(), steersman_memcached::codec::CodecError>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Raw;

impl Format for Raw {
    const ID: u8 = 1;
    const NAME: &'static str = "raw bytes";
}

impl<T: AsRef<[u8]> + ?Sized> Encode<T> for Raw {
    fn encode(&self, value: &T) -> Result<Encoded, CodecError> {
        Ok(Self::mark(Bytes::copy_from_slice(value.as_ref())))
    }
}

impl Decode<Bytes> for Raw {
    fn decode(&self, value: Encoded, max_size: usize) -> Result<Bytes, CodecError> {
        Self::unmark(value, max_size)
    }
}

impl Decode<Vec<u8>> for Raw {
    fn decode(&self, value: Encoded, max_size: usize) -> Result<Vec<u8>, CodecError> {
        Self::unmark(value, max_size).map(Into::into)
    }
}

/// Text in UTF-8. Stores whatever is `AsRef<str>`; reads `String`, and checks that it is UTF-8.
///
/// ```
/// use steersman_memcached::codec::{Decode, Encode, Utf8};
///
/// let encoded = Utf8.encode("grüß dich")?;
/// assert_eq!(encoded.flags, 0x5354_0002);
/// let text: String = Utf8.decode(encoded, 1024)?;
/// assert_eq!(text, "grüß dich");
/// # Ok::<(), steersman_memcached::codec::CodecError>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Utf8;

impl Format for Utf8 {
    const ID: u8 = 2;
    const NAME: &'static str = "UTF-8";
}

impl<T: AsRef<str> + ?Sized> Encode<T> for Utf8 {
    fn encode(&self, value: &T) -> Result<Encoded, CodecError> {
        Ok(Self::mark(Bytes::copy_from_slice(
            value.as_ref().as_bytes(),
        )))
    }
}

impl Decode<String> for Utf8 {
    fn decode(&self, value: Encoded, max_size: usize) -> Result<String, CodecError> {
        text(Self::unmark(value, max_size)?)
    }
}

/// Text whose bytes have come from outside.
pub(super) fn text(bytes: Bytes) -> Result<String, CodecError> {
    String::from_utf8(bytes.into())
        .map_err(|error| CodecError::corrupt("is no UTF-8 text").with_source(error.utf8_error()))
}
