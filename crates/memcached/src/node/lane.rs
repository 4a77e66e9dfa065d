//! One open connection as callers see it: where they put requests for its driver.

use std::task::Waker;
use std::time::Duration;

use steersman_memcached_protocol::{Limits, Outbox};
use tokio::time::Instant;

use super::token::Token;
use crate::error::Error;

/// The callers' side of a connection; it lives under the node's lock.
pub(super) struct Lane {
    pub(super) id: u64,
    /// Requests that the driver has not taken yet.
    pub(super) outbox: Outbox<Token>,
    /// Places taken: requests in the outbox and in flight.
    pub(super) in_flight: usize,
    /// How many of them are noreply writes.
    pub(super) quiet: usize,
    /// The driver, asleep; taken by whoever has work for it, so that it is woken once.
    pub(super) waker: Option<Waker>,
    pub(super) leave: Option<Leave>,
    /// When the oldest request in the outbox was put there, or a little earlier.
    filled: Instant,
    /// The earliest deadline of a request in the outbox.
    pub(super) earliest: Option<Instant>,
    /// Since when no place is taken.
    pub(super) idle_since: Instant,
}

/// Why a driver is asked to end.
#[derive(Debug, Clone)]
pub(super) enum Leave {
    /// At once, being idle: it is not needed, or the server behind it is in doubt.
    Retire {
        /// Whether it ends because it was not needed.
        purged: bool,
    },
    /// The node closes: when everything in flight and in the queue has been answered.
    Drain,
    /// At once; what is in flight fails with this error.
    Abort(Error),
}

impl Lane {
    pub(super) fn new(id: u64, limits: Limits, now: Instant) -> Self {
        Self {
            id,
            outbox: Outbox::new(limits),
            in_flight: 0,
            quiet: 0,
            waker: None,
            leave: None,
            filled: now,
            earliest: None,
            idle_since: now,
        }
    }

    /// When a request that is put in the outbox now is late; never if that is beyond what the clock
    /// can count to.
    ///
    /// The clock is read for the first request since the driver has gone to sleep, and the others
    /// that wait with it for the driver to run share that time: reading it costs as much as
    /// encoding a request.
    pub(super) fn deadline(&mut self, limit: Duration) -> Option<Instant> {
        if self.waker.is_some() {
            self.filled = Instant::now();
        }
        let deadline = self.filled.checked_add(limit)?;
        self.earliest = Some(self.earliest.map_or(deadline, |at| at.min(deadline)));
        Some(deadline)
    }

    /// Takes a place for a request, a noreply write or not.
    pub(super) fn take_place(&mut self, quiet: bool) {
        self.in_flight += 1;
        self.quiet += usize::from(quiet);
    }

    /// Gives back `places`, of which `quiet` were noreply writes.
    pub(super) fn give_back(&mut self, places: usize, quiet: usize) {
        self.in_flight = self.in_flight.saturating_sub(places);
        self.quiet = self.quiet.saturating_sub(quiet);
    }

    /// Whether new requests may be put on it.
    pub(super) fn is_open(&self) -> bool {
        !matches!(self.leave, Some(Leave::Retire { .. } | Leave::Abort(_)))
    }

    /// Asks the driver to end. A more urgent reason replaces a lesser one.
    pub(super) fn ask_to_leave(&mut self, leave: Leave) {
        let replace = match (&self.leave, &leave) {
            (None, _) | (Some(Leave::Drain), Leave::Abort(_)) => true,
            (Some(_), _) => false,
        };
        if replace {
            self.leave = Some(leave);
        }
    }
}
