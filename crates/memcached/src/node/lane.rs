//! One open connection as callers see it: where they put requests for its driver.

use std::task::Waker;
use std::time::Duration;

use steersman_memcached_protocol::{Limits, Outbox};
use tokio::time::Instant;

use super::state::earlier;
use super::token::Token;
use super::version::Version;
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
    pub(super) version: Version,
    /// When the first request with a time-out was put in the outbox, and the earliest deadline by
    /// that.
    timed: Option<Timed>,
    /// When the server was last heard of, or began to owe an answer. Without a request in flight, since
    /// when there is none.
    pub(super) heard: Instant,
}

/// The requests of a batch share one time, unless the driver takes so long to run.
const LATE: Duration = Duration::from_millis(1);

/// A connection that owes an answer for longer is not filled up while there are others.
const PROMPT: Duration = Duration::from_millis(10);

#[derive(Debug)]
struct Timed {
    since: Instant,
    earliest: Option<Instant>,
    /// The time-out of the last request, and its deadline by that: most have the same.
    last: (Duration, Option<Instant>),
}

impl Timed {
    fn begin() -> Self {
        Self {
            since: Instant::now(),
            earliest: None,
            last: (Duration::MAX, None),
        }
    }
}

/// Why a driver is asked to end.
#[derive(Debug, Clone)]
pub(super) enum Leave {
    /// At once, being idle: it is not needed, or the server behind it is in doubt.
    Retire {
        /// Whether it ends because it was not needed.
        purged: bool,
    },
    /// When everything in flight on it has been answered: its server is not the node any more.
    Depart,
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
            version: Version::Unasked,
            timed: None,
            heard: now,
        }
    }

    /// When a request that is put in the outbox now is late; never if that is beyond what the clock
    /// can count to.
    ///
    /// The clock is read for the first one, and the others that wait with it for the driver share
    /// that time: reading it costs as much as encoding a request.
    pub(super) fn deadline(&mut self, limit: Duration) -> Option<Instant> {
        let timed = self.timed.get_or_insert_with(Timed::begin);
        if timed.last.0 != limit {
            let deadline = timed.since.checked_add(limit);
            timed.last = (limit, deadline);
            timed.earliest = earlier(timed.earliest, deadline);
        }
        timed.last.1
    }

    /// Sees to it that a request that is put in the outbox now, and has a deadline already, keeps it.
    pub(super) fn keep_time(&mut self, deadline: Option<Instant>) {
        if deadline.is_some() {
            let timed = self.timed.get_or_insert_with(Timed::begin);
            timed.earliest = earlier(timed.earliest, deadline);
        }
    }

    /// Ends the batch in the outbox; says what the earliest deadline in it is.
    ///
    /// A driver that could not run for a while must not take that time away from the requests that
    /// came meanwhile. Then all of the batch have as much more time.
    pub(super) fn end_batch(&mut self) -> Option<Instant> {
        let Timed {
            since, earliest, ..
        } = self.timed.take()?;
        let delay = since.elapsed();
        if delay < LATE {
            return earliest;
        }
        for token in self.outbox.waiting_mut() {
            token.postpone(delay);
        }
        earliest.and_then(|at| at.checked_add(delay))
    }

    /// Takes a place for a request, a noreply write or not.
    pub(super) fn take_place(&mut self, quiet: bool) {
        if self.in_flight == 0 {
            self.heard = Instant::now();
        }
        self.in_flight += 1;
        self.quiet += usize::from(quiet);
    }

    /// Gives back `places`, of which `quiet` were noreply writes, after an answer that came now.
    pub(super) fn give_back(&mut self, places: usize, quiet: usize, now: Instant) {
        self.heard = now;
        self.in_flight = self.in_flight.saturating_sub(places);
        self.quiet = self.quiet.saturating_sub(quiet);
    }

    /// How many requests it has, but one that has fewer than `few` has as few as any other such.
    #[inline]
    pub(super) fn fill(&self, few: usize) -> usize {
        self.in_flight.max(few - 1)
    }

    /// For how long it has owed an answer, in steps that double: 0 is not worth mention, 1 up to twice
    /// [`PROMPT`], 2 up to four times that.
    pub(super) fn silence(&self, now: Instant) -> u32 {
        if self.in_flight == 0 {
            return 0;
        }
        let silence = now.duration_since(self.heard).as_millis() / PROMPT.as_millis();
        u128::BITS - silence.leading_zeros()
    }

    /// Whether new requests may be put on it.
    pub(super) fn is_open(&self) -> bool {
        !matches!(
            self.leave,
            Some(Leave::Retire { .. } | Leave::Depart | Leave::Abort(_))
        )
    }

    /// Asks the driver to end. A more urgent reason replaces a lesser one.
    pub(super) fn ask_to_leave(&mut self, leave: Leave) {
        let replace = match (&self.leave, &leave) {
            (None, _) | (Some(Leave::Drain | Leave::Depart), Leave::Abort(_)) => true,
            (Some(_), _) => false,
        };
        if replace {
            self.leave = Some(leave);
        }
    }
}

#[cfg(test)]
mod tests {
    use steersman_memcached_protocol::{Key, Request};

    use super::*;

    /// Puts a read in the outbox as a caller does.
    fn put(lane: &mut Lane, limit: Duration) {
        let (mut token, waiter) = Token::one(Waker::noop().clone());
        // Nobody looks at it here.
        std::mem::forget(waiter);
        token.expires(lane.deadline(limit));
        let key = Key::new(b"k").unwrap();
        lane.outbox
            .submit(&Request::Get { key, cas: false }, token)
            .unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_batch_that_waits_for_its_driver_loses_no_time() {
        let limit = Duration::from_millis(100);
        let begin = Instant::now();
        let mut lane = Lane::new(1, Limits::default(), begin);
        assert_eq!(lane.end_batch(), None);
        put(&mut lane, 2 * limit);
        put(&mut lane, limit);
        assert_eq!(lane.end_batch(), Some(begin + limit));

        tokio::time::advance(Duration::from_secs(1)).await;
        put(&mut lane, limit);
        tokio::time::advance(3 * limit).await;
        put(&mut lane, limit);
        let now = Instant::now();
        assert_eq!(lane.end_batch(), Some(now + limit));
        let late = now + limit;
        for token in lane.outbox.waiting_mut().skip(2) {
            assert_eq!(token.deadline(), Some(late));
        }
    }
}
