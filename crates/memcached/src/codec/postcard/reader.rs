//! What postcard's values are made of: bytes, and numbers of variable length.
//!
//! The format: <https://postcard.jamesmunns.com/wire-format>.

use std::borrow::Cow;
use std::fmt;

/// Why bytes are no value of a type.
#[derive(Debug)]
pub(super) struct ReadError(Cow<'static, str>);

impl ReadError {
    pub(super) const fn new(why: &'static str) -> Self {
        Self(Cow::Borrowed(why))
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ReadError {}

impl serde::de::Error for ReadError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string().into())
    }
}

pub(super) type Result<T> = std::result::Result<T, ReadError>;

/// Bytes that are read from the front.
pub(super) struct Reader<'de> {
    rest: &'de [u8],
}

/// Numbers of seven bits a byte, the lowest first; in all bytes but the last the highest bit is set.
macro_rules! varints {
    ($($name:ident)*) => {$(
        pub(super) fn $name(&mut self) -> Result<$name> {
            let mut number = 0;
            let mut shift = 0;
            while shift < $name::BITS {
                let byte = self.byte()?;
                let bits = $name::from(byte & 0x7f);
                let shifted = bits << shift;
                if shifted >> shift != bits {
                    break;
                }
                number |= shifted;
                if byte & 0x80 == 0 {
                    return Ok(number);
                }
                shift += 7;
            }
            Err(ReadError::new(concat!("a number is larger than any ", stringify!($name))))
        }
    )*};
}

impl<'de> Reader<'de> {
    pub(super) fn new(bytes: &'de [u8]) -> Self {
        Self { rest: bytes }
    }

    /// How many bytes have not been read.
    pub(super) fn left(&self) -> usize {
        self.rest.len()
    }

    pub(super) fn byte(&mut self) -> Result<u8> {
        self.array().map(|[byte]| byte)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (array, rest) = self.rest.split_first_chunk().ok_or(TOO_SHORT)?;
        self.rest = rest;
        Ok(*array)
    }

    /// Whether something is true, or there.
    pub(super) fn flag(&mut self) -> Result<bool> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(ReadError::new("a flag is neither 0 nor 1")),
        }
    }

    varints! { u16 u32 u64 u128 }

    /// How many elements follow, or bytes.
    pub(super) fn length(&mut self) -> Result<usize> {
        usize::try_from(self.u64()?).map_err(|_| TOO_SHORT)
    }

    /// Bytes with their number before them.
    pub(super) fn bytes(&mut self) -> Result<&'de [u8]> {
        let length = self.length()?;
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or(TOO_SHORT)?;
        self.rest = rest;
        Ok(bytes)
    }

    pub(super) fn str(&mut self) -> Result<&'de str> {
        std::str::from_utf8(self.bytes()?).map_err(|_| ReadError::new("a text is not UTF-8"))
    }
}

const TOO_SHORT: ReadError = ReadError::new("it ends too early");
