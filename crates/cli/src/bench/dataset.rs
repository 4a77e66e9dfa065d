//! The keys and the value of a run: its own, so that nothing of the user's is touched.

use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use steersman_memcached::{Client, Error};

/// What all keys begin with.
const PREFIX: &str = "steersman:bench:";

/// How many digits the number of a key has. All keys are equally long.
const DIGITS: usize = 8;

/// How many requests are under way at a time while keys are written or deleted.
const UNDER_WAY: usize = 256;

/// So many deletions may fail before the rest is left to expire.
const MAX_FAILED: usize = 1000;

/// For how much longer than the load lasts the nodes are to keep the keys, should they not be deleted.
pub(super) const KEPT: Duration = Duration::from_secs(3600);

/// The keys, which runs at the same time do not share, and the one value of all.
pub(super) struct Dataset {
    prefix: String,
    keys: u32,
    value: Bytes,
    expires_in: Duration,
}

/// A key, which can be turned into another one.
#[derive(Debug, Clone)]
pub(super) struct Key(Vec<u8>);

/// A request that failed.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) request: &'static str,
    pub(super) key: Key,
    pub(super) error: Error,
}

impl Dataset {
    /// So many keys with a value of this size, for a load of this length.
    pub(super) fn new(keys: u32, value_size: u32, load: Duration) -> Self {
        Self {
            prefix: format!("{PREFIX}{:08x}:", fastrand::u32(..)),
            keys,
            value: vec![b'v'; value_size as usize].into(),
            expires_in: load + KEPT,
        }
    }

    /// The key with number 0.
    pub(super) fn key(&self) -> Key {
        Key(format!("{}{:0DIGITS$}", self.prefix, 0).into_bytes())
    }

    /// Turns the key into any of all.
    pub(super) fn draw(&self, key: &mut Key, random: &mut fastrand::Rng) {
        key.number(random.u32(..self.keys));
    }

    /// Stores the value.
    pub(super) async fn set(&self, client: &Client, key: &Key) -> Result<(), Error> {
        let call = client.set(key, self.value.clone());
        call.expires_in(self.expires_in).await
    }

    /// Writes every key, until one fails.
    pub(super) async fn fill(&self, client: &Client) -> Result<(), Failed> {
        let writes = stream::iter(self.all()).map(async |key| {
            let written = self.set(client, &key).await;
            written.map_err(|error| Failed {
                request: "set",
                key,
                error,
            })
        });
        let written = writes.buffer_unordered(UNDER_WAY);
        written.try_for_each(async |()| Ok(())).await
    }

    /// Deletes every key; the first failure, if there are any.
    pub(super) async fn clear(&self, client: &Client) -> Result<(), Failed> {
        let deletions = stream::iter(self.all()).map(async |key| {
            let deleted = client.delete(&key).await;
            deleted.map_err(|error| Failed {
                request: "delete",
                key,
                error,
            })
        });
        let failed = deletions
            .buffer_unordered(UNDER_WAY)
            .filter_map(async |deleted| deleted.err());
        let mut failed = Box::pin(failed.take(MAX_FAILED));
        let first = failed.next().await;
        while failed.next().await.is_some() {}
        first.map_or(Ok(()), Err)
    }

    fn all(&self) -> impl Iterator<Item = Key> {
        let first = self.key();
        (0..self.keys).map(move |number| {
            let mut key = first.clone();
            key.number(number);
            key
        })
    }
}

impl Key {
    fn number(&mut self, mut number: u32) {
        for digit in self.0.iter_mut().rev().take(DIGITS) {
            *digit = b"0123456789"[(number % 10) as usize];
            number /= 10;
        }
    }
}

impl AsRef<[u8]> for Key {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn keys_are_of_one_length_and_their_run_s_own() {
        let dataset = Dataset::new(1_001, 1, Duration::ZERO);
        let keys: Vec<Key> = dataset.all().collect();
        let distinct: HashSet<&[u8]> = keys.iter().map(AsRef::as_ref).collect();
        assert_eq!(distinct.len(), 1_001);
        let prefix = dataset.prefix.as_bytes();
        assert!(prefix.starts_with(PREFIX.as_bytes()));
        assert!(distinct.iter().all(|key| key.starts_with(prefix)));
        assert_eq!(keys[1_000].as_ref(), [prefix, b"00001000"].concat());
        let mut key = dataset.key();
        key.number(98_765_432);
        assert_eq!(key.as_ref(), [prefix, b"98765432"].concat());
        key.number(7);
        assert_eq!(key.as_ref(), keys[7].as_ref());
    }

    #[test]
    fn every_key_is_drawn_and_no_other() {
        let dataset = Dataset::new(10, 1, Duration::ZERO);
        let all: HashSet<Vec<u8>> = dataset.all().map(|key| key.0).collect();
        let mut random = fastrand::Rng::with_seed(1);
        let mut key = dataset.key();
        let drawn = (0..1_000).map(|_| {
            dataset.draw(&mut key, &mut random);
            key.0.clone()
        });
        assert_eq!(drawn.collect::<HashSet<_>>(), all);
    }
}
