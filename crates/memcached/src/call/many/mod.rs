//! Reads of many keys: one line of keys after another to each node, all nodes at the same time.

mod part;
mod read;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::Hash;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use steersman_memcached_protocol::{Key, Value};

use self::read::read_all;
use super::key;
use super::read::ReadOf;
use crate::deadline::Patience;
use crate::error::{Error, Result};
use crate::keys::KeyRules;
use crate::observe::CallWatch;
use crate::outcome::Many;
use crate::shared::Shared;

/// A read of many keys; from [`Client::get_many`](crate::Client::get_many) and its like. Awaiting it gives [`Many`].
#[must_use = "a call does nothing until it is awaited"]
pub struct GetMany<K> {
    shared: Arc<Shared>,
    keys: Vec<K>,
    kind: ReadOf,
    patience: Patience,
}

impl<K> GetMany<K> {
    pub(crate) fn new(shared: Arc<Shared>, keys: Vec<K>, kind: ReadOf) -> Self {
        Self {
            shared,
            keys,
            kind,
            patience: Patience::Default,
        }
    }

    /// Replaces the client's time-out for the whole call; `None` waits for ever. Keys that were
    /// answered in time are found all the same.
    pub fn timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.patience = Patience::Own(timeout.into());
        self
    }
}

impl<K> fmt::Debug for GetMany<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GetMany")
            .field("operation", &self.kind.name(true))
            .field("keys", &self.keys.len())
            .finish_non_exhaustive()
    }
}

/// The future of a [`GetMany`].
#[must_use = "futures do nothing until they are awaited"]
pub struct GetManyFuture<K> {
    keys: Vec<K>,
    results: Pin<Box<dyn Future<Output = (Vec<Outcome>, CallWatch)> + Send>>,
}

// The keys are not pinned: nothing points into them.
impl<K> Unpin for GetManyFuture<K> {}

/// What became of one key.
type Outcome = Result<Option<Value>>;

impl<K: AsRef<[u8]> + Eq + Hash> IntoFuture for GetMany<K> {
    type Output = Many<K>;
    type IntoFuture = GetManyFuture<K>;

    fn into_future(self) -> GetManyFuture<K> {
        let Self {
            shared,
            mut keys,
            kind,
            patience,
        } = self;
        let limit = patience.or(shared.options().timeout);
        let mut seen = HashSet::new();
        let first: Vec<bool> = keys.iter().map(|key| seen.insert(key.as_ref())).collect();
        let mut first = first.into_iter();
        keys.retain(|_| first.next() == Some(true));
        let asked = Asked::new(&keys, shared.options().keys.as_ref());
        GetManyFuture {
            keys,
            results: Box::pin(read_all(shared, asked, kind, limit)),
        }
    }
}

impl<K> GetManyFuture<K> {
    /// What became of each key. The watch has yet to be told how the call ended by whoever looks at
    /// the values.
    pub(crate) fn poll_answers(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<(Vec<(K, Outcome)>, CallWatch)> {
        let (results, watch) = ready!(self.results.as_mut().poll(cx));
        let keys = std::mem::take(&mut self.keys);
        Poll::Ready((keys.into_iter().zip(results).collect(), watch))
    }
}

impl<K: Eq + Hash> Future for GetManyFuture<K> {
    type Output = Many<K>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Many<K>> {
        let (answers, mut watch) = ready!(self.poll_answers(cx));
        watch.end_many(answers.iter().map(|(_, result)| result));
        Poll::Ready(Many::of(answers))
    }
}

/// The keys' bytes as they are sent, one after the other.
struct Asked {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// The keys of which nothing can be sent under the client's rules.
    refused: HashMap<usize, Error>,
}

impl Asked {
    fn new<K: AsRef<[u8]>>(keys: &[K], rules: Option<&KeyRules>) -> Self {
        let mut asked = Self {
            bytes: Vec::new(),
            ends: Vec::with_capacity(keys.len()),
            refused: HashMap::new(),
        };
        for (index, key) in keys.iter().enumerate() {
            let key = key.as_ref();
            match rules.map(|rules| rules.sent(key)) {
                None => asked.bytes.extend_from_slice(key),
                Some(Ok(sent)) => asked.bytes.extend_from_slice(&sent),
                Some(Err(error)) => drop(asked.refused.insert(index, error)),
            }
            asked.ends.push(asked.bytes.len());
        }
        asked
    }

    fn key(&self, index: usize) -> Result<Key<'_>> {
        if let Some(error) = self.refused.get(&index) {
            return Err(error.clone());
        }
        key(self.bytes(index))
    }

    fn bytes(&self, index: usize) -> &[u8] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[index]]
    }

    fn all(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        (0..self.ends.len()).map(|index| self.bytes(index))
    }
}
