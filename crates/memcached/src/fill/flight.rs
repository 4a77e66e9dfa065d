//! Those in this process who wait for the same key: one of them has the lead, and what it gets is for
//! all.
//!
//! A flight exists as long as somebody takes part in it, so there are at most as many as there are
//! callers at a time.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::{OwnedMutexGuard, watch};

use super::Filled;

/// So many locks are shared by all keys.
const SHARDS: usize = 16;

/// The flights of a client.
#[derive(Default)]
pub(crate) struct Flights {
    hasher: RandomState,
    shards: [Shard; SHARDS],
}

type Shard = Mutex<HashMap<Bytes, Arc<Flight>>>;

struct Flight {
    landed: watch::Sender<Option<Landed>>,
    lead: Arc<tokio::sync::Mutex<()>>,
}

/// What the callers waited for.
#[derive(Clone)]
struct Landed {
    /// What the cache held before, by its number.
    cas: u64,
    filled: Filled,
}

/// A caller's part in a flight.
pub(super) struct Seat {
    flights: Arc<Flights>,
    key: Bytes,
    flight: Arc<Flight>,
}

/// The lead of a flight. Dropped, the next in turn takes it.
pub(super) struct Lead {
    // Dropped in this order, so that the flight is there for the next.
    _guard: OwnedMutexGuard<()>,
    pub(super) seat: Seat,
}

/// What comes of waiting in a flight.
pub(super) enum Next {
    Landed(Filled),
    /// It is this caller's turn to lead.
    Turn(OwnedMutexGuard<()>),
    /// What has landed is not what this caller waited for.
    Missed,
}

impl Flights {
    fn shard(&self, key: &[u8]) -> MutexGuard<'_, HashMap<Bytes, Arc<Flight>>> {
        let hash = usize::try_from(self.hasher.hash_one(key) % SHARDS as u64);
        let shard = &self.shards[hash.expect("it is below 16")];
        shard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes part in the flight of a key.
    pub(super) fn join(self: &Arc<Self>, key: &Bytes) -> Seat {
        let flight = self
            .shard(key)
            .entry(key.clone())
            .or_insert_with(|| {
                Arc::new(Flight {
                    landed: watch::Sender::new(None),
                    lead: Arc::default(),
                })
            })
            .clone();
        Seat {
            flights: Arc::clone(self),
            key: key.clone(),
            flight,
        }
    }

    /// Hands those who saw the number `cas` in the cache what has come of it. The flight is over.
    pub(super) fn land(&self, key: &Bytes, cas: u64, filled: impl FnOnce() -> Filled) {
        let flight = self.shard(key).remove(key);
        if let Some(flight) = flight {
            let filled = filled();
            flight.landed.send_replace(Some(Landed { cas, filled }));
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        let count = |shard: &Shard| shard.lock().unwrap().len();
        self.shards.iter().map(count).sum()
    }
}

impl Seat {
    /// Takes the lead if nobody has it.
    pub(super) fn try_lead(self) -> Option<Lead> {
        let guard = Arc::clone(&self.flight.lead).try_lock_owned().ok()?;
        Some(self.lead(guard))
    }

    pub(super) fn lead(self, guard: OwnedMutexGuard<()>) -> Lead {
        Lead {
            _guard: guard,
            seat: self,
        }
    }

    /// Waits for the value, or the lead; `cas` is the number that this caller has seen in the cache.
    pub(super) async fn next(&self, cas: u64) -> Next {
        let lead = Arc::clone(&self.flight.lead);
        tokio::select! {
            biased;
            landed = self.landed(cas) => landed,
            guard = lead.lock_owned() => Next::Turn(guard),
        }
    }

    /// Waits for the value.
    pub(super) async fn landed(&self, cas: u64) -> Next {
        let mut landed = self.flight.landed.subscribe();
        match landed.wait_for(Option::is_some).await.as_deref() {
            // A value that replaced something else may be older than what this caller has seen.
            Ok(Some(landed)) if landed.cas == cas => Next::Landed(landed.filled.clone()),
            _ => Next::Missed,
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut shard = self.flights.shard(&self.key);
        let is_current = shard
            .get(&self.key)
            .is_some_and(|flight| Arc::ptr_eq(flight, &self.flight));
        // The map's and this one: nobody else takes part.
        if is_current && Arc::strong_count(&self.flight) == 2 {
            shard.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests;
