//! Those in this process who wait for the same key: one of them has the lead, and what it gets is for
//! all.
//!
//! A flight exists as long as somebody takes part in it, so there are at most as many as there are
//! callers at a time.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::{Arc, PoisonError};

use bytes::Bytes;
use tokio::sync::{OwnedMutexGuard, watch};

use super::Filled;
use crate::sync::{Mutex, MutexGuard};

/// So many locks are shared by all keys.
const SHARDS: usize = 16;

/// The flights of a client.
#[derive(Default)]
pub(crate) struct Flights {
    hasher: RandomState,
    shards: [Shard; SHARDS],
}

type Shard = Mutex<HashMap<Bytes, Boarding>>;

/// A flight that can be joined.
struct Boarding {
    flight: Arc<Flight>,
    /// How many take part in it.
    seats: usize,
}

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
    fn shard(&self, key: &[u8]) -> MutexGuard<'_, HashMap<Bytes, Boarding>> {
        let hash = usize::try_from(self.hasher.hash_one(key) % SHARDS as u64);
        let shard = &self.shards[hash.expect("it is below 16")];
        shard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes part in the flight of a key.
    pub(super) fn join(self: &Arc<Self>, key: &Bytes) -> Seat {
        let mut shard = self.shard(key);
        let boarding = shard.entry(key.clone()).or_insert_with(|| Boarding {
            flight: Arc::new(Flight {
                landed: watch::Sender::new(None),
                lead: Arc::default(),
            }),
            seats: 0,
        });
        boarding.seats += 1;
        let flight = Arc::clone(&boarding.flight);
        drop(shard);
        Seat {
            flights: Arc::clone(self),
            key: key.clone(),
            flight,
        }
    }

    /// Hands those who saw the number `cas` in the cache what has come of it. The flight is over.
    pub(super) fn land(&self, key: &Bytes, cas: u64, filled: impl FnOnce() -> Filled) {
        let boarding = self.shard(key).remove(key);
        if let Some(Boarding { flight, .. }) = boarding {
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
        // The flight that this seat was in may have landed, and another one be under way.
        if let Some(boarding) = shard.get_mut(&self.key)
            && Arc::ptr_eq(&boarding.flight, &self.flight)
        {
            boarding.seats -= 1;
            if boarding.seats == 0 {
                shard.remove(&self.key);
            }
        }
    }
}

#[cfg(all(test, loom))]
mod models;
#[cfg(all(test, not(loom)))]
mod tests;
