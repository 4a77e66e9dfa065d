//! Writing: storing, counting, touching and deleting.

use steersman_memcached_protocol::StoreVerb;

use super::Client;
use crate::call::{Arithmetic, Call, Cas, Concat, Delete, Item, Set, SetIf, Touch};
use crate::expires::Expires;
use crate::value::IntoValue;

/// Writing.
impl Client {
    /// Stores a value.
    ///
    /// ```no_run
    /// # async fn example(client: steersman_memcached::Client) -> steersman_memcached::Result<()> {
    /// use std::time::Duration;
    ///
    /// client.set("user:7", "Ada").expires_in(Duration::from_secs(300)).flags(1).await?;
    /// // Not waiting for the reply:
    /// client.set("seen:7", b"yes").noreply().await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Server`](crate::ErrorKind::Server) if the server refuses it, as for a value
    /// above its item size limit; otherwise see [`ErrorKind`](crate::ErrorKind).
    pub fn set<K: AsRef<[u8]>>(&self, key: K, value: impl IntoValue) -> Call<Set<K>> {
        self.call(Set {
            item: Item::new(key, value.into_value()),
        })
    }

    /// Stores a value if the key does not exist.
    pub fn add<K: AsRef<[u8]>>(&self, key: K, value: impl IntoValue) -> Call<SetIf<K>> {
        self.call(SetIf {
            item: Item::new(key, value.into_value()),
            verb: StoreVerb::Add,
        })
    }

    /// Stores a value if the key exists.
    pub fn replace<K: AsRef<[u8]>>(&self, key: K, value: impl IntoValue) -> Call<SetIf<K>> {
        self.call(SetIf {
            item: Item::new(key, value.into_value()),
            verb: StoreVerb::Replace,
        })
    }

    /// Adds to the end of a value that exists. Its flags and expiry stay as they are.
    pub fn append<K: AsRef<[u8]>>(&self, key: K, value: impl IntoValue) -> Call<Concat<K>> {
        self.call(Concat {
            item: Item::new(key, value.into_value()),
            verb: StoreVerb::Append,
        })
    }

    /// Adds to the beginning of a value that exists. Its flags and expiry stay as they are.
    pub fn prepend<K: AsRef<[u8]>>(&self, key: K, value: impl IntoValue) -> Call<Concat<K>> {
        self.call(Concat {
            item: Item::new(key, value.into_value()),
            verb: StoreVerb::Prepend,
        })
    }

    /// Stores a value if nobody changed it since [`gets`](Self::gets) gave the number `cas`.
    ///
    /// ```no_run
    /// # async fn example(client: steersman_memcached::Client) -> steersman_memcached::Result<()> {
    /// // Appends to a list, however many others do the same.
    /// while let Some(list) = client.gets("list").await? {
    ///     let longer = [&list.data[..], b",7"].concat();
    ///     let cas = list.cas.expect("gets gives it");
    ///     if client.cas("list", longer, cas).await?.is_stored() {
    ///         break;
    ///     }
    /// }
    /// # Ok(()) }
    /// ```
    pub fn cas<K: AsRef<[u8]>>(&self, key: K, value: impl IntoValue, cas: u64) -> Call<Cas<K>> {
        self.call(Cas {
            item: Item::new(key, value.into_value()),
            cas,
        })
    }

    /// Adds to a number; wraps around at 2^64. `None` if the key does not exist.
    ///
    /// The value has to be a decimal number as text. memcached pads a number that becomes
    /// shorter with spaces, which a later [`get`](Self::get) shows.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Server`](crate::ErrorKind::Server) if the value is not a number.
    pub fn increment<K: AsRef<[u8]>>(&self, key: K, delta: u64) -> Call<Arithmetic<K>> {
        self.call(Arithmetic {
            key,
            delta,
            down: false,
        })
    }

    /// Subtracts from a number; stops at 0. `None` if the key does not exist. Otherwise as
    /// [`increment`](Self::increment).
    pub fn decrement<K: AsRef<[u8]>>(&self, key: K, delta: u64) -> Call<Arithmetic<K>> {
        self.call(Arithmetic {
            key,
            delta,
            down: true,
        })
    }

    /// Sets a new expiry; gives whether the key exists.
    pub fn touch<K: AsRef<[u8]>>(&self, key: K, expires: impl Into<Expires>) -> Call<Touch<K>> {
        self.call(Touch {
            key,
            expires: expires.into(),
        })
    }

    /// Deletes a key; gives whether it existed.
    pub fn delete<K: AsRef<[u8]>>(&self, key: K) -> Call<Delete<K>> {
        self.call(Delete { key })
    }
}
