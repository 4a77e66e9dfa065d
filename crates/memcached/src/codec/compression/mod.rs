//! Compression of values: which one a value has, and how it is undone within bounds.
//!
//! What a server holds may be made to become huge, so nothing here sets aside more memory than the
//! bound it is given, whatever a value declares.

#[cfg(any(feature = "zstd", feature = "lz4"))]
mod compress;
#[cfg(feature = "zlib")]
mod inflate;
#[cfg(feature = "lz4")]
mod lz4;
#[cfg(all(test, any(feature = "zstd", feature = "lz4", feature = "zlib")))]
mod tests;
#[cfg(feature = "zstd")]
mod zstd;

#[cfg(any(feature = "zstd", feature = "lz4"))]
pub use self::compress::Compression;
use super::error::{CodecError, CodecErrorKind};

/// The compressions that values may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Algorithm {
    /// A zstd frame (RFC 8878) that declares the length of its content.
    Zstd,
    /// The length in 4 bytes, the least first, and a block in the format of lz4.
    Lz4,
    /// A zlib (RFC 1950) or gzip (RFC 1952) stream, which only other clients write.
    Deflate,
}

impl Algorithm {
    /// By its number in the flags of the project's own layout.
    pub(super) fn from_id(id: u8) -> Result<Option<Self>, CodecError> {
        match id {
            0 => Ok(None),
            1 => Ok(Some(Self::Zstd)),
            2 => Ok(Some(Self::Lz4)),
            _ => Err(CodecError::new(
                CodecErrorKind::Unsupported,
                format!("has the compression number {id}, which this version does not know"),
            )),
        }
    }
}

/// Undoes the compression, if that gives at most `max_size` bytes.
pub(super) fn decompress(
    algorithm: Algorithm,
    data: &[u8],
    max_size: usize,
) -> Result<Vec<u8>, CodecError> {
    /// For a compression that was left out.
    #[cfg(not(all(feature = "zstd", feature = "lz4", feature = "zlib")))]
    fn left_out(feature: &str) -> impl Fn(&[u8], usize) -> Result<Vec<u8>, CodecError> {
        move |_, _| {
            Err(CodecError::new(
                CodecErrorKind::Unsupported,
                format!("is compressed, which takes this crate's feature `{feature}` to read"),
            ))
        }
    }

    match algorithm {
        #[cfg(feature = "zstd")]
        Algorithm::Zstd => zstd::decompress(data, max_size),
        #[cfg(feature = "lz4")]
        Algorithm::Lz4 => lz4::decompress(data, max_size),
        #[cfg(feature = "zlib")]
        Algorithm::Deflate => inflate::decompress(data, max_size),
        #[cfg(not(feature = "zstd"))]
        Algorithm::Zstd => left_out("zstd")(data, max_size),
        #[cfg(not(feature = "lz4"))]
        Algorithm::Lz4 => left_out("lz4")(data, max_size),
        #[cfg(not(feature = "zlib"))]
        Algorithm::Deflate => left_out("zlib")(data, max_size),
    }
}
