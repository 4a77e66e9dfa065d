//! Requests that are listened to and have not ended.
//!
//! A request whose future is dropped never ends for the listener, so nothing must wait for the end:
//! requests have places in a ring, and a new one takes the place of the one that had it before. What
//! is forgotten like that is still in the ledgers, and is overdue in time.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use smallvec::SmallVec;
use steersman_selection::Timestamp;
use uuid::Uuid;

/// So many requests are remembered, which takes some 1.6 MB.
const PLACES: usize = 1 << 14;

/// The lower bits of an attempt's number are its place in its request.
const ATTEMPT_BITS: u32 = 6;

/// The attempts of a request that are remembered. The place behind the last is that of all others.
const MOST_ATTEMPTS: usize = (1 << ATTEMPT_BITS) - 1;

/// The numbers of requests leave room for those of attempts.
const REQUESTS: usize = usize::MAX >> ATTEMPT_BITS;

#[derive(Debug)]
pub(super) struct Requests {
    places: Box<[Mutex<Request>]>,
    next: AtomicUsize,
}

#[derive(Debug, Default)]
struct Request {
    number: usize,
    /// In the order in which they began; those that ended are taken out.
    attempts: SmallVec<[Option<Begun>; 1]>,
}

/// An attempt that has begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Begun {
    /// Where it was sent.
    pub(super) address: SocketAddr,
    /// Whose address that is, if it is known.
    pub(super) host_id: Option<Uuid>,
    pub(super) started: Timestamp,
}

impl Requests {
    pub(super) fn new() -> Self {
        Self {
            places: (0..PLACES).map(|_| Mutex::default()).collect(),
            // The number 0 is that of the places that nobody has had.
            next: AtomicUsize::new(1),
        }
    }

    /// A request begins. Returns its number.
    pub(super) fn begin(&self) -> usize {
        let number = self.next.fetch_add(1, Ordering::Relaxed) & REQUESTS;
        let mut request = self.place(number);
        request.number = number;
        request.attempts.clear();
        number
    }

    /// An attempt begins. Returns its number.
    pub(super) fn attempt(&self, request: usize, begun: Begun) -> usize {
        let mut at = self.place(request);
        let place = if at.number == request && at.attempts.len() < MOST_ATTEMPTS {
            at.attempts.push(Some(begun));
            at.attempts.len() - 1
        } else {
            MOST_ATTEMPTS
        };
        request << ATTEMPT_BITS | place
    }

    /// Whether the attempt of that number is the first one of its request.
    pub(super) fn is_first(attempt: usize) -> bool {
        attempt & MOST_ATTEMPTS == 0
    }

    /// An attempt has ended. Returns what is known of it.
    pub(super) fn end_attempt(&self, attempt: usize) -> Option<Begun> {
        let (request, place) = (attempt >> ATTEMPT_BITS, attempt & MOST_ATTEMPTS);
        let mut at = self.place(request);
        if at.number != request {
            return None;
        }
        at.attempts.get_mut(place)?.take()
    }

    /// A request has ended. Returns its attempts that have not, with their places.
    pub(super) fn end(&self, request: usize) -> impl Iterator<Item = (usize, Begun)> + use<> {
        let mut at = self.place(request);
        let attempts = if at.number == request {
            std::mem::take(&mut at.attempts)
        } else {
            SmallVec::new()
        };
        let places = attempts.into_iter().enumerate();
        places.filter_map(|(place, begun)| Some((place, begun?)))
    }

    fn place(&self, request: usize) -> MutexGuard<'_, Request> {
        let place = self.places[request % PLACES].lock();
        place.unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
