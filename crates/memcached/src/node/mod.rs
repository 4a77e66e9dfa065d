//! One node: its connections, the requests that wait for them, and its health.
//!
//! Callers, connection drivers and the node's supervisor meet in [`Node`]'s lock, which is held
//! for bookkeeping and encoding only. A caller encodes its request straight into the outbox of
//! a connection ([`choice`], [`lane`]) or waits in the queue ([`queue`], [`waiting`]); the connection's
//! [`driver`] moves the outbox to the wire, hands out the replies ([`token`], [`waiter`]) and keeps
//! the time ([`expiry`]); what not every server has waits for its [`version`]; the [`supervisor`] makes connections, waits between attempts and closes
//! idle ones. Connections follow their node's name to other addresses ([`moves`]).

mod choice;
mod connect;
mod driver;
mod expiry;
mod health;
mod lane;
#[cfg(all(test, loom))]
mod models;
mod moves;
mod queue;
mod state;
mod supervisor;
mod token;
mod version;
mod waiter;
mod waiting;

use std::fmt;
use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::Instant;

pub(crate) use self::connect::open;
use self::driver::Answered;
use self::lane::Leave;
pub(crate) use self::queue::{Ask, Ticket};
use self::state::{Phase, State};
use self::token::Tally;
pub(crate) use self::token::{Gather, Token};
use self::version::Admission;
pub(crate) use self::waiter::{Told, Waiter};
use crate::address::NodeConfig;
use crate::error::{Error, ErrorKind, Result};
use crate::metrics::{Ended, OperationCounters, PoolMetrics};
use crate::observe::NodeWatch;
use crate::options::Options;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Mutex, MutexGuard};

/// Is told what happens to nodes: the cluster that they belong to.
pub(crate) trait Watcher: Send + Sync {
    /// A connection came or went.
    fn connections_changed(&self);

    /// The node became healthy, or unhealthy for a reason. Called under the node's lock, so that
    /// changes are told in their order: nothing in it may ask the node for its state.
    fn health_changed(&self, node: &Node, unhealthy: Option<&Error>);
}

/// A member of the cluster and the connections to it.
pub(crate) struct Node {
    config: NodeConfig,
    options: Arc<Options>,
    watcher: Weak<dyn Watcher>,
    watch: NodeWatch,
    state: Mutex<State>,
    /// Wakes the supervisor when there may be something to do.
    supervise: Notify,
    /// Notified when a connection was made to an address of the node's name.
    located: Notify,
    /// Whether requests fail at once now; a copy for readers without the lock.
    down: AtomicBool,
}

/// What became of a request that was to be sent.
pub(crate) enum Started {
    /// It is on a connection, which keeps its time-out.
    OnConnection,
    /// It waits for a place on one.
    Queued(Ticket),
}

impl Node {
    pub(crate) fn new(
        config: NodeConfig,
        options: Arc<Options>,
        watcher: Weak<dyn Watcher>,
    ) -> Self {
        let state = State::new(options.min_connections);
        Self {
            watch: options.observer.node(&config),
            config,
            options,
            watcher,
            state: Mutex::new(state),
            supervise: Notify::new(),
            located: Notify::new(),
            down: AtomicBool::new(false),
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

    /// What others see of it.
    pub(crate) fn watch(&self) -> &NodeWatch {
        &self.watch
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic while the lock was held left at worst a count wrong; going on is better than
        // failing every later call.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a request on a connection, where it times out after `limit`, or in the queue when there
    /// is no place for it.
    pub(crate) fn start(
        self: &Arc<Self>,
        mut ask: Ask<'_>,
        limit: Option<Duration>,
    ) -> Result<Started> {
        let mut state = self.lock();
        let (quiet, counts) = (ask.is_quiet(), ask.counts());
        let dormant = matches!(state.phase, Phase::Dormant);
        let spot = match state.spot(&self.options) {
            Ok(Some(spot)) => spot,
            Ok(None) => return self.enqueue(state, ask, limit, dormant),
            Err(error) => {
                let error = self.refuse(state, counts, error);
                if dormant {
                    // It connects even if it cannot take this request.
                    self.supervise.notify_one();
                }
                return Err(error);
            }
        };
        if let Some(needed) = ask.requirement() {
            match state.admit(spot, &needed) {
                Ok(Admission::Granted) => {}
                Ok(Admission::Later) => {
                    let waker = state.lanes[spot].waker.take();
                    let queued = self.enqueue(state, ask, limit, dormant);
                    if let Some(waker) = waker {
                        waker.wake();
                    }
                    return queued;
                }
                Err(error) => return Err(self.refuse(state, counts, error)),
            }
        }
        let lane = &mut state.lanes[spot];
        if let Some(limit) = limit.filter(|_| !quiet) {
            ask.expires(lane.deadline(limit));
        }
        if let Err(error) = ask.encode(&mut lane.outbox) {
            return Err(self.refuse(state, counts, error));
        }
        let waker = lane.waker.take();
        state.take_place(spot, quiet);
        if quiet {
            state.operations.count(Ended::Executed);
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
        Ok(Started::OnConnection)
    }

    /// Why a request was not taken, counted.
    #[cold]
    fn refuse(&self, mut state: MutexGuard<'_, State>, counts: bool, error: Error) -> Error {
        // A call that chose a node just before that was removed goes on to another one, and one that
        // the server is too old for may go on in other words.
        let goes_on = matches!(
            error.kind(),
            ErrorKind::UnknownNode | ErrorKind::Unsupported
        );
        if counts && !goes_on {
            state.operations.count(Ended::Failed);
        }
        error.at_node(self.name())
    }

    /// Counts an operation.
    pub(crate) fn count(&self, ended: Ended) {
        self.lock().operations.count(ended);
    }

    /// Counts what a connection has answered, gives back its places and hands them to those who wait.
    fn release(&self, lane: u64, answered: Answered, operations: OperationCounters, now: Instant) {
        let mut state = self.lock();
        state.operations.add(operations);
        if let Some(version) = answered.version
            && let Some(lane) = state.lane(lane)
        {
            lane.version = version;
        }
        state.release(lane, answered.places, answered.quiet, now);
        self.serve_queue(state);
    }

    /// Counts operations that have ended apart from an answer, and wakes their callers.
    fn settle(&self, tally: &mut Tally) {
        let operations = std::mem::take(&mut tally.operations);
        self.lock().operations.add(operations);
        tally.wake();
    }

    /// Counts an operation as failed that the server answered and was counted as executed: the answer
    /// says nothing that its caller could use.
    pub(crate) fn recount(&self) {
        self.lock().operations.recount();
    }

    /// How many places of a connection are taken.
    fn places_taken(&self, lane: u64) -> usize {
        self.lock().lane(lane).map_or(0, |lane| lane.in_flight)
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
            drop(state);
            self.supervise.notify_one();
        }
    }

    pub(crate) fn metrics(&self) -> PoolMetrics {
        let mut metrics = PoolMetrics::default();
        let state = self.lock();
        state.operations.write_to(&mut metrics);
        metrics.cur_connections = state.lanes.len();
        metrics.in_flight = state.lanes.iter().map(|lane| lane.in_flight).sum();
        metrics.waiting = state.waiting.len();
        state.counters.write_to(&mut metrics);
        metrics
    }

    /// How many connections have nothing to do.
    #[cfg(feature = "metrics")]
    pub(crate) fn idle_connections(&self) -> usize {
        let state = self.lock();
        let idle = state.lanes.iter().filter(|lane| lane.in_flight == 0);
        idle.count()
    }

    #[cfg(feature = "metrics")]
    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    /// Refuses new requests for `reason`; connections close when what was accepted has been
    /// answered.
    pub(crate) fn close(&self, reason: &Error) {
        self.end(reason, &Leave::Drain);
    }

    /// Closes every connection now; what is outstanding fails with `error`.
    pub(crate) fn abort(&self, error: &Error) {
        self.end(error, &Leave::Abort(error.clone()));
    }

    fn end(&self, reason: &Error, leave: &Leave) {
        let mut state = self.lock();
        state.closing.get_or_insert_with(|| reason.clone());
        let wakers = state.leave_all(leave);
        let nobody_serves = matches!(leave, Leave::Abort(_)) || state.open_lanes() == 0;
        let waiting = if nobody_serves {
            state.waiting.take_all()
        } else {
            Vec::new()
        };
        drop(state);
        for waker in wakers {
            waker.wake();
        }
        self.fail_waiting(waiting, reason);
        self.supervise.notify_one();
        self.tell_change();
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
