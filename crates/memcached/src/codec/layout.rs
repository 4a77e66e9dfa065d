//! The project's own layout of the flags: a mark, the compression and the format.

use std::borrow::Cow;

use bytes::Bytes;

use super::Encoded;
use super::compression::{Algorithm, decompress};
use super::error::{CodecError, CodecErrorKind};

/// The upper half of the flags: "ST" in ASCII.
const MARK: u16 = 0x5354;

/// A format of the [layout](crate::codec#flags) that marks its values.
pub trait Format {
    /// The number that stands for it in the flags. Those from 128 on are for applications.
    const ID: u8;

    /// What messages call it.
    const NAME: &'static str;

    /// Marks bytes as being in this format.
    fn mark(data: impl Into<Bytes>) -> Encoded {
        Encoded {
            data: data.into(),
            flags: Flags::of(Self::ID).to_bits(),
        }
    }

    /// The bytes of a value of this format, decompressed.
    ///
    /// # Errors
    ///
    /// If the value is none of this format, or is longer than `max_size` bytes.
    fn unmark(value: Encoded, max_size: usize) -> Result<Bytes, CodecError> {
        let Some(flags) = Flags::from_bits(value.flags) else {
            return Err(CodecError::new(
                CodecErrorKind::UnknownFlags,
                "has no mark of a codec: another client wrote it, or it was written without codec",
            ));
        };
        if flags.format != Self::ID {
            let (wanted, found) = (Self::NAME, format_name(flags.format));
            return Err(CodecError::new(
                CodecErrorKind::WrongType,
                format!("is in the format {found}, and was to be read as {wanted}"),
            ));
        }
        match Algorithm::from_id(flags.compression)? {
            Some(algorithm) => Ok(decompress(algorithm, &value.data, max_size)?.into()),
            None if value.data.len() > max_size => {
                Err(CodecError::too_large(value.data.len(), max_size))
            }
            None => Ok(value.data),
        }
    }
}

/// Flags of this layout, taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Flags {
    pub(super) compression: u8,
    pub(super) format: u8,
}

impl Flags {
    /// Those of a format, without compression.
    pub(super) fn of(format: u8) -> Self {
        Self {
            compression: 0,
            format,
        }
    }

    pub(super) fn to_bits(self) -> u32 {
        let [high, low] = MARK.to_be_bytes();
        u32::from_be_bytes([high, low, self.compression, self.format])
    }

    /// None if they have no mark.
    pub(super) fn from_bits(bits: u32) -> Option<Self> {
        let [high, low, compression, format] = bits.to_be_bytes();
        (u16::from_be_bytes([high, low]) == MARK).then_some(Self {
            compression,
            format,
        })
    }
}

/// What messages call a format that another codec may have written.
fn format_name(id: u8) -> Cow<'static, str> {
    match id {
        1 => "raw bytes".into(),
        2 => "UTF-8".into(),
        3 => "JSON".into(),
        4 => "postcard".into(),
        128.. => format!("number {id}, one of an application").into(),
        _ => format!("number {id}, which this version does not know").into(),
    }
}
