//! The items: what each command does to them, within a memory limit.
//!
//! The store is plain data and reads no clock: every operation is told the time.

use std::collections::HashMap;

use bytes::{Bytes, BytesMut};
use steersman_memcached_protocol::server::{StoreMode, item_size, parse_counter};

use crate::counters::{ClassCounter, StoreCounters};
use crate::item::{Item, Seconds, deadline};
use crate::lru::Lru;
use crate::slab::{Class, Classes};

/// How a storage command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Stored,
    NotStored,
    Exists,
    NotFound,
    OutOfMemory,
}

/// What `incr` or `decr` came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counted {
    Now(u64),
    NotFound,
    NonNumeric,
    OutOfMemory,
}

/// Which way a counter goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Up,
    Down,
}

/// All items of a server.
#[derive(Debug)]
pub(crate) struct Store {
    index: HashMap<Bytes, usize>,
    slots: Vec<Option<Item>>,
    vacant: Vec<usize>,
    lru: Lru,
    classes: Classes,
    max_item_size: usize,
    memory_limit: usize,
    memory_used: usize,
    last_cas: u64,
    flush_at: Option<Seconds>,
    counters: StoreCounters,
}

impl Store {
    /// An empty store. Sizes are in bytes, counted as `item_size` does.
    pub(crate) fn new(memory_limit: usize, max_item_size: usize) -> Self {
        Self {
            index: HashMap::new(),
            slots: Vec::new(),
            vacant: Vec::new(),
            lru: Lru::new(),
            classes: Classes::new(),
            max_item_size,
            memory_limit,
            memory_used: 0,
            last_cas: 0,
            flush_at: None,
            counters: StoreCounters::default(),
        }
    }

    /// Reads an item.
    pub(crate) fn get(&mut self, key: &[u8], now: Seconds) -> Option<&Item> {
        self.counters.gets += 1;
        let Some(slot) = self.find(key, now) else {
            self.counters.get_misses += 1;
            return None;
        };
        self.count(slot, ClassCounter::GetHits);
        Some(self.read(slot))
    }

    /// Reads an item and gives it a new expiry.
    pub(crate) fn get_and_touch(
        &mut self,
        key: &[u8],
        exptime: i32,
        now: Seconds,
    ) -> Option<&Item> {
        let slot = self.expire_later(key, exptime, now)?;
        Some(self.read(slot))
    }

    /// Gives an item a new expiry; tells whether there is one.
    pub(crate) fn touch(&mut self, key: &[u8], exptime: i32, now: Seconds) -> bool {
        self.expire_later(key, exptime, now).is_some()
    }

    /// Removes an item; tells whether there was one.
    pub(crate) fn delete(&mut self, key: &[u8], now: Seconds) -> bool {
        let Some(slot) = self.find(key, now) else {
            self.counters.delete_misses += 1;
            return false;
        };
        self.count(slot, ClassCounter::DeleteHits);
        self.remove(slot);
        true
    }

    /// Stores a value, if the mode's condition holds.
    pub(crate) fn store(
        &mut self,
        mode: StoreMode,
        key: &[u8],
        flags: u32,
        exptime: i32,
        value: &[u8],
        now: Seconds,
    ) -> Verdict {
        let class = self
            .classes
            .of_size(item_size(key.len(), flags, value.len()));
        self.counters.count(class, ClassCounter::Sets);
        let present = self.find(key, now);
        match (mode, present) {
            (StoreMode::Add, Some(slot)) => {
                self.lru.touch(slot);
                return Verdict::NotStored;
            }
            (StoreMode::Replace | StoreMode::Append | StoreMode::Prepend, None) => {
                return Verdict::NotStored;
            }
            (StoreMode::Cas(_), None) => {
                self.counters.cas_misses += 1;
                return Verdict::NotFound;
            }
            (StoreMode::Cas(expected), Some(slot)) => {
                if self.item(slot).cas != expected {
                    self.count(slot, ClassCounter::CasBadval);
                    return Verdict::Exists;
                }
                self.count(slot, ClassCounter::CasHits);
            }
            (StoreMode::Append, Some(slot)) => return self.join(slot, Side::Back, value, now),
            (StoreMode::Prepend, Some(slot)) => return self.join(slot, Side::Front, value, now),
            (StoreMode::Set | StoreMode::Add | StoreMode::Replace, _) => {}
        }
        let item = Item {
            key: Bytes::copy_from_slice(key),
            value: Bytes::copy_from_slice(value),
            flags,
            cas: 0,
            expires: deadline(exptime, now),
            stored: now,
            fetched: false,
        };
        if self.put(present, item) {
            Verdict::Stored
        } else {
            Verdict::OutOfMemory
        }
    }

    /// Notes that an item was too large to be stored. What a `set` would have replaced is
    /// removed, so that nobody reads the old value for the new.
    pub(crate) fn refuse_too_large(&mut self, mode: StoreMode, key: &[u8], now: Seconds) {
        self.counters.too_large += 1;
        if mode == StoreMode::Set
            && let Some(slot) = self.find(key, now)
        {
            self.remove(slot);
        }
    }

    /// Notes that a data block did not end where its length said. memcached counts it as stored.
    pub(crate) fn refuse_bad_block(&mut self) {
        self.counters.bad_blocks += 1;
    }

    /// Adds to or subtracts from a number: up wraps at 2^64, down stops at 0.
    ///
    /// A number that has become shorter is padded with spaces to its former length.
    pub(crate) fn count_by(
        &mut self,
        key: &[u8],
        direction: Direction,
        delta: u64,
        now: Seconds,
    ) -> Counted {
        let Some(slot) = self.find(key, now) else {
            match direction {
                Direction::Up => self.counters.incr_misses += 1,
                Direction::Down => self.counters.decr_misses += 1,
            }
            return Counted::NotFound;
        };
        let item = self.item(slot);
        let (old_len, is_chunked) = (item.value.len(), Classes::is_chunked(item.size()));
        let Some(number) = parse_counter(&item.value).filter(|_| !is_chunked) else {
            return Counted::NonNumeric;
        };
        let (number, counter) = match direction {
            Direction::Up => (number.wrapping_add(delta), ClassCounter::IncrHits),
            Direction::Down => (number.saturating_sub(delta), ClassCounter::DecrHits),
        };
        self.count(slot, counter);
        let mut value = number.to_string().into_bytes();
        if value.len() <= old_len {
            value.resize(old_len, b' ');
            self.last_cas += 1;
            let cas = self.last_cas;
            let item = self.item_mut(slot);
            item.value = value.into();
            item.cas = cas;
            self.lru.touch(slot);
            return Counted::Now(number);
        }
        let item = self.item(slot);
        let longer = Item {
            key: item.key.clone(),
            value: value.into(),
            flags: item.flags,
            cas: 0,
            expires: item.expires,
            stored: now,
            fetched: item.fetched,
        };
        if self.put(Some(slot), longer) {
            Counted::Now(number)
        } else {
            Counted::OutOfMemory
        }
    }

    /// Invalidates every item, now or at a time to come.
    pub(crate) fn flush(&mut self, delay: i32, now: Seconds) {
        self.counters.flushes += 1;
        // memcached flushes what was stored up to a second, that one included.
        let last = if delay > 0 {
            deadline(delay, now).map(|at| at - 1)
        } else {
            None
        };
        self.flush_at = last;
        if last.is_none_or(|last| last <= now) {
            self.last_cas += 1;
        }
        if last.is_none() {
            self.clear();
        }
    }

    /// Sets the memory limit in bytes and evicts what exceeds it.
    pub(crate) fn set_memory_limit(&mut self, bytes: usize) {
        self.memory_limit = bytes;
        self.make_room(0);
    }

    /// Starts the counters again.
    pub(crate) fn reset_counters(&mut self) {
        self.counters = StoreCounters::default();
    }

    pub(crate) fn counters(&self) -> &StoreCounters {
        &self.counters
    }

    pub(crate) fn classes(&self) -> &Classes {
        &self.classes
    }

    pub(crate) fn len(&self) -> usize {
        self.index.len()
    }

    pub(crate) fn memory_used(&self) -> usize {
        self.memory_used
    }

    pub(crate) fn memory_limit(&self) -> usize {
        self.memory_limit
    }

    /// The class an item belongs to.
    pub(crate) fn class_of(&self, item: &Item) -> Class {
        self.classes.of_size(item.size())
    }

    /// All items, expired ones that nobody has asked for since included, the newest first.
    pub(crate) fn items(&self) -> impl Iterator<Item = &Item> {
        self.lru.newest_first().map(|slot| self.item(slot))
    }

    fn item(&self, slot: usize) -> &Item {
        self.slots[slot]
            .as_ref()
            .expect("an indexed slot holds an item")
    }

    fn item_mut(&mut self, slot: usize) -> &mut Item {
        self.slots[slot]
            .as_mut()
            .expect("an indexed slot holds an item")
    }

    fn count(&mut self, slot: usize, counter: ClassCounter) {
        let class = self.class_of(self.item(slot));
        self.counters.count(class, counter);
    }

    /// The slot of a live item; one that turns out to be dead is removed.
    fn find(&mut self, key: &[u8], now: Seconds) -> Option<usize> {
        let slot = *self.index.get(key)?;
        let item = self.item(slot);
        let is_flushed = self
            .flush_at
            .is_some_and(|at| at <= now && item.stored <= at);
        let is_expired = item.is_expired(now);
        let was_fetched = item.fetched;
        if !is_flushed && !is_expired {
            return Some(slot);
        }
        if is_flushed {
            self.counters.flushed += 1;
        } else {
            self.counters.expired += 1;
            self.counters.expired_unfetched += u64::from(!was_fetched);
        }
        self.remove(slot);
        None
    }

    fn read(&mut self, slot: usize) -> &Item {
        self.lru.touch(slot);
        let item = self.item_mut(slot);
        item.fetched = true;
        item
    }

    fn expire_later(&mut self, key: &[u8], exptime: i32, now: Seconds) -> Option<usize> {
        self.counters.touches += 1;
        let Some(slot) = self.find(key, now) else {
            self.counters.touch_misses += 1;
            return None;
        };
        self.count(slot, ClassCounter::TouchHits);
        self.lru.touch(slot);
        self.item_mut(slot).expires = deadline(exptime, now);
        Some(slot)
    }

    /// `append` and `prepend`: flags and expiry stay.
    fn join(&mut self, slot: usize, side: Side, value: &[u8], now: Seconds) -> Verdict {
        let item = self.item(slot);
        let joined_len = item.value.len() + value.len();
        if item_size(item.key.len(), item.flags, joined_len) > self.max_item_size {
            return Verdict::NotStored;
        }
        let mut joined = BytesMut::with_capacity(joined_len);
        let (first, second) = match side {
            Side::Back => (&item.value[..], value),
            Side::Front => (value, &item.value[..]),
        };
        joined.extend_from_slice(first);
        joined.extend_from_slice(second);
        let item = Item {
            key: item.key.clone(),
            value: joined.freeze(),
            flags: item.flags,
            cas: 0,
            expires: item.expires,
            stored: now,
            fetched: false,
        };
        if self.put(Some(slot), item) {
            Verdict::Stored
        } else {
            Verdict::NotStored
        }
    }

    /// Puts an item into its slot, or a new one, with a new CAS number. If the memory limit
    /// admits no such item, the one it was to replace is gone too.
    fn put(&mut self, present: Option<usize>, mut item: Item) -> bool {
        if let Some(slot) = present {
            self.remove(slot);
        }
        let size = item.size();
        if !self.make_room(size) {
            self.counters.no_memory += 1;
            return false;
        }
        self.last_cas += 1;
        item.cas = self.last_cas;
        self.memory_used += size;
        self.counters.stored += 1;
        let slot = self.vacant.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        self.index.insert(item.key.clone(), slot);
        self.slots[slot] = Some(item);
        self.lru.insert(slot);
        true
    }

    /// Evicts the items that were not used for longest until `size` bytes fit.
    fn make_room(&mut self, size: usize) -> bool {
        while self.memory_used + size > self.memory_limit {
            let Some(slot) = self.lru.oldest() else {
                return false;
            };
            self.counters.evictions += 1;
            self.counters.evicted_unfetched += u64::from(!self.item(slot).fetched);
            self.remove(slot);
        }
        true
    }

    fn remove(&mut self, slot: usize) {
        let item = self.slots[slot]
            .take()
            .expect("an indexed slot holds an item");
        self.lru.remove(slot);
        self.vacant.push(slot);
        self.memory_used -= item.size();
        self.index.remove(&item.key);
    }

    fn clear(&mut self) {
        self.index.clear();
        self.slots.clear();
        self.vacant.clear();
        self.lru = Lru::new();
        self.memory_used = 0;
    }
}

#[derive(Debug, Clone, Copy)]
enum Side {
    Front,
    Back,
}

#[cfg(test)]
mod tests;
