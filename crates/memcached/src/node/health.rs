//! When a node counts as healthy: connections that open, fail and end.
//!
//! A node is healthy while a connection to it stands. After `unhealthy_after` failures in a row
//! with none standing it is unhealthy, until the next success. A failure is an attempt to connect
//! that failed, a connection that stalled, or one that ended soon and gave error lines at best.
//! After the latter two a new connection counts only once the server has answered on it, because
//! the kernel accepts connections for a process that is stopped.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use steersman_memcached_protocol::Outbox;
use tokio::time::Instant;
use tracing::{debug, info, warn};

use super::Node;
use super::lane::{Lane, Leave};
use super::state::{Phase, State};
use super::token::Token;
use crate::error::Error;

/// How a connection ended, as far as its node's health is concerned.
pub(super) enum Ending {
    /// It was asked to: idle, drained, or the client closed.
    Asked { purged: bool },
    /// The peer or the network ended it after it had served.
    Lost(Error),
    /// It counts as a failure of the node.
    Failed(Error),
}

impl Node {
    /// A connection stands: takes it into service, unless the node is closing.
    pub(super) fn opened(self: &Arc<Self>, took: Duration) -> Option<u64> {
        let now = Instant::now();
        let mut state = self.lock();
        if state.closing {
            return None;
        }
        let id = state.fresh_id();
        state.lanes.push(Lane::new(id, self.options.limits, now));
        state.counters.connected(took);
        state.grow = false;
        state.failures = 0;
        state.retry_at = None;
        state.must_answer = false;
        state.phase = Phase::Connecting;
        self.down.store(false, Ordering::Relaxed);
        if !std::mem::replace(&mut state.healthy, true) {
            info!(node = %self.name(), "node is healthy again");
            self.tell_health(None);
        }
        self.serve_queue(state);
        debug!(node = %self.name(), connection = id, ?took, "connected");
        self.tell_change();
        Some(id)
    }

    /// An attempt to connect failed.
    pub(super) fn connect_failed(&self, error: &Error) {
        let mut state = self.lock();
        state.counters.created_with_error += 1;
        state.grow = false;
        if state.open_lanes() == 0 {
            state.failures = state.failures.saturating_add(1);
        }
        self.take_down(state, error);
    }

    /// A connection ended. Returns the requests that its driver has not taken.
    pub(super) fn ended(self: &Arc<Self>, lane: u64, ending: &Ending) -> Option<Outbox<Token>> {
        let mut state = self.lock();
        let at = state.lanes.iter().position(|other| other.id == lane)?;
        let unsent = state.lanes.remove(at).outbox;
        state.counters.closed += 1;
        match ending {
            Ending::Asked { purged } => {
                state.counters.purged += u64::from(*purged);
                drop(state);
            }
            Ending::Lost(error) => {
                debug!(node = %self.name(), connection = lane, %error, "connection lost");
                if state.open_lanes() == 0 {
                    // The next attempt is a first one: it is made at once and waited for.
                    state.retry_at = None;
                }
                drop(state);
            }
            Ending::Failed(error) => {
                state.must_answer = true;
                // The other connections go to the same server: none that is idle should take
                // requests before it has proved itself.
                let mut wakers = Vec::new();
                for idle in state.lanes.iter_mut().filter(|lane| lane.in_flight == 0) {
                    idle.ask_to_leave(Leave::Retire { purged: false });
                    wakers.extend(idle.waker.take());
                }
                state.failures = state.failures.saturating_add(1);
                self.take_down(state, error);
                for waker in wakers {
                    waker.wake();
                }
            }
        }
        // Those who waited for this connection may have a place on another one.
        self.serve_queue(self.lock());
        self.supervise.notify_one();
        self.tell_change();
        Some(unsent)
    }

    /// After a failure: waits before the next attempt, and takes the node down if no connection
    /// stands.
    fn take_down(&self, mut state: std::sync::MutexGuard<'_, State>, error: &Error) {
        let wait = self.options.backoff.wait(state.failures, fastrand::f64());
        state.retry_at = Instant::now().checked_add(wait);
        if state.open_lanes() > 0 || state.closing {
            debug!(node = %self.name(), %error, "a connection failed, others stand");
            return;
        }
        warn!(node = %self.name(), %error, retry_in = ?wait, "node cannot be used");
        state.phase = Phase::Down(error.clone());
        self.down.store(true, Ordering::Relaxed);
        let waiting = state.take_waiting();
        if state.failures >= self.options.unhealthy_after
            && std::mem::replace(&mut state.healthy, false)
        {
            warn!(node = %self.name(), "node is unhealthy");
            self.tell_health(Some(error));
        }
        drop(state);
        self.fail_waiting(waiting, error);
        self.tell_change();
    }

    fn tell_health(&self, unhealthy: Option<&Error>) {
        if let Some(watcher) = self.watcher.upgrade() {
            watcher.health_changed(self.name(), unhealthy);
        }
    }
}
