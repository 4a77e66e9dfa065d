//! What each command does to the items, within a memory limit.
//!
//! The store is plain data and reads no clock: every operation is told the time.

mod meta;

use bytes::{Bytes, BytesMut};
use steersman_memcached_protocol::server::{StoreMode, item_size, parse_counter};

use crate::counters::{ClassCounter, StoreCounters};
use crate::item::{Item, Seconds, deadline};
use crate::items::Items;
use crate::slab::{Class, Classes};

pub(crate) use self::meta::Arithmetic;

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
    items: Items,
    classes: Classes,
    max_item_size: usize,
    memory_limit: usize,
    last_cas: u64,
    flush_at: Option<Seconds>,
    counters: StoreCounters,
}

impl Store {
    /// An empty store. Sizes are in bytes, counted as `item_size` does.
    pub(crate) fn new(memory_limit: usize, max_item_size: usize) -> Self {
        Self {
            items: Items::new(),
            classes: Classes::new(),
            max_item_size,
            memory_limit,
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
        Some(self.read(slot, now))
    }

    /// Reads an item and gives it a new expiry.
    pub(crate) fn get_and_touch(
        &mut self,
        key: &[u8],
        exptime: i32,
        now: Seconds,
    ) -> Option<&Item> {
        let slot = self.expire_later(key, exptime, now)?;
        Some(self.read(slot, now))
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
        self.items.remove(slot);
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
                self.items.touch(slot);
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
                if self.items.get(slot).cas != expected {
                    self.count(slot, ClassCounter::CasBadval);
                    return Verdict::Exists;
                }
                self.count(slot, ClassCounter::CasHits);
            }
            (StoreMode::Append, Some(slot)) => return self.join(slot, Side::Back, value, now),
            (StoreMode::Prepend, Some(slot)) => return self.join(slot, Side::Front, value, now),
            (StoreMode::Set | StoreMode::Add | StoreMode::Replace, _) => {}
        }
        let (key, value) = (Bytes::copy_from_slice(key), Bytes::copy_from_slice(value));
        let item = Item::new(key, value, flags, deadline(exptime, now), now);
        if self.put(present, item) {
            return Verdict::Stored;
        }
        self.forget(mode, present);
        Verdict::OutOfMemory
    }

    /// What a `set` failed to replace is removed, so that nobody reads the old value for the new.
    fn forget(&mut self, mode: StoreMode, present: Option<usize>) {
        if mode == StoreMode::Set
            && let Some(slot) = present
        {
            self.items.remove(slot);
        }
    }

    /// Notes that an item was too large to be stored.
    pub(crate) fn refuse_too_large(&mut self, mode: StoreMode, key: &[u8], now: Seconds) {
        self.counters.too_large += 1;
        let present = self.find(key, now);
        self.forget(mode, present);
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
        let item = self.items.get(slot);
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
            let item = self.items.get_mut(slot);
            item.value = value.into();
            item.cas = cas;
            self.items.touch(slot);
            return Counted::Now(number);
        }
        let item = self.items.get(slot);
        let (key, flags, expires) = (item.key.clone(), item.flags, item.expires);
        let longer = Item::new(key, value.into(), flags, expires, now);
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
            self.items.clear();
        }
    }

    /// Sets the memory limit in bytes and evicts what exceeds it.
    pub(crate) fn set_memory_limit(&mut self, bytes: usize) {
        self.memory_limit = bytes;
        self.evict_down_to(bytes);
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
        self.items.len()
    }

    pub(crate) fn memory_used(&self) -> usize {
        self.items.memory_used()
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
        self.items.newest_first()
    }

    fn count(&mut self, slot: usize, counter: ClassCounter) {
        let class = self.class_of(self.items.get(slot));
        self.counters.count(class, counter);
    }

    /// The slot of a live item; one that turns out to be dead is removed.
    fn find(&mut self, key: &[u8], now: Seconds) -> Option<usize> {
        let slot = self.items.slot_of(key)?;
        let item = self.items.get(slot);
        let is_flushed = self
            .flush_at
            .is_some_and(|at| at <= now && item.stored <= at);
        if !is_flushed && !item.is_expired(now) {
            return Some(slot);
        }
        let dead = self.items.remove(slot);
        if is_flushed {
            self.counters.flushed += 1;
        } else {
            self.counters.expired += 1;
            self.counters.expired_unfetched += u64::from(!dead.fetched);
        }
        None
    }

    fn read(&mut self, slot: usize, now: Seconds) -> &Item {
        self.items.touch(slot);
        let item = self.items.get_mut(slot);
        item.fetched = true;
        item.last_access = now;
        item
    }

    fn expire_later(&mut self, key: &[u8], exptime: i32, now: Seconds) -> Option<usize> {
        self.counters.touches += 1;
        let Some(slot) = self.find(key, now) else {
            self.counters.touch_misses += 1;
            return None;
        };
        self.count(slot, ClassCounter::TouchHits);
        self.items.touch(slot);
        self.items.get_mut(slot).expires = deadline(exptime, now);
        Some(slot)
    }

    /// `append` and `prepend`: flags and expiry stay.
    fn join(&mut self, slot: usize, side: Side, value: &[u8], now: Seconds) -> Verdict {
        let item = self.items.get(slot);
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
        let value = joined.freeze();
        let item = Item::new(item.key.clone(), value, item.flags, item.expires, now);
        if self.put(Some(slot), item) {
            Verdict::Stored
        } else {
            Verdict::NotStored
        }
    }

    /// Puts an item in the place of the present one, if any, with a new CAS number. Tells whether
    /// the memory limit admits such an item; if not, nothing has changed.
    fn put(&mut self, present: Option<usize>, mut item: Item) -> bool {
        let size = item.size();
        if size > self.memory_limit {
            self.counters.no_memory += 1;
            return false;
        }
        if let Some(slot) = present {
            self.items.remove(slot);
        }
        self.evict_down_to(self.memory_limit - size);
        self.last_cas += 1;
        item.cas = self.last_cas;
        self.counters.stored += 1;
        self.items.insert(item);
        true
    }

    /// Evicts the items that were not used for longest until the others take at most `bytes`.
    fn evict_down_to(&mut self, bytes: usize) {
        while self.items.memory_used() > bytes
            && let Some(slot) = self.items.oldest()
        {
            let evicted = self.items.remove(slot);
            self.counters.evictions += 1;
            self.counters.evicted_unfetched += u64::from(!evicted.fetched);
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Side {
    Front,
    Back,
}

#[cfg(test)]
mod tests;
