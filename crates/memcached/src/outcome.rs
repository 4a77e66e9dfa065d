//! What operations give back, beyond plain values.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use steersman_memcached_protocol::Value;

use crate::error::{Error, Result};

/// What became of an `add`, `replace`, `append` or `prepend`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[must_use = "the server may not have stored the value"]
pub enum StoreOutcome {
    /// The value was stored.
    Stored,
    /// The condition did not hold: the key exists (`add`), or it does not (the others).
    NotStored,
}

impl StoreOutcome {
    /// Whether the value was stored.
    pub fn is_stored(self) -> bool {
        self == Self::Stored
    }
}

/// What became of a `cas`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[must_use = "the server may not have stored the value"]
pub enum CasOutcome {
    /// The value was stored.
    Stored,
    /// Somebody changed the value since its cas number was read.
    Exists,
    /// The key does not exist (any more).
    NotFound,
}

impl CasOutcome {
    /// Whether the value was stored.
    pub fn is_stored(self) -> bool {
        self == Self::Stored
    }
}

/// What a read of many keys found, did not find, and could not find out.
///
/// Every key asked for is in exactly one of the three. One node that is down takes only its own
/// keys to [`failed`](Self::failed).
///
/// Values are those of the server; a [typed view](crate::codec::Typed) gives them decoded.
#[derive(Debug, Clone)]
#[must_use = "some keys may have failed"]
pub struct Many<K, V = Value> {
    /// The values of the keys that exist.
    pub found: HashMap<K, V>,
    /// The keys that the server says do not exist.
    pub missing: Vec<K>,
    /// The keys of which nothing is known, and why.
    pub failed: Vec<(K, Error)>,
}

impl<K: Eq + Hash, V> Many<K, V> {
    /// Sorts what became of each key.
    pub(crate) fn of(answers: Vec<(K, Result<Option<V>>)>) -> Self {
        let mut many = Self {
            found: HashMap::with_capacity(answers.len()),
            missing: Vec::new(),
            failed: Vec::new(),
        };
        for (key, answer) in answers {
            match answer {
                Ok(Some(value)) => drop(many.found.insert(key, value)),
                Ok(None) => many.missing.push(key),
                Err(error) => many.failed.push((key, error)),
            }
        }
        many
    }

    /// The found values, or the first failure if any key failed.
    ///
    /// # Errors
    ///
    /// The first of [`failed`](Self::failed).
    pub fn into_result(mut self) -> Result<HashMap<K, V>> {
        if self.failed.is_empty() {
            Ok(self.found)
        } else {
            Err(self.failed.swap_remove(0).1)
        }
    }
}

/// One result for each node that was asked: all of the cluster, in the order of its nodes, or the
/// replicas of a key, the owner first.
#[derive(Debug, Clone)]
#[must_use = "some nodes may have failed"]
pub struct PerNode<T> {
    pub(crate) results: Vec<(Arc<str>, Result<T>)>,
}

impl<T> Default for PerNode<T> {
    /// No node was asked.
    fn default() -> Self {
        Self {
            results: Vec::new(),
        }
    }
}

impl<T> PerNode<T> {
    /// Each node's name and result.
    pub fn iter(&self) -> std::slice::Iter<'_, (Arc<str>, Result<T>)> {
        self.results.iter()
    }

    /// Each node's name and value, or the first failure if any node failed.
    ///
    /// # Errors
    ///
    /// The error of the first node that failed.
    pub fn into_result(self) -> Result<Vec<(Arc<str>, T)>> {
        self.results
            .into_iter()
            .map(|(name, result)| Ok((name, result?)))
            .collect()
    }
}

impl<T> IntoIterator for PerNode<T> {
    type Item = (Arc<str>, Result<T>);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.results.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a PerNode<T> {
    type Item = &'a (Arc<str>, Result<T>);
    type IntoIter = std::slice::Iter<'a, (Arc<str>, Result<T>)>;

    fn into_iter(self) -> Self::IntoIter {
        self.results.iter()
    }
}
