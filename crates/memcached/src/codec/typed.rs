//! A client whose values have types.

use std::sync::Arc;

use steersman_memcached_protocol::{StoreVerb, Value};

use super::calls::{Encoding, TypedMany, TypedRead, Versioned};
#[cfg(any(feature = "zstd", feature = "lz4"))]
use super::compression::Compression;
use super::error::CodecError;
use super::layout::{Flags, Format};
use super::{Decode, Encode, Encoded};
use crate::call::{Call, Cas, Item, Set, SetIf};
use crate::client::Client;
use crate::expires::Expires;

impl Client {
    /// A view of this client whose values are encoded and decoded by `codec`, one of those in
    /// [`codec`](crate::codec) or one of your own.
    ///
    /// ```
    /// use steersman_memcached::{Client, codec::Utf8};
    ///
    /// # async fn example(client: Client) -> steersman_memcached::Result<()> {
    /// let names = client.typed(Utf8);
    /// names.set("user:7:name", "Ada").await?;
    /// let name: Option<String> = names.get("user:7:name").await?;
    /// # Ok(()) }
    /// ```
    pub fn typed<C: Clone>(&self, codec: C) -> Typed<C> {
        Typed {
            client: self.clone(),
            view: View {
                codec,
                #[cfg(any(feature = "zstd", feature = "lz4"))]
                compression: None,
                unmarked: None,
                max_size: self.shared().options().limits.max_value_size,
            },
        }
    }
}

/// A view of a client that stores and reads values rather than bytes; from [`Client::typed`].
///
/// Which types it takes and gives is the codec's matter: [`Json`](crate::codec) takes whatever
/// implements serde's traits. The type that is read follows from what is done with it, or is named:
/// `let user: Option<User> = users.get("user:7").await?`.
///
/// Values are encoded when a call is made, not when it is awaited; one that cannot be encoded makes
/// the call fail, with [`ErrorKind::Codec`](crate::ErrorKind::Codec), before anything is sent.
/// Encoding and decoding, compression included, run in the task that calls.
///
/// What has no value to encode or decode, such as `delete` and `touch`, is done by
/// [`client`](Self::client).
#[derive(Debug, Clone)]
pub struct Typed<C> {
    client: Client,
    view: View<C>,
}

/// The codec and what is done around it.
#[derive(Debug, Clone)]
pub(super) struct View<C> {
    codec: C,
    #[cfg(any(feature = "zstd", feature = "lz4"))]
    compression: Option<Compression>,
    /// What values without flags are taken for.
    unmarked: Option<u32>,
    max_size: usize,
}

impl<C> View<C> {
    fn encode<T: ?Sized>(&self, value: &T) -> Result<Encoded, CodecError>
    where
        C: Encode<T>,
    {
        let encoded = self.codec.encode(value)?;
        #[cfg(any(feature = "zstd", feature = "lz4"))]
        if let Some(compression) = self.compression {
            return Ok(compression.apply(encoded));
        }
        Ok(encoded)
    }

    fn decode<T>(&self, value: Value) -> Result<T, CodecError>
    where
        C: Decode<T>,
    {
        let flags = match self.unmarked {
            Some(flags) if value.flags == 0 => flags,
            _ => value.flags,
        };
        let encoded = Encoded {
            data: value.data,
            flags,
        };
        self.codec.decode(encoded, self.max_size)
    }

    fn decode_versioned<T>(&self, value: Value) -> Result<Versioned<T>, CodecError>
    where
        C: Decode<T>,
    {
        // A reply to `gets` without the number is none that the protocol allows.
        let cas = value.cas.unwrap_or_default();
        let value = self.decode(value)?;
        Ok(Versioned { value, cas })
    }
}

impl<C> Typed<C> {
    /// The longest value that is decoded, in bytes, after decompression; by default the client's
    /// [`max_value_size`](crate::Builder::max_value_size). A longer one is an error, and is never
    /// held in memory.
    pub fn max_size(mut self, bytes: usize) -> Self {
        self.view.max_size = bytes;
        self
    }

    /// The client that this is a view of.
    pub fn client(&self) -> &Client {
        &self.client
    }
}

impl<C: Format> Typed<C> {
    /// Stores values compressed where that makes them shorter; they are not by default. Reading needs
    /// no setting.
    #[cfg(any(feature = "zstd", feature = "lz4"))]
    pub fn compress(mut self, compression: Compression) -> Self {
        self.view.compression = Some(compression);
        self
    }

    /// Reads values without flags as values of this codec: those that were stored by
    /// [`Client::set`], or by clients that set no flags. By default they are an error.
    pub fn read_unmarked(mut self) -> Self {
        self.view.unmarked = Some(Flags::of(C::ID).to_bits());
        self
    }
}

/// Storing.
impl<C> Typed<C> {
    /// Stores a value; see [`Client::set`].
    pub fn set<K, T: ?Sized>(&self, key: K, value: &T) -> Call<Encoding<Set<K>>>
    where
        K: AsRef<[u8]>,
        C: Encode<T>,
    {
        self.store(key, value, |item| Set { item })
    }

    /// Stores a value if the key does not exist; see [`Client::add`].
    pub fn add<K, T: ?Sized>(&self, key: K, value: &T) -> Call<Encoding<SetIf<K>>>
    where
        K: AsRef<[u8]>,
        C: Encode<T>,
    {
        let verb = StoreVerb::Add;
        self.store(key, value, |item| SetIf { item, verb })
    }

    /// Stores a value if the key exists; see [`Client::replace`].
    pub fn replace<K, T: ?Sized>(&self, key: K, value: &T) -> Call<Encoding<SetIf<K>>>
    where
        K: AsRef<[u8]>,
        C: Encode<T>,
    {
        let verb = StoreVerb::Replace;
        self.store(key, value, |item| SetIf { item, verb })
    }

    /// Stores a value if nobody changed it since [`gets`](Self::gets) gave the number `cas`; see
    /// [`Client::cas`].
    ///
    /// ```
    /// # #[cfg(feature = "json")]
    /// # async fn example(client: steersman_memcached::Client) -> steersman_memcached::Result<()> {
    /// use steersman_memcached::codec::{Json, Versioned};
    ///
    /// let lists = client.typed(Json);
    /// while let Some(mut list) = lists.gets::<_, Vec<u32>>("list").await? {
    ///     list.value.push(7);
    ///     if lists.cas("list", &list.value, list.cas).await?.is_stored() {
    ///         break;
    ///     }
    /// }
    /// # Ok(()) }
    /// ```
    pub fn cas<K, T: ?Sized>(&self, key: K, value: &T, cas: u64) -> Call<Encoding<Cas<K>>>
    where
        K: AsRef<[u8]>,
        C: Encode<T>,
    {
        self.store(key, value, |item| Cas { item, cas })
    }

    fn store<K, T: ?Sized, O>(
        &self,
        key: K,
        value: &T,
        operation: impl FnOnce(Item<K>) -> O,
    ) -> Call<Encoding<O>>
    where
        C: Encode<T>,
    {
        let (item, failed) = match self.view.encode(value) {
            Ok(encoded) => (Item::new(key, encoded.data).with_flags(encoded.flags), None),
            Err(error) => (Item::new(key, bytes::Bytes::new()), Some(error)),
        };
        let shared = Arc::clone(self.client.shared());
        Call::new(shared, None, Encoding::new(operation(item), failed))
    }
}

/// Reading.
impl<C: Clone> Typed<C> {
    /// Reads a value; `None` on a miss. See [`Client::get`].
    pub fn get<K, T>(&self, key: K) -> TypedRead<K, C, T>
    where
        K: AsRef<[u8]>,
        C: Decode<T>,
    {
        TypedRead::new(self.client.get(key), self.view.clone(), View::decode)
    }

    /// Reads a value with its cas number, for [`cas`](Self::cas).
    pub fn gets<K, T>(&self, key: K) -> TypedRead<K, C, Versioned<T>>
    where
        K: AsRef<[u8]>,
        C: Decode<T>,
    {
        TypedRead::new(
            self.client.gets(key),
            self.view.clone(),
            View::decode_versioned,
        )
    }

    /// Reads a value and sets a new expiry.
    pub fn gat<K, T>(&self, key: K, expires: impl Into<Expires>) -> TypedRead<K, C, T>
    where
        K: AsRef<[u8]>,
        C: Decode<T>,
    {
        let call = self.client.gat(key, expires);
        TypedRead::new(call, self.view.clone(), View::decode)
    }

    /// Reads many values, from all their nodes at the same time; see [`Client::get_many`]. Those that
    /// cannot be decoded are among the failed.
    pub fn get_many<K, T>(&self, keys: impl IntoIterator<Item = K>) -> TypedMany<K, C, T>
    where
        K: AsRef<[u8]>,
        C: Decode<T>,
    {
        TypedMany::new(self.client.get_many(keys), self.view.clone(), View::decode)
    }
}
