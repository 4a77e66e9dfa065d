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
