//! A table of what is known of each node, which grows while others read it.

use std::sync::OnceLock;

use crate::NodeIndex;

/// One `T` for each node index, made when a node first comes in.
///
/// Entries are in segments of 32, 32, 64, 128 and so on up to 32,768, which are made as a whole and
/// never move, so readers need no lock and never wait.
#[derive(Debug)]
pub(crate) struct Table<T> {
    segments: [OnceLock<Box<[T]>>; SEGMENTS],
}

/// The entries of the first segment, a power of two.
const FIRST: usize = 32;

/// Enough for all node indices: the segments end at twice the start of the last.
const SEGMENTS: usize = 12;

const _: () = assert!(NodeIndex::COUNT < FIRST << (SEGMENTS - 1));

impl<T: Default> Table<T> {
    pub(crate) fn new() -> Self {
        Self {
            segments: [const { OnceLock::new() }; SEGMENTS],
        }
    }

    /// The entry of a node; `None` if the node, and those around it, never came in.
    #[inline]
    pub(crate) fn get(&self, node: NodeIndex) -> Option<&T> {
        let (segment, offset) = locate(node);
        self.segments[segment].get()?.get(offset)
    }

    /// The entry of a node, which is made if it has none yet.
    pub(crate) fn get_or_make(&self, node: NodeIndex) -> &T {
        let (segment, offset) = locate(node);
        let entries = self.segments[segment].get_or_init(|| {
            let length = FIRST << segment.saturating_sub(1);
            std::iter::repeat_with(T::default).take(length).collect()
        });
        &entries[offset]
    }

    /// All entries that were made, in the order of their nodes.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (NodeIndex, &T)> {
        let entries = self
            .segments
            .iter()
            .enumerate()
            .flat_map(|(segment, entries)| {
                let first = if segment == 0 {
                    0
                } else {
                    FIRST << (segment - 1)
                };
                (first..).zip(entries.get().into_iter().flatten())
            });
        entries.filter_map(|(index, entry)| Some((NodeIndex::try_from(index).ok()?, entry)))
    }
}

/// The segment of a node's entry and the place within it.
#[inline]
fn locate(node: NodeIndex) -> (usize, usize) {
    let index = node.get();
    if index < FIRST {
        return (0, index);
    }
    // Segment s > 0 starts at its own length, FIRST * 2^(s-1).
    let start = 1 << index.ilog2();
    ((start / FIRST).ilog2() as usize + 1, index - start)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_node_has_a_place_of_its_own() {
        let mut places = HashSet::new();
        for index in 0..NodeIndex::COUNT {
            let (segment, offset) = locate(NodeIndex::try_from(index).unwrap());
            let length = FIRST << segment.saturating_sub(1);
            assert!(segment < SEGMENTS && offset < length, "{index}");
            assert!(places.insert((segment, offset)), "{index}");
        }
    }

    #[test]
    fn entries_are_made_once_and_stay() {
        let table = Table::<std::sync::atomic::AtomicU32>::new();
        let node = NodeIndex::try_from(100).unwrap();
        assert!(table.get(node).is_none());
        let entry = table.get_or_make(node);
        entry.store(7, std::sync::atomic::Ordering::Relaxed);
        let _ = table.get_or_make(NodeIndex::try_from(60_000).unwrap());
        assert!(std::ptr::eq(entry, table.get_or_make(node)));
        assert!(std::ptr::eq(entry, table.get(node).unwrap()));
        for (node, entry) in table.iter() {
            assert!(std::ptr::eq(entry, table.get(node).unwrap()));
        }
        // Those of node 100 are 64 to 127, those of node 60,000 from 32,768 on.
        assert_eq!(table.iter().count(), 64 + NodeIndex::COUNT - 32_768);
    }
}
