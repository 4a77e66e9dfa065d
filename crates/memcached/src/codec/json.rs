//! JSON by serde.

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::{CodecError, CodecErrorKind};
use super::layout::Format;
use super::{Decode, Encode, Encoded};

/// JSON, of types that implement serde's traits. Values may be nested 128 deep. Needs the crate's
/// feature `json`.
///
/// ```
/// use steersman_memcached::codec::{Decode, Encode, Json};
///
/// let encoded = Json.encode(&vec![("a", 1), ("b", 2)])?;
/// assert_eq!(encoded.data, r#"[["a",1],["b",2]]"#);
/// let pairs: Vec<(String, i32)> = Json.decode(encoded, 1024)?;
/// assert_eq!(pairs[1], ("b".to_owned(), 2));
/// # Ok::<(), steersman_memcached::codec::CodecError>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Json;

impl Format for Json {
    const ID: u8 = 3;
    const NAME: &'static str = "JSON";
}

impl<T: Serialize + ?Sized> Encode<T> for Json {
    fn encode(&self, value: &T) -> Result<Encoded, CodecError> {
        let data = serde_json::to_vec(value).map_err(|error| {
            CodecError::new(CodecErrorKind::Encode, "has no form in JSON").with_source(error)
        })?;
        Ok(Self::mark(data))
    }
}

impl<T: DeserializeOwned> Decode<T> for Json {
    fn decode(&self, value: Encoded, max_size: usize) -> Result<T, CodecError> {
        parsed(&Self::unmark(value, max_size)?)
    }
}

/// JSON that another client has stored as text or bytes, in the layout of `C`: what
/// `json.dumps` gives in Python, for one. For reading. Needs the crate's feature `json`.
///
/// ```
/// use steersman_memcached::codec::{Decode, Encoded, JsonText, Pymemcache};
///
/// let stored = Encoded { data: "[7, 8]".into(), flags: 16 };
/// let numbers: Vec<u8> = JsonText(Pymemcache).decode(stored, 1024)?;
/// assert_eq!(numbers, [7, 8]);
/// # Ok::<(), steersman_memcached::codec::CodecError>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct JsonText<C>(pub C);

impl<T: DeserializeOwned, C: Decode<Bytes>> Decode<T> for JsonText<C> {
    fn decode(&self, value: Encoded, max_size: usize) -> Result<T, CodecError> {
        parsed(&self.0.decode(value, max_size)?)
    }
}

fn parsed<T: DeserializeOwned>(data: &[u8]) -> Result<T, CodecError> {
    serde_json::from_slice(data).map_err(|error| {
        let what = CodecError::corrupt("is no JSON of the type that was asked for");
        what.with_source(error)
    })
}
