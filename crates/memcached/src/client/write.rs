//! Writing: storing, counting, touching and deleting.

use bytes::Bytes;
use steersman_memcached_protocol::StoreVerb;

use super::Client;
use crate::call::{Arithmetic, Call, Cas, Concat, Delete, Item, Set, SetIf, Touch};
use crate::expires::Expires;

/// Writing.
impl Client {
    /// Stores a value.
    pub fn set<K: AsRef<[u8]>>(&self, key: K, value: impl Into<Bytes>) -> Call<Set<K>> {
        self.call(Set {
            item: Item::new(key, value.into()),
        })
    }

    /// Stores a value if the key does not exist.
    pub fn add<K: AsRef<[u8]>>(&self, key: K, value: impl Into<Bytes>) -> Call<SetIf<K>> {
        self.call(SetIf {
            item: Item::new(key, value.into()),
            verb: StoreVerb::Add,
        })
    }

    /// Stores a value if the key exists.
    pub fn replace<K: AsRef<[u8]>>(&self, key: K, value: impl Into<Bytes>) -> Call<SetIf<K>> {
        self.call(SetIf {
            item: Item::new(key, value.into()),
            verb: StoreVerb::Replace,
        })
    }

    /// Adds to the end of a value that exists.
    pub fn append<K: AsRef<[u8]>>(&self, key: K, value: impl Into<Bytes>) -> Call<Concat<K>> {
        self.call(Concat {
            item: Item::new(key, value.into()),
            verb: StoreVerb::Append,
        })
    }

    /// Adds to the beginning of a value that exists.
    pub fn prepend<K: AsRef<[u8]>>(&self, key: K, value: impl Into<Bytes>) -> Call<Concat<K>> {
        self.call(Concat {
            item: Item::new(key, value.into()),
            verb: StoreVerb::Prepend,
        })
    }

    /// Stores a value if nobody changed it since [`gets`](Self::gets) gave the number `cas`.
    pub fn cas<K: AsRef<[u8]>>(&self, key: K, value: impl Into<Bytes>, cas: u64) -> Call<Cas<K>> {
        self.call(Cas {
            item: Item::new(key, value.into()),
            cas,
        })
    }

    /// Adds to a number; wraps around at 2^64. `None` if the key does not exist.
    pub fn increment<K: AsRef<[u8]>>(&self, key: K, delta: u64) -> Call<Arithmetic<K>> {
        self.call(Arithmetic {
            key,
            delta,
            down: false,
        })
    }

    /// Subtracts from a number; stops at 0. `None` if the key does not exist.
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
