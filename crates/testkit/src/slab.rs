//! memcached's slab classes: which chunk size an item of a given size takes.
//!
//! Items here are ordinary allocations; the classes only give `stats items`, `stats slabs` and
//! `stats cachedump` the numbers a monitoring client expects.

/// Chunks grow by this factor from class to class.
const GROWTH_FACTOR: f64 = 1.25;
/// The smallest chunk: a header of 48 bytes and 48 bytes of data.
const SMALLEST_CHUNK: usize = 96;
/// Chunk sizes are multiples of this.
const ALIGNMENT: usize = 8;
/// The largest chunk; larger items take several.
const LARGEST_CHUNK: usize = 512 * 1024;
/// A page is cut into chunks of one class.
pub(crate) const PAGE: usize = 1024 * 1024;

/// Class ids are below this number.
pub(crate) const CLASS_LIMIT: u32 = 64;

/// One class of chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Class {
    pub(crate) id: u32,
    pub(crate) chunk_size: usize,
}

impl Class {
    pub(crate) fn chunks_per_page(self) -> usize {
        PAGE / self.chunk_size
    }
}

/// All classes, the smallest chunks first.
#[derive(Debug)]
pub(crate) struct Classes {
    classes: Vec<Class>,
}

impl Classes {
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "chunk sizes are small positive numbers"
    )]
    pub(crate) fn new() -> Self {
        let mut classes = Vec::new();
        let mut chunk_size = SMALLEST_CHUNK;
        let mut id = 1;
        while (chunk_size as f64) <= LARGEST_CHUNK as f64 / GROWTH_FACTOR {
            classes.push(Class { id, chunk_size });
            id += 1;
            chunk_size = ((chunk_size as f64 * GROWTH_FACTOR) as usize).next_multiple_of(ALIGNMENT);
        }
        classes.push(Class {
            id,
            chunk_size: LARGEST_CHUNK,
        });
        Self { classes }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Class> {
        self.classes.iter().copied()
    }

    /// The class of an item of this size.
    pub(crate) fn of_size(&self, size: usize) -> Class {
        let index = self
            .classes
            .partition_point(|class| class.chunk_size < size);
        self.classes[index.min(self.classes.len() - 1)]
    }

    /// Does an item of this size take several chunks?
    pub(crate) fn is_chunked(size: usize) -> bool {
        size > LARGEST_CHUNK
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_those_of_memcached() {
        let classes = Classes::new();
        let sizes: Vec<(u32, usize)> = classes.iter().map(|c| (c.id, c.chunk_size)).collect();
        for known in [
            (1, 96),
            (2, 120),
            (4, 192),
            (7, 384),
            (31, 82792),
            (39, 524_288),
        ] {
            assert!(sizes.contains(&known), "{known:?} not in {sizes:?}");
        }
        assert_eq!(sizes.len(), 39);
    }

    #[test]
    fn an_item_takes_the_smallest_chunk_that_holds_it() {
        let classes = Classes::new();
        assert_eq!(classes.of_size(62).id, 1);
        assert_eq!(classes.of_size(96).id, 1);
        assert_eq!(classes.of_size(97).id, 2);
        assert_eq!(classes.of_size(1 << 20).id, 39);
    }
}
