//! Reading: `get` and its like, of one key and of many.

use std::sync::Arc;

use super::Client;
use crate::call::{Call, Get, GetMany, ReadOf};
use crate::expires::Expires;

const PLAIN: ReadOf = ReadOf {
    cas: false,
    touch: None,
};
const WITH_CAS: ReadOf = ReadOf {
    cas: true,
    touch: None,
};

/// Reading.
impl Client {
    /// Reads a value; `None` on a miss.
    ///
    /// Concurrent reads of one node travel in one request line; see
    /// [`autobatching`](crate::Builder::autobatching).
    ///
    /// ```no_run
    /// # async fn example(client: steersman_memcached::Client) -> steersman_memcached::Result<()> {
    /// match client.get("user:7").await? {
    ///     Some(value) => println!("{} bytes, flags {}", value.data.len(), value.flags),
    ///     None => println!("not cached"),
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// An outage, which is never a miss; see [`ErrorKind`](crate::ErrorKind).
    pub fn get<K: AsRef<[u8]>>(&self, key: K) -> Call<Get<K>> {
        self.call(Get { key, kind: PLAIN })
    }

    /// Reads a value with its cas number, for [`cas`](Self::cas).
    pub fn gets<K: AsRef<[u8]>>(&self, key: K) -> Call<Get<K>> {
        self.call(Get {
            key,
            kind: WITH_CAS,
        })
    }

    /// Reads a value and sets a new expiry.
    pub fn gat<K: AsRef<[u8]>>(&self, key: K, expires: impl Into<Expires>) -> Call<Get<K>> {
        self.call(Get {
            key,
            kind: ReadOf {
                touch: Some(expires.into()),
                ..PLAIN
            },
        })
    }

    /// Reads a value with its cas number and sets a new expiry.
    pub fn gats<K: AsRef<[u8]>>(&self, key: K, expires: impl Into<Expires>) -> Call<Get<K>> {
        self.call(Get {
            key,
            kind: ReadOf {
                touch: Some(expires.into()),
                ..WITH_CAS
            },
        })
    }

    /// Reads many values, from all their nodes at the same time.
    ///
    /// It always gives a [`Many`](crate::Many), which says of each key whether it was found, is
    /// missing, or could not be asked for; [`into_result`](crate::Many::into_result) is for those
    /// who want all or nothing.
    ///
    /// ```no_run
    /// # async fn example(client: steersman_memcached::Client) -> steersman_memcached::Result<()> {
    /// let many = client.get_many(["user:7", "user:8"]).await;
    /// for (key, error) in &many.failed {
    ///     eprintln!("{key}: {error}");
    /// }
    /// let values = client.get_many(["user:7", "user:8"]).await.into_result()?;
    /// # Ok(()) }
    /// ```
    pub fn get_many<K: AsRef<[u8]>>(&self, keys: impl IntoIterator<Item = K>) -> GetMany<K> {
        self.many(keys, PLAIN)
    }

    /// Reads many values with their cas numbers.
    pub fn gets_many<K: AsRef<[u8]>>(&self, keys: impl IntoIterator<Item = K>) -> GetMany<K> {
        self.many(keys, WITH_CAS)
    }

    /// Reads many values and sets a new expiry for them.
    pub fn gat_many<K: AsRef<[u8]>>(
        &self,
        keys: impl IntoIterator<Item = K>,
        expires: impl Into<Expires>,
    ) -> GetMany<K> {
        self.many(
            keys,
            ReadOf {
                touch: Some(expires.into()),
                ..PLAIN
            },
        )
    }

    /// Reads many values with their cas numbers and sets a new expiry for them.
    pub fn gats_many<K: AsRef<[u8]>>(
        &self,
        keys: impl IntoIterator<Item = K>,
        expires: impl Into<Expires>,
    ) -> GetMany<K> {
        self.many(
            keys,
            ReadOf {
                touch: Some(expires.into()),
                ..WITH_CAS
            },
        )
    }

    fn many<K>(&self, keys: impl IntoIterator<Item = K>, kind: ReadOf) -> GetMany<K> {
        GetMany::new(Arc::clone(&self.shared), keys.into_iter().collect(), kind)
    }
}
