//! One node: its connections, the requests that wait for them, and its health.
//!
//! Callers, connection drivers and the node's supervisor meet in [`Node`]'s lock, which is held
//! for bookkeeping and encoding only. A caller encodes its request straight into the outbox of
//! the least busy connection ([`lane`]) or waits in the queue ([`admission`]); the connection's
//! [`driver`] moves the outbox to the wire and hands out the replies ([`token`]); the
//! [`supervisor`] makes connections, waits between attempts and closes idle ones.

mod admission;
mod connect;
mod driver;
mod health;
mod lane;
mod state;
mod supervisor;
mod token;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use steersman_memcached_protocol::{Outbox, RequestError};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::Instant;

pub(crate) use self::admission::{Place, Waiting};
use self::lane::Leave;
use self::state::{Phase, Queued, Spot, State};
pub(crate) use self::token::{Gather, Token};
use crate::address::NodeConfig;
use crate::error::{Error, Result};
use crate::metrics::{OperationCounters, PoolMetrics};
use crate::options::Options;

/// Is told what happens to nodes: the cluster that they belong to.
pub(crate) trait Watcher: Send + Sync {
    /// A connection came or went.
    fn connections_changed(&self);

    /// The node became healthy, or unhealthy for a reason. Called under the node's lock, so that
    /// changes are told in their order: nothing in it may call the node.
    fn health_changed(&self, node: &Arc<str>, unhealthy: Option<&Error>);
}

/// A member of the cluster and the connections to it.
pub(crate) struct Node {
    config: NodeConfig,
    options: Arc<Options>,
    watcher: Weak<dyn Watcher>,
    state: Mutex<State>,
    /// Wakes the supervisor when there may be something to do.
    supervise: Notify,
    /// Whether requests fail at once now; a copy for readers without the lock.
    down: AtomicBool,
    pub(crate) operations: OperationCounters,
}

/// Writes a request into a connection's outbox.
pub(crate) trait Encode:
    FnOnce(&mut Outbox<Token>) -> std::result::Result<(), RequestError>
{
}

impl<F: FnOnce(&mut Outbox<Token>) -> std::result::Result<(), RequestError>> Encode for F {}

/// What became of a request that was to be sent.
pub(crate) enum Started {
    /// It is on its way; the outcome of encoding it.
    Submitted(std::result::Result<(), RequestError>),
    /// It has to wait for a place first.
    Queued(Waiting),
}

impl Node {
    pub(crate) fn new(
        config: NodeConfig,
        options: Arc<Options>,
        watcher: Weak<dyn Watcher>,
    ) -> Self {
        let state = State::new(options.min_connections);
        Self {
            config,
            options,
            watcher,
            state: Mutex::new(state),
            supervise: Notify::new(),
            down: AtomicBool::new(false),
            operations: OperationCounters::default(),
        }
    }

    /// Starts the background work of the node.
    pub(crate) fn spawn(self: &Arc<Self>, runtime: &Handle) {
        runtime.spawn(supervisor::supervise(supervisor::Supervisor::new(
            Arc::clone(self),
        )));
    }

    pub(crate) fn config(&self) -> &NodeConfig {
        &self.config
    }

    pub(crate) fn name(&self) -> &Arc<str> {
        self.config.shared_name()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic while the lock was held left at worst a count wrong; going on is better than
        // failing every later call.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a request on a connection, or in the queue when there is no place for it.
    ///
    /// `encode` writes it into the outbox; it is not called when the request has to wait.
    pub(crate) fn start(self: &Arc<Self>, quiet: bool, encode: impl Encode) -> Result<Started> {
        let mut state = self.lock();
        let lane = match state
            .spot(&self.options)
            .map_err(|error| error.at_node(self.name()))?
        {
            Spot::Lane(lane) => lane,
            Spot::Queue => {
                let ticket = state.enqueue(quiet);
                drop(state);
                self.supervise.notify_one();
                return Ok(Started::Queued(Waiting::new(Arc::clone(self), ticket)));
            }
        };
        let encoded = encode(&mut lane.outbox);
        let mut waker = None;
        if encoded.is_ok() {
            lane.take_place(quiet);
            waker = lane.waker.take();
        }
        let grow = !state.grow && state.wants_growth(&self.options);
        state.grow |= grow;
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
        if grow {
            self.supervise.notify_one();
        }
        Ok(Started::Submitted(encoded))
    }

    /// Puts a request on the place that it was granted; `None` when the connection is gone.
    pub(crate) fn start_at(
        &self,
        place: Place,
        encode: impl Encode,
    ) -> Option<std::result::Result<(), RequestError>> {
        let mut state = self.lock();
        let Some(lane) = state.lane(place.lane) else {
            place.forget();
            return None;
        };
        let encoded = encode(&mut lane.outbox);
        let waker = if encoded.is_ok() {
            place.forget();
            lane.waker.take()
        } else {
            // Dropped after the lock: the place goes to the next in line.
            drop(state);
            drop(place);
            return Some(encoded);
        };
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
        Some(encoded)
    }

    /// Gives back places and hands them to those who wait.
    fn release(self: &Arc<Self>, lane: u64, places: usize, quiet: usize, now: Instant) {
        let mut state = self.lock();
        state.release(lane, places, quiet, now);
        self.serve_queue(state);
    }

    /// Gives free places to those who wait.
    fn serve_queue(self: &Arc<Self>, mut state: MutexGuard<'_, State>) {
        let granted = state.grant(self, self.options.max_in_flight);
        drop(state);
        for granted in granted {
            granted.tell();
        }
    }

    fn leave_queue(&self, id: u64) {
        let left = self.lock().waiting.remove(&id);
        drop(left);
    }

    /// Whether requests to it fail at once now.
    pub(crate) fn is_down(&self) -> bool {
        self.down.load(Ordering::Relaxed)
    }

    /// Whether a connection stands.
    pub(crate) fn is_connected(&self) -> bool {
        self.lock().open_lanes() > 0
    }

    /// Whether any connection is left, be it one that is closing.
    pub(crate) fn has_connections(&self) -> bool {
        !self.lock().lanes.is_empty()
    }

    pub(crate) fn is_healthy(&self) -> bool {
        self.lock().healthy
    }

    /// Why requests to it fail at once now, if they do.
    pub(crate) fn down_reason(&self) -> Option<Error> {
        let state = self.lock();
        match &state.phase {
            Phase::Down(reason) if state.open_lanes() == 0 => Some(reason.clone()),
            _ => None,
        }
    }

    /// Makes a dormant node connect.
    pub(crate) fn demand(&self) {
        let mut state = self.lock();
        if matches!(state.phase, Phase::Dormant) {
            state.phase = Phase::Connecting;
        }
        drop(state);
        self.supervise.notify_one();
    }

    pub(crate) fn metrics(&self) -> PoolMetrics {
        let mut metrics = PoolMetrics::default();
        self.operations.write_to(&mut metrics);
        let state = self.lock();
        metrics.cur_connections = state.lanes.len();
        metrics.in_flight = state.lanes.iter().map(|lane| lane.in_flight).sum();
        metrics.waiting = state.waiting.len();
        state.counters.write_to(&mut metrics);
        metrics
    }

    /// Refuses new requests; connections close when what is in flight has been answered.
    pub(crate) fn close(self: &Arc<Self>) {
        self.end(&Leave::Drain);
    }

    /// Closes every connection now; what is in flight fails with `error`.
    pub(crate) fn abort(self: &Arc<Self>, error: &Error) {
        self.end(&Leave::Abort(error.clone()));
    }

    fn end(self: &Arc<Self>, leave: &Leave) {
        let mut state = self.lock();
        state.closing = true;
        let wakers = state.leave_all(leave);
        let waiting = match leave {
            Leave::Abort(_) => state.take_waiting(),
            _ if state.open_lanes() == 0 => state.take_waiting(),
            _ => Vec::new(),
        };
        drop(state);
        for waker in wakers {
            waker.wake();
        }
        let error = match leave {
            Leave::Abort(error) => error.clone(),
            _ => Error::closed(),
        };
        self.fail_waiting(waiting, &error);
        self.supervise.notify_one();
        self.tell_change();
    }

    fn fail_waiting(&self, waiting: Vec<Queued>, error: &Error) {
        for queued in waiting {
            queued.fail(error.clone().at_node(self.name()));
        }
    }

    /// Lets `ready` and `close` look again.
    fn tell_change(&self) {
        if let Some(watcher) = self.watcher.upgrade() {
            watcher.connections_changed();
        }
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Node")
            .field("name", self.name())
            .finish_non_exhaustive()
    }
}
