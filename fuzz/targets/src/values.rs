//! Values that anybody may have stored, read by every codec.
//!
//! The input is four bytes of flags and the value. Whatever it is, it becomes a value within the bound or
//! an error; and what is encoded is decoded.

use std::collections::BTreeMap;

use bytes::Bytes;
use steersman_memcached::codec::{
    CodecError, Dalli, Decode, Encode, Encoded, Json, JsonText, Postcard, Pylibmc, Pymemcache, Raw,
    Scalar, Spymemcached, Utf8,
};

/// The bound for what a value is decompressed to.
const MAX_SIZE: usize = 4096;

/// A value with a bit of everything that a reader could stumble over.
type Nested = (
    u8,
    String,
    Vec<BTreeMap<String, Option<f64>>>,
    Vec<u8>,
    char,
    i128,
);

/// Runs the target.
pub fn run(input: &[u8]) {
    let Some((flags, data)) = input.split_first_chunk::<4>() else {
        return;
    };
    let value = Encoded {
        data: Bytes::copy_from_slice(data),
        flags: u32::from_le_bytes(*flags),
    };
    bounded::<Bytes>(&Raw, &value, Bytes::len);
    bounded::<String>(&Utf8, &value, String::len);
    bounded::<Scalar>(&Dalli, &value, length);
    bounded::<Scalar>(&Pylibmc, &value, length);
    bounded::<Scalar>(&Pymemcache, &value, length);
    bounded::<Scalar>(&Spymemcached, &value, length);
    bounded::<serde_json::Value>(&Json, &value, |_| 0);
    bounded::<serde_json::Value>(&JsonText(Pymemcache), &value, |_| 0);
    if let Some(nested) = bounded::<Nested>(&Postcard, &value, |_| 0) {
        let again = Postcard
            .encode(&nested)
            .and_then(|it| Decode::<Nested>::decode(&Postcard, it, MAX_SIZE));
        // Compared as text: one NaN is no other's equal.
        assert_eq!(format!("{:?}", again.ok()), format!("{:?}", Some(nested)));
    }
    let raw = Raw
        .encode(data)
        .and_then(|value| Decode::<Bytes>::decode(&Raw, value, usize::MAX));
    assert_eq!(raw.as_deref().ok(), Some(data));
}

/// What a codec makes of a value: within the bound, or an error that says why.
fn bounded<T>(codec: &impl Decode<T>, value: &Encoded, length: impl Fn(&T) -> usize) -> Option<T> {
    let decoded: Result<T, CodecError> = codec.decode(value.clone(), MAX_SIZE);
    match decoded {
        Ok(decoded) => {
            assert!(
                length(&decoded) <= MAX_SIZE.max(value.data.len()),
                "it became too large"
            );
            Some(decoded)
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            None
        }
    }
}

fn length(scalar: &Scalar) -> usize {
    match scalar {
        Scalar::Bytes(bytes) => bytes.len(),
        Scalar::Text(text) => text.len(),
        _ => 0,
    }
}
