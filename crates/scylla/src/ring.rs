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
    /// The ring in equal stretches: the first entry at or after the beginning of each, and one more
    /// for the end. There are more stretches than entries, so that little is left to search however
    /// many entries there are.
    stretches: Vec<u32>,
    /// The upper bits of a token that tell its stretch.
    stretch_bits: u32,
    keyspaces: HashMap<String, OnceLock<Entries>, BuildHasherDefault<HostHasher>>,
}

/// 65,536 stretches at most, which take 256 KiB.
const MOST_STRETCH_BITS: u32 = 16;

type Entries = Box<[OnceLock<Box<[NodeIndex]>>]>;

impl Ring {
    /// A ring of these tokens, in ascending order, for these keyspaces.
    pub(crate) fn new(tokens: Vec<i64>, keyspaces: impl Iterator<Item = String>) -> Self {
        let wanted = (tokens.len() * 2).next_power_of_two().ilog2();
        let stretch_bits = wanted.clamp(1, MOST_STRETCH_BITS);
        let begins = (0..1_u64 << stretch_bits).map(|stretch| stretch << (64 - stretch_bits));
        let mut entry = 0;
        let first_entries = begins.map(|begin| {
            let rest = tokens.get(entry..).unwrap_or_default();
            entry += rest
                .iter()
                .take_while(|&&end| position(end) < begin)
                .count();
            entry
        });
        let mut stretches: Vec<_> = first_entries.collect();
        stretches.push(tokens.len());
        let narrowed = stretches
            .into_iter()
            .map(|entry| u32::try_from(entry).unwrap_or(u32::MAX));
        Self {
            stretches: narrowed.collect(),
            stretch_bits,
            tokens,
            keyspaces: keyspaces.map(|name| (name, OnceLock::new())).collect(),
        }
    }

    /// The first entry at or after the token: the number of those before it.
    #[inline]
    fn entry(&self, token: i64) -> usize {
        let stretch = usize::try_from(position(token) >> (64 - self.stretch_bits));
        let bounds = stretch
            .ok()
            .and_then(|stretch| self.stretches.get(stretch..stretch + 2));
        let [begin, end] = match bounds {
            Some(&[begin, end]) => [begin, end].map(|entry| entry as usize),
            _ => [0, self.tokens.len()],
        };
        let within = self.tokens.get(begin..end).unwrap_or_default();
        begin + within.partition_point(|&end| end < token)
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
        // Tokens beyond the last entry belong to the first one.
        let entry = entries.get(self.entry(token)).or_else(|| entries.first())?;
        Some(entry.get_or_init(find))
    }
}

/// How far a token is from the beginning of the ring.
#[inline]
fn position(token: i64) -> u64 {
    token.wrapping_sub(i64::MIN).cast_unsigned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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

    proptest! {
        /// Rings of all sizes, even or with all entries in one place.
        #[test]
        fn the_entry_is_the_first_at_or_after_the_token(
            spread in 0_u32..64,
            tokens in prop::collection::btree_set(any::<i64>(), 0..300),
            others in prop::collection::vec(any::<i64>(), 1..20),
        ) {
            let tokens: std::collections::BTreeSet<_> =
                tokens.into_iter().map(|token| token >> spread).collect();
            let tokens: Vec<_> = tokens.into_iter().collect();
            let ring = Ring::new(tokens.clone(), std::iter::empty());
            let near = tokens.iter().flat_map(|&token| [-1, 0, 1].map(|by| token.wrapping_add(by)));
            let asked = near.chain(others).chain([i64::MIN, -1, 0, i64::MAX]);
            for token in asked {
                prop_assert_eq!(ring.entry(token), tokens.partition_point(|&end| end < token));
            }
        }
    }
}
