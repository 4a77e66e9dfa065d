//! Values of a type of one's own: how they become bytes, and how they are read back.
//!
//! [`Client::typed`](crate::Client::typed) gives a view of the client that takes and gives values
//! rather than bytes:
//!
//! ```
//! # #[cfg(feature = "json")] {
//! use serde::{Deserialize, Serialize};
//! use steersman_memcached::{Client, codec::Json};
//! use std::time::Duration;
//!
//! #[derive(Serialize, Deserialize)]
//! struct User {
//!     name: String,
//! }
//!
//! # async fn example(client: Client, user: User) -> steersman_memcached::Result<()> {
//! let users = client.typed(Json);
//! users.set("user:7", &user).expires_in(Duration::from_secs(300)).await?;
//! let user: Option<User> = users.get("user:7").await?;
//! # Ok(()) }
//! # }
//! ```
//!
//! # Flags
//!
//! The 32 bits of flags that memcached keeps with a value say how it is to be read:
//!
//! | bits | what |
//! | --- | --- |
//! | 31 to 16 | `0x5354`, the mark by which values of this layout are told from others |
//! | 15 to 8 | the compression: 0 none, 1 zstd, 2 lz4 |
//! | 7 to 0 | the format: 1 [`Raw`], 2 [`Utf8`], 3 `Json`, 4 `Postcard`, from 128 on those of applications |
//!
//! So a UTF-8 text without compression has the flags `0x53540002`. Whatever has other flags than
//! those that were asked for is an error that says what it is, and never garbage. A compressed
//! value is decompressed by every codec of this layout, whether it compresses itself or not; how much
//! it may become is bounded by [`Typed::max_size`].
//!
//! Values of other clients are read by [`Pymemcache`], [`Pylibmc`], [`Spymemcached`] and [`Dalli`], as
//! [`Scalar`]s, and JSON that they have stored as text by `JsonText`.
//!
//! # A format of one's own
//!
//! ```
//! use bytes::Bytes;
//! use steersman_memcached::codec::{
//!     CodecError, CodecErrorKind, Decode, Encode, Encoded, Format,
//! };
//!
//! /// Temperatures in tenths of a degree.
//! #[derive(Clone)]
//! struct Tenths;
//!
//! impl Format for Tenths {
//!     const ID: u8 = 128;
//!     const NAME: &'static str = "tenths of a degree";
//! }
//!
//! impl Encode<f32> for Tenths {
//!     fn encode(&self, degrees: &f32) -> Result<Encoded, CodecError> {
//!         Ok(Self::mark(Bytes::from_owner(((degrees * 10.0) as i16).to_be_bytes())))
//!     }
//! }
//!
//! impl Decode<f32> for Tenths {
//!     fn decode(&self, value: Encoded, max_size: usize) -> Result<f32, CodecError> {
//!         let bytes = Self::unmark(value, max_size)?;
//!         let bytes = <[u8; 2]>::try_from(&bytes[..]).map_err(|_| {
//!             CodecError::new(CodecErrorKind::Corrupt, "does not have two bytes")
//!         })?;
//!         Ok(f32::from(i16::from_be_bytes(bytes)) / 10.0)
//!     }
//! }
//!
//! let encoded = Tenths.encode(&21.5)?;
//! assert_eq!(encoded.flags, 0x5354_0080);
//! assert_eq!(Tenths.decode(encoded, 100)?, 21.5);
//! # Ok::<(), CodecError>(())
//! ```

mod calls;
mod compression;
mod error;
mod foreign;
#[cfg(feature = "json")]
mod json;
mod layout;
mod plain;
#[cfg(feature = "postcard")]
mod postcard;
#[cfg(test)]
mod tests;
mod typed;

use bytes::Bytes;

pub use self::calls::{
    Encoding, TypedMany, TypedManyFuture, TypedRead, TypedReadFuture, Versioned,
};
#[cfg(any(feature = "zstd", feature = "lz4"))]
pub use self::compression::Compression;
pub use self::error::{CodecError, CodecErrorKind};
pub use self::foreign::{Dalli, Pylibmc, Pymemcache, Scalar, Spymemcached};
#[cfg(feature = "json")]
pub use self::json::{Json, JsonText};
pub use self::layout::Format;
pub use self::plain::{Raw, Utf8};
#[cfg(feature = "postcard")]
pub use self::postcard::Postcard;
pub use self::typed::Typed;

/// The bytes of a value as they are stored, and the flags that say how to read them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encoded {
    /// The bytes.
    pub data: Bytes,
    /// The flags.
    pub flags: u32,
}

/// A codec that can store values of type `T`.
pub trait Encode<T: ?Sized> {
    /// Turns a value into bytes and flags.
    ///
    /// # Errors
    ///
    /// [`CodecErrorKind::Encode`] if there is no such form of it.
    fn encode(&self, value: &T) -> Result<Encoded, CodecError>;
}

/// A codec that can read values of type `T`.
pub trait Decode<T> {
    /// Reads a value, whoever stored it: bytes and flags may be anything.
    ///
    /// What is decompressed may have at most `max_size` bytes, and no more memory than that is to
    /// be set aside on the word of the value alone.
    ///
    /// # Errors
    ///
    /// Why it is no value that this codec reads as a `T`.
    fn decode(&self, value: Encoded, max_size: usize) -> Result<T, CodecError>;
}
