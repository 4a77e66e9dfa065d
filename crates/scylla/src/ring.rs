//! The ring: which nodes hold which tokens.
//!
//! The driver works out the replicas of a token, and the shard of each of them, for each request
//! anew, which takes longer than all policies together. On a ring of tokens the replicas change from
//! one entry of the ring to the next, so what the driver says is kept for each entry that was asked
//! for, as long as the state of the cluster is the same. (Tablets, of `ScyllaDB`, come and go without
//! a new state, so nothing is kept of them.)

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::OnceLock;

use steersman_selection::NodeIndex;

use crate::host_hash::HostHasher;

/// The entries of the ring, and for each keyspace the replicas of each of them.
#[derive(Debug, Default)]
pub(crate) struct Ring {
    /// In ascending order. An entry is for the tokens up to it, from the one before.
    tokens: Vec<i64>,
    keyspaces: HashMap<String, OnceLock<Entries>, BuildHasherDefault<HostHasher>>,
}

type Entries = Box<[OnceLock<Box<[NodeIndex]>>]>;

impl Ring {
    /// A ring of these tokens, in ascending order, for these keyspaces.
    pub(crate) fn new(tokens: Vec<i64>, keyspaces: impl Iterator<Item = String>) -> Self {
        Self {
            tokens,
            keyspaces: keyspaces.map(|name| (name, OnceLock::new())).collect(),
        }
    }

    /// The replicas of a token, which `find` has to find if they were not asked for before. `None`
    /// if the keyspace is not one of those that are kept.
    #[inline]
    pub(crate) fn replicas(
        &self,
        keyspace: &str,
        token: i64,
        find: impl FnOnce() -> Box<[NodeIndex]>,
    ) -> Option<&[NodeIndex]> {
        let entries = self.keyspaces.get(keyspace)?.get_or_init(|| {
            let empty = std::iter::repeat_with(OnceLock::new);
            empty.take(self.tokens.len()).collect()
        });
        let entry = self.tokens.partition_point(|&end| end < token);
        // Tokens beyond the last entry belong to the first one.
        let entry = entries.get(entry).or_else(|| entries.first())?;
        Some(entry.get_or_init(find))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replica(number: usize) -> Box<[NodeIndex]> {
        Box::new([NodeIndex::try_from(number).unwrap()])
    }

    #[test]
    fn each_entry_is_found_once() {
        let ring = Ring::new(vec![-10, 0, 10], ["k".to_owned()].into_iter());
        let cases = [
            (-11, 0),
            (-10, 0),
            (-9, 1),
            (0, 1),
            (1, 2),
            (10, 2),
            (11, 0),
        ];
        for (token, entry) in cases {
            assert_eq!(
                ring.replicas("k", token, || replica(entry)),
                Some(&*replica(entry))
            );
            let again = ring.replicas("k", token, || unreachable!("it was found before"));
            assert_eq!(again, Some(&*replica(entry)));
        }
        assert_eq!(ring.replicas("other", 0, || replica(0)), None);
    }

    #[test]
    fn an_empty_ring_has_no_replicas() {
        let ring = Ring::new(Vec::new(), ["k".to_owned()].into_iter());
        assert_eq!(ring.replicas("k", 0, || replica(0)), None);
    }
}
