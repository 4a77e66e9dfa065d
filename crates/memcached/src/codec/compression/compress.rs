//! Compressing what is stored.

use super::super::Encoded;
use super::super::layout::Flags;
#[cfg(feature = "lz4")]
use super::lz4;
#[cfg(feature = "zstd")]
use super::zstd;

/// How values are compressed; for [`Typed::compress`](crate::codec::Typed::compress).
///
/// A value is stored compressed only if it is longer than a threshold and becomes shorter by it.
///
/// ```
/// use steersman_memcached::codec::Compression;
///
/// # #[cfg(feature = "zstd")]
/// let small = Compression::zstd().level(9);
/// # #[cfg(feature = "lz4")]
/// let fast = Compression::lz4().above(16 * 1024);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct Compression {
    method: Method,
    above: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    #[cfg(feature = "zstd")]
    Zstd { level: i32 },
    #[cfg(feature = "lz4")]
    Lz4,
}

impl Compression {
    /// By zstd at level 3. Needs the crate's feature `zstd`.
    #[cfg(feature = "zstd")]
    pub fn zstd() -> Self {
        Self::by(Method::Zstd { level: 3 })
    }

    /// By lz4, which is faster and makes values less small. Needs the crate's feature `lz4`.
    #[cfg(feature = "lz4")]
    pub fn lz4() -> Self {
        Self::by(Method::Lz4)
    }

    fn by(method: Method) -> Self {
        Self {
            method,
            above: 1024,
        }
    }

    /// The level of zstd: from 1, the fastest, to 22, the smallest; negative ones are faster still.
    /// One that is out of range counts as the nearest. Of no meaning for lz4.
    #[cfg(feature = "zstd")]
    pub fn level(mut self, level: i32) -> Self {
        match &mut self.method {
            Method::Zstd { level: old } => *old = level,
            #[cfg(feature = "lz4")]
            Method::Lz4 => {}
        }
        self
    }

    /// Only values of more than this many bytes are compressed; 1,024 by default.
    pub fn above(mut self, bytes: usize) -> Self {
        self.above = bytes;
        self
    }

    /// Compresses a value of the project's own layout, if that makes it shorter.
    pub(in super::super) fn apply(self, encoded: Encoded) -> Encoded {
        let Some(flags) = Flags::from_bits(encoded.flags) else {
            return encoded;
        };
        if encoded.data.len() <= self.above || flags.compression != 0 {
            return encoded;
        }
        let (id, shorter) = match self.method {
            #[cfg(feature = "zstd")]
            Method::Zstd { level } => (1, zstd::compress(&encoded.data, level)),
            #[cfg(feature = "lz4")]
            Method::Lz4 => (2, lz4::compress(&encoded.data)),
        };
        match shorter {
            Some(data) if data.len() < encoded.data.len() => Encoded {
                data: data.into(),
                flags: Flags {
                    compression: id,
                    ..flags
                }
                .to_bits(),
            },
            _ => encoded,
        }
    }
}
