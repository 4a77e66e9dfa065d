//! What the values of other clients come to.

use std::time::SystemTime;

use bytes::Bytes;

use super::super::error::{CodecError, CodecErrorKind};
use super::super::plain::text;

/// A value of another client: one of the types that languages have in common.
///
/// It is read as itself, where values are of several types, or as the type that is expected, which is
/// an error if it is of another: bytes, `String`, integers, `f64`, `bool`, `SystemTime`. Bytes are
/// read as text if they are UTF-8, and text as bytes.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Scalar {
    /// Bytes.
    Bytes(Bytes),
    /// Text.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// A floating-point number, of whatever width.
    Float(f64),
    /// A truth value.
    Boolean(bool),
    /// A moment, to the millisecond.
    Time(SystemTime),
}

impl Scalar {
    fn name(&self) -> &'static str {
        match self {
            Self::Bytes(_) => "bytes",
            Self::Text(_) => "text",
            Self::Integer(_) => "an integer",
            Self::Float(_) => "a floating-point number",
            Self::Boolean(_) => "a boolean",
            Self::Time(_) => "a time",
        }
    }

    fn is_not(&self, wanted: &str) -> CodecError {
        CodecError::new(
            CodecErrorKind::WrongType,
            format!("is {}, and was to be read as {wanted}", self.name()),
        )
    }
}

impl TryFrom<Scalar> for Bytes {
    type Error = CodecError;

    fn try_from(scalar: Scalar) -> Result<Self, CodecError> {
        match scalar {
            Scalar::Bytes(bytes) => Ok(bytes),
            Scalar::Text(text) => Ok(text.into()),
            other => Err(other.is_not("bytes")),
        }
    }
}

impl TryFrom<Scalar> for Vec<u8> {
    type Error = CodecError;

    fn try_from(scalar: Scalar) -> Result<Self, CodecError> {
        Bytes::try_from(scalar).map(Into::into)
    }
}

impl TryFrom<Scalar> for String {
    type Error = CodecError;

    fn try_from(scalar: Scalar) -> Result<Self, CodecError> {
        match scalar {
            Scalar::Text(text) => Ok(text),
            Scalar::Bytes(bytes) => text(bytes),
            other => Err(other.is_not("text")),
        }
    }
}

/// The types that are read from one kind of scalar only.
macro_rules! read_from {
    ($($type:ty: $kind:ident, $wanted:literal;)*) => {$(
        impl TryFrom<Scalar> for $type {
            type Error = CodecError;

            fn try_from(scalar: Scalar) -> Result<Self, CodecError> {
                match scalar {
                    Scalar::$kind(value) => Ok(value),
                    other => Err(other.is_not($wanted)),
                }
            }
        }
    )*};
}
read_from! {
    i64: Integer, "an integer";
    f64: Float, "a floating-point number";
    bool: Boolean, "a boolean";
    SystemTime: Time, "a time";
}

/// The integers that not every scalar fits into.
macro_rules! narrower {
    ($($type:ty),*) => {$(
        impl TryFrom<Scalar> for $type {
            type Error = CodecError;

            fn try_from(scalar: Scalar) -> Result<Self, CodecError> {
                let integer = i64::try_from(scalar)?;
                Self::try_from(integer).map_err(|_| {
                    CodecError::new(
                        CodecErrorKind::WrongType,
                        format!("is {integer}, which is out of the range of {}", stringify!($type)),
                    )
                })
            }
        }
    )*};
}
narrower!(i8, i16, i32, u8, u16, u32, u64, isize, usize);
