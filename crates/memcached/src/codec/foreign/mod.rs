//! Values that clients in other languages wrote, for reading.
//!
//! Their flags have no mark, and bits of one client mean something else to another, so the reader says
//! whose values they are. What only the other language can read, serialised objects, is an error that
//! names it.

mod dalli;
mod pylibmc;
mod pymemcache;
mod scalar;
mod spymemcached;
#[cfg(test)]
mod tests;

pub use self::dalli::Dalli;
pub use self::pylibmc::Pylibmc;
pub use self::pymemcache::Pymemcache;
pub use self::scalar::Scalar;
pub use self::spymemcached::Spymemcached;
use super::compression::{Algorithm, decompress};
use super::error::{CodecError, CodecErrorKind};
use super::{Decode, Encoded};

/// Makes a layout readable as whatever a [`Scalar`] can be turned into.
macro_rules! reads_scalars {
    ($layout:ty) => {
        impl<T: TryFrom<Scalar>> Decode<T> for $layout
        where
            CodecError: From<T::Error>,
        {
            fn decode(&self, value: Encoded, max_size: usize) -> Result<T, CodecError> {
                Ok(T::try_from(Self::scalar(value, max_size)?)?)
            }
        }
    };
}
reads_scalars!(Dalli);
reads_scalars!(Pylibmc);
reads_scalars!(Pymemcache);
reads_scalars!(Spymemcached);

/// Takes the bit `compressed` out of a value's flags, and undoes what it stands for.
fn inflated(mut value: Encoded, compressed: u32, max_size: usize) -> Result<Encoded, CodecError> {
    if value.flags & compressed != 0 {
        value.flags &= !compressed;
        value.data = decompress(Algorithm::Deflate, &value.data, max_size)?.into();
    }
    if value.data.len() > max_size {
        return Err(CodecError::too_large(value.data.len(), max_size));
    }
    Ok(value)
}

/// A truth value as a digit.
fn boolean(data: &[u8]) -> Result<bool, CodecError> {
    match data {
        b"1" => Ok(true),
        b"0" => Ok(false),
        _ => Err(CodecError::corrupt("is no boolean, as its flags say")),
    }
}

/// A number as text. memcached pads one that it has counted down with spaces.
fn decimal(data: &[u8]) -> Result<i64, CodecError> {
    let corrupt = || CodecError::corrupt("is no integer, as its flags say");
    let digits = std::str::from_utf8(data.trim_ascii()).map_err(|_| corrupt())?;
    let unsigned = digits.strip_prefix('-').unwrap_or(digits);
    if unsigned.is_empty() || !unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(corrupt());
    }
    digits.parse().map_err(|_| {
        CodecError::new(
            CodecErrorKind::WrongType,
            "is an integer that does not fit into 64 bits",
        )
    })
}

/// An object that only `what` reads.
fn serialised(what: &str) -> CodecError {
    CodecError::new(
        CodecErrorKind::Unsupported,
        format!("is an object serialised by {what}, which is not read here"),
    )
}

fn unknown_flags(layout: &str) -> CodecError {
    CodecError::new(
        CodecErrorKind::UnknownFlags,
        format!("has flags that {layout} does not write"),
    )
}
