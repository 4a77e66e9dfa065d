//! The node's bookkeeping: its connections, who waits for a place on one, and its health.
//!
//! Everything here happens under the node's lock and neither blocks nor does I/O. Wakers and
//! failures are handed back to be used after the lock is released.

use std::task::Waker;

use tokio::time::Instant;

use super::lane::{Lane, Leave};
use super::moves::Addresses;
use super::queue::{Admitted, Queued};
use super::version::Admission;
use super::waiting::Waiting;
use crate::error::{Error, ErrorKind, Result, Stage};
use crate::metrics::{ConnectionCounters, Ended, OperationCounters};
use crate::options::Options;

/// A node's connections, waiting requests and health.
pub(super) struct State {
    pub(super) phase: Phase,
    pub(super) lanes: Vec<Lane>,
    pub(super) addresses: Addresses,
    /// How many places are those of noreply writes, on all connections.
    pub(super) quiet: usize,
    /// Requests that wait for a place.
    pub(super) waiting: Waiting,
    next_id: u64,
    /// Set when every connection is busy enough to open another one.
    pub(super) grow: bool,
    /// Why no new requests are taken any more: the node was removed, the client closed, or the
    /// runtime is gone.
    pub(super) closing: Option<Error>,
    /// Failures in a row since a connection last stood.
    pub(super) failures: u32,
    /// The next attempt to connect is not before this.
    pub(super) retry_at: Option<Instant>,
    /// A connection counts only once the server has answered on it.
    pub(super) must_answer: bool,
    /// Something was asked for that not every server has: so each server is asked for its version.
    pub(super) asks_versions: bool,
    pub(super) healthy: bool,
    pub(super) counters: ConnectionCounters,
    pub(super) operations: OperationCounters,
}

/// What is to be done after the lock is released.
#[derive(Default)]
pub(super) struct Aftermath {
    admitted: Vec<Admitted>,
    wakers: Vec<Waker>,
    /// Requests that the servers are too old for, and why.
    pub(super) refused: Vec<(Queued, Error)>,
}

impl Aftermath {
    pub(super) fn settle(self) {
        for admitted in self.admitted {
            admitted.tell();
        }
        for waker in self.wakers {
            waker.wake();
        }
    }
}

/// What a node without a connection is doing.
#[derive(Debug, Clone)]
pub(super) enum Phase {
    /// Nothing was asked of it yet and no connection is kept ahead of use.
    Dormant,
    /// A first attempt to connect is in progress: requests wait for it.
    Connecting,
    /// The last attempt failed, for this reason: requests fail at once.
    Down(Error),
}

impl State {
    pub(super) fn new(min_connections: usize) -> Self {
        Self {
            phase: if min_connections == 0 {
                Phase::Dormant
            } else {
                Phase::Connecting
            },
            lanes: Vec::new(),
            addresses: Addresses::default(),
            quiet: 0,
            waiting: Waiting::default(),
            next_id: 0,
            grow: false,
            closing: None,
            failures: 0,
            retry_at: None,
            must_answer: false,
            asks_versions: false,
            healthy: true,
            counters: ConnectionCounters::default(),
            operations: OperationCounters::default(),
        }
    }

    pub(super) fn fresh_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    pub(super) fn lane(&mut self, id: u64) -> Option<&mut Lane> {
        self.lanes.iter_mut().find(|lane| lane.id == id)
    }

    /// The index of the connection for a new request, none if it has to wait, or the reason why
    /// it cannot even do that.
    pub(super) fn spot(&mut self, options: &Options) -> Result<Option<usize>> {
        if let Some(reason) = &self.closing {
            return Err(reason.clone());
        }
        // Whoever came first goes first.
        if self.waiting.is_empty()
            && let Some(best) = self.best_lane(options)
        {
            return Ok(Some(best));
        }
        if let Phase::Down(reason) = &self.phase
            && self.open_lanes() == 0
        {
            return Err(unreachable(reason));
        }
        if matches!(self.phase, Phase::Dormant) {
            self.phase = Phase::Connecting;
        }
        if self.waiting.len() >= options.max_waiting {
            return Err(Error::new(
                ErrorKind::Overloaded,
                Stage::Waiting,
                format!(
                    "{} requests wait for this node already; send less at a time or raise max_waiting",
                    self.waiting.len()
                ),
            ));
        }
        Ok(None)
    }

    /// Takes a place on a connection for a request, a noreply write or not.
    pub(super) fn take_place(&mut self, lane: usize, quiet: bool) {
        self.lanes[lane].take_place(quiet);
        self.quiet += usize::from(quiet);
    }

    /// A connection has ended; returns it.
    pub(super) fn remove_lane(&mut self, id: u64) -> Option<Lane> {
        let at = self.lanes.iter().position(|lane| lane.id == id)?;
        let lane = self.lanes.remove(at);
        self.forget_address(id);
        self.quiet = self.quiet.saturating_sub(lane.quiet);
        Some(lane)
    }

    /// Puts a request at the end of the queue; says which number it has, and whether the supervisor
    /// has to be told.
    pub(super) fn enqueue(&mut self, queued: Queued, options: &Options) -> (u64, bool) {
        let id = self.fresh_id();
        self.counters.waited += 1;
        let grow = !self.grow && self.wants_growth(options);
        self.grow |= grow;
        (id, self.waiting.push(id, queued) || grow)
    }

    /// Moves waiting requests to free places, oldest first, and lets connections end that have
    /// nothing left to do on a closing node.
    pub(super) fn serve_queue(&mut self, options: &Options) -> Aftermath {
        let mut aftermath = Aftermath::default();
        aftermath.wakers.extend(self.let_held_go());
        while let Some(needed) = self.waiting.first().map(|first| first.requirement)
            && let Some(best) = self.best_lane(options)
        {
            let admission = match &needed {
                Some(needed) => self.admit(best, needed),
                None => Ok(Admission::Granted),
            };
            if let Ok(Admission::Later) = admission {
                aftermath.wakers.extend(self.lanes[best].waker.take());
                break;
            }
            let Some(queued) = self.waiting.pop() else {
                break;
            };
            if let Err(error) = admission {
                aftermath.refused.push((queued, error));
                continue;
            }
            self.take_place(best, queued.quiet);
            let lane = &mut self.lanes[best];
            if queued.quiet {
                self.operations.count(Ended::Executed);
            }
            lane.keep_time(queued.deadline);
            aftermath.admitted.extend(queued.encode(&mut lane.outbox));
            aftermath.wakers.extend(lane.waker.take());
        }
        self.grow |= !self.waiting.is_empty() && self.wants_growth(options);
        if self.closing.is_some() && self.waiting.is_empty() {
            let done = self.lanes.iter_mut().filter(|lane| lane.in_flight == 0);
            aftermath
                .wakers
                .extend(done.filter_map(|lane| lane.waker.take()));
        }
        aftermath
    }

    /// Gives back `places` of a connection, of which `quiet` were noreply writes.
    pub(super) fn release(&mut self, lane: u64, places: usize, quiet: usize, now: Instant) {
        if let Some(lane) = self.lane(lane) {
            lane.give_back(places, quiet, now);
            self.quiet = self.quiet.saturating_sub(quiet);
        }
    }

    /// Asks every driver to end, and returns those to wake.
    pub(super) fn leave_all(&mut self, leave: &Leave) -> Vec<Waker> {
        self.lanes
            .iter_mut()
            .filter_map(|lane| {
                lane.ask_to_leave(leave.clone());
                lane.waker.take()
            })
            .collect()
    }

    /// How many connections take requests.
    pub(super) fn open_lanes(&self) -> usize {
        self.lanes.iter().filter(|lane| lane.is_open()).count()
    }

    /// How many connections there should be.
    pub(super) fn wanted(&self, options: &Options) -> usize {
        let base = match self.phase {
            Phase::Dormant => 0,
            _ => options.min_connections.max(1),
        };
        if self.grow {
            (self.open_lanes() + 1).clamp(base, options.max_connections)
        } else {
            base
        }
    }

    /// Marks connections that were idle for too long, beyond those to keep. Returns the drivers
    /// to wake and when to look again.
    pub(super) fn purge(
        &mut self,
        options: &Options,
        now: Instant,
    ) -> (Vec<Waker>, Option<Instant>) {
        let mut wakers = Vec::new();
        let Some(after) = options.purge_unused_connections_after else {
            return (wakers, None);
        };
        let keep = options.min_connections.max(1);
        let mut open = self.current_lanes();
        let addresses = &self.addresses;
        let mut next: Option<Instant> = None;
        // The latest opened goes first: the first of the list is preferred by requests.
        let current = |lane: &&mut Lane| !addresses.is_outdated(lane.id);
        for lane in self.lanes.iter_mut().rev().filter(current) {
            if open <= keep {
                break;
            }
            if lane.in_flight > 0 || !lane.is_open() {
                // It becomes idle later than now at the earliest.
                next = earlier(next, now.checked_add(after));
                continue;
            }
            match lane.heard.checked_add(after) {
                Some(due) if due <= now => {
                    lane.ask_to_leave(Leave::Retire { purged: true });
                    wakers.extend(lane.waker.take());
                    open -= 1;
                }
                due => next = earlier(next, due),
            }
        }
        (wakers, next)
    }
}

/// Why a request to a node that is down fails, given what took the node down.
fn unreachable(reason: &Error) -> Error {
    match reason.kind() {
        ErrorKind::Runtime | ErrorKind::Closed => reason.clone(),
        // These say more than that.
        ErrorKind::Tls | ErrorKind::Authentication => reason.clone().because("the node is down"),
        _ => reason
            .clone()
            .because("the node is down")
            .of_kind(ErrorKind::Unreachable)
            .in_stage(Stage::Connecting),
    }
}

/// The earlier of two moments, where none is never.
pub(super) fn earlier(a: Option<Instant>, b: Option<Instant>) -> Option<Instant> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
