//! Where items lie: found by key, ordered by their last use, their sizes summed up.

use std::collections::HashMap;

use bytes::Bytes;

use crate::item::Item;
use crate::lru::Lru;

/// Items in numbered slots. An item keeps its slot until it is removed.
///
/// Functions that take a slot expect one that [`Items::slot_of`] or [`Items::oldest`] has named
/// since the last removal.
#[derive(Debug)]
pub(crate) struct Items {
    index: HashMap<Bytes, usize>,
    slots: Vec<Option<Item>>,
    vacant: Vec<usize>,
    lru: Lru,
    memory_used: usize,
}

impl Items {
    pub(crate) fn new() -> Self {
        Self {
            index: HashMap::new(),
            slots: Vec::new(),
            vacant: Vec::new(),
            lru: Lru::new(),
            memory_used: 0,
        }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.index.len()
    }

    /// The sum of their sizes.
    pub(crate) fn memory_used(&self) -> usize {
        self.memory_used
    }

    pub(crate) fn slot_of(&self, key: &[u8]) -> Option<usize> {
        self.index.get(key).copied()
    }

    /// The slot of the item not used for longest.
    pub(crate) fn oldest(&self) -> Option<usize> {
        self.lru.oldest()
    }

    /// All items, the one used last first.
    pub(crate) fn newest_first(&self) -> impl Iterator<Item = &Item> {
        self.lru.newest_first().map(|slot| self.get(slot))
    }

    pub(crate) fn get(&self, slot: usize) -> &Item {
        self.slots[slot].as_ref().expect(OCCUPIED)
    }

    /// For changes that leave key and size as they are.
    pub(crate) fn get_mut(&mut self, slot: usize) -> &mut Item {
        self.slots[slot].as_mut().expect(OCCUPIED)
    }

    /// Makes the item the one used last.
    pub(crate) fn touch(&mut self, slot: usize) {
        self.lru.touch(slot);
    }

    /// Adds an item, of whose key there is none, as the one used last.
    pub(crate) fn insert(&mut self, item: Item) {
        let slot = self.vacant.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        self.memory_used += item.size();
        self.index.insert(item.key.clone(), slot);
        self.slots[slot] = Some(item);
        self.lru.insert(slot);
    }

    pub(crate) fn remove(&mut self, slot: usize) -> Item {
        let item = self.slots[slot].take().expect(OCCUPIED);
        self.lru.remove(slot);
        self.vacant.push(slot);
        self.memory_used -= item.size();
        self.index.remove(&item.key);
        item
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::new();
    }
}

const OCCUPIED: &str = "the caller names a slot that holds an item";
