//! What the meta commands do to the items, as far as the classic ones have no like.

use bytes::Bytes;
use steersman_memcached_protocol::server::{MetaRequest, StoreMode};

use super::{Counted, Direction, Store, Verdict};
use crate::counters::ClassCounter;
use crate::item::{Item, Seconds, deadline};
use crate::slab::{Class, Classes};

/// An item that a meta command has found, or made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Found {
    slot: usize,
    pub(crate) is_new: bool,
    /// A longer number has taken the place of the item. memcached 1.6.18 gives a new expiry to
    /// the one that was there.
    pub(crate) is_replaced: bool,
}

/// What `ma` came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    Now(u64, Found),
    NotFound,
    Exists,
    NonNumeric,
    OutOfMemory,
}

impl Store {
    /// Finds an item to be read, or makes an empty one if `N` says so. That counts as a hit, and
    /// a new expiry makes it count as a touch.
    pub(crate) fn meta_get(&mut self, request: &MetaRequest, now: Seconds) -> Option<Found> {
        let found = self.find_or_make(request, now);
        let counters = &mut self.counters;
        let (total, misses, hits) = if request.exptime.is_some() {
            let (total, misses) = (&mut counters.touches, &mut counters.touch_misses);
            (total, misses, ClassCounter::TouchHits)
        } else {
            let (total, misses) = (&mut counters.gets, &mut counters.get_misses);
            (total, misses, ClassCounter::GetHits)
        };
        *total += 1;
        match found {
            Some(found) => self.count(found.slot, hits),
            None => *misses += 1,
        }
        found
    }

    fn find_or_make(&mut self, request: &MetaRequest, now: Seconds) -> Option<Found> {
        if let Some(slot) = self.find(&request.key, now) {
            return Some(Found {
                slot,
                is_new: false,
                is_replaced: false,
            });
        }
        request.vivify?;
        self.make(&request.key, Bytes::new(), now)
    }

    /// Makes an item of a key that has none; it never expires until it is told to.
    fn make(&mut self, key: &[u8], value: Bytes, now: Seconds) -> Option<Found> {
        // A slice of the line would keep all that came with it.
        let item = Item::new(Bytes::copy_from_slice(key), value, 0, None, now);
        if !self.put(None, item) {
            return None;
        }
        let slot = self.items.slot_of(key)?;
        Some(Found {
            slot,
            is_new: true,
            is_replaced: false,
        })
    }

    /// The item that was found, if nothing has removed it since.
    pub(crate) fn found(&mut self, found: Found) -> &mut Item {
        self.items.get_mut(found.slot)
    }

    /// Notes that the item was used.
    pub(crate) fn bump(&mut self, found: Found, now: Seconds) {
        self.read(found.slot, now);
    }

    /// `ms`: like the classic commands, but with a CAS number in most modes, and with one that is
    /// too low the value may be stored as a stale one. The CAS number comes with it, 0 if nothing
    /// is stored.
    pub(crate) fn meta_set(
        &mut self,
        request: &MetaRequest,
        value: &[u8],
        now: Seconds,
    ) -> (Verdict, u64) {
        let present = self.find(&request.key, now);
        let present_cas = present.map(|slot| self.items.get(slot).cas);
        let mode = match (request.mode, request.cas) {
            (None | Some(b'S' | b'R'), Some(cas)) => StoreMode::Cas(cas),
            (Some(b'E'), _) => StoreMode::Add,
            (Some(b'A'), _) => StoreMode::Append,
            (Some(b'P'), _) => StoreMode::Prepend,
            (Some(b'R'), None) => StoreMode::Replace,
            (_, None) | (Some(_), _) => StoreMode::Set,
        };
        let verdict = match (mode, request.cas, present_cas) {
            (StoreMode::Append | StoreMode::Prepend, Some(cas), Some(present_cas))
                if cas != 0 && cas != present_cas =>
            {
                Verdict::Exists
            }
            (StoreMode::Cas(cas), _, Some(present_cas))
                if request.invalidate && cas < present_cas =>
            {
                self.put_stale(request, value, now)
            }
            _ => {
                let (flags, exptime) = (request.client_flags, request.exptime.unwrap_or(0));
                self.store(mode, &request.key, flags, exptime, value, now)
            }
        };
        if verdict == Verdict::OutOfMemory {
            self.forget(StoreMode::Set, present);
        }
        if verdict != Verdict::Stored {
            return (verdict, 0);
        }
        if request.is_binary
            && !matches!(mode, StoreMode::Append | StoreMode::Prepend)
            && let Some(slot) = self.items.slot_of(&request.key)
        {
            self.items.get_mut(slot).is_binary = true;
        }
        (verdict, self.last_cas)
    }

    /// Stores a value that is old already: expiry and lease stay those of the item that is there.
    fn put_stale(&mut self, request: &MetaRequest, value: &[u8], now: Seconds) -> Verdict {
        let Some(slot) = self.find(&request.key, now) else {
            return Verdict::NotFound;
        };
        let class = self.class_for(request, value);
        self.counters.count(class, ClassCounter::Sets);
        let present = self.items.get(slot);
        let key = Bytes::copy_from_slice(&request.key);
        let value = Bytes::copy_from_slice(value);
        let item = Item {
            is_stale: true,
            has_leased: present.has_leased,
            expires: present.expires,
            ..Item::new(key, value, request.client_flags, None, now)
        };
        if self.put(Some(slot), item) {
            Verdict::Stored
        } else {
            Verdict::OutOfMemory
        }
    }

    fn class_for(&self, request: &MetaRequest, value: &[u8]) -> Class {
        let (key, flags) = (request.key.len(), request.client_flags);
        let size = steersman_memcached_protocol::server::item_size(key, flags, value.len());
        self.classes.of_size(size)
    }

    /// `md`: removes an item, or marks it stale with a new CAS number, so that the next reader
    /// renews it.
    pub(crate) fn meta_delete(&mut self, request: &MetaRequest, now: Seconds) -> Verdict {
        let Some(slot) = self.find(&request.key, now) else {
            self.counters.delete_misses += 1;
            return Verdict::NotFound;
        };
        let item = self.items.get(slot);
        if request.cas.is_some_and(|cas| cas != item.cas) {
            self.counters.delete_misses += 1;
            return Verdict::Exists;
        }
        if !request.invalidate {
            self.count(slot, ClassCounter::DeleteHits);
            self.items.remove(slot);
            return Verdict::Stored;
        }
        self.last_cas += 1;
        let cas = self.last_cas;
        let item = self.items.get_mut(slot);
        if let Some(exptime) = request.exptime {
            item.expires = deadline(exptime, now);
        }
        item.cas = cas;
        item.is_stale = true;
        item.has_leased = false;
        Verdict::Stored
    }

    /// `ma`: counts, or makes a counter if there is none and `N` says so.
    pub(crate) fn meta_count(&mut self, request: &MetaRequest, now: Seconds) -> Arithmetic {
        let down = matches!(request.mode, Some(b'D' | b'-'));
        let direction = if down { Direction::Down } else { Direction::Up };
        let mut len_before = 0;
        if let Some(slot) = self.find(&request.key, now) {
            let item = self.items.get(slot);
            len_before = item.value.len();
            // Only then does memcached look at the CAS number, and at the value last.
            if len_before == 0 || Classes::is_chunked(item.size()) {
                return Arithmetic::NonNumeric;
            }
            let cas = request.cas.filter(|&cas| cas != 0);
            if cas.is_some_and(|cas| cas != item.cas) {
                return Arithmetic::Exists;
            }
        } else if request.vivify.is_some() {
            let value = request.initial.to_string().into();
            return match self.make(&request.key, value, now) {
                Some(found) => Arithmetic::Now(request.initial, found),
                None => Arithmetic::OutOfMemory,
            };
        }
        match self.count_by(&request.key, direction, request.delta, now) {
            Counted::Now(number) => match self.items.slot_of(&request.key) {
                Some(slot) => {
                    let found = Found {
                        slot,
                        is_new: false,
                        is_replaced: self.items.get(slot).value.len() > len_before,
                    };
                    Arithmetic::Now(number, found)
                }
                None => Arithmetic::NotFound,
            },
            Counted::NotFound => Arithmetic::NotFound,
            Counted::NonNumeric => Arithmetic::NonNumeric,
            Counted::OutOfMemory => Arithmetic::OutOfMemory,
        }
    }

    /// `me`: an item, untouched, and its class.
    pub(crate) fn peek(&mut self, key: &[u8], now: Seconds) -> Option<(&Item, Class)> {
        self.counters.metas += 1;
        let slot = self.find(key, now)?;
        let item = self.items.get(slot);
        Some((item, self.class_of(item)))
    }
}
