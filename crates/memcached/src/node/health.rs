//! When a node counts as healthy: connections that open, fail and end.
//!
//! A node is healthy while a connection to it stands. After `unhealthy_after` failures in a row
//! with none standing it is unhealthy, until the next success. A failure is an attempt to connect
//! that failed, a connection that stalled, or one that ended soon and gave error lines at best.
//! Refused credentials make a node unhealthy at once: more attempts will end no better. A provider
//! that has none at the moment is a failure like others.
//! After the latter two a new connection counts only once the server has answered on it, because
//! the kernel accepts connections for a process that is stopped. Failures are forgotten once a
//! connection has served, not when it stands: a server that closes what it accepted is backed off
//! from.

use std::time::Duration;

use steersman_memcached_protocol::Outbox;
use tokio::time::Instant;
use tracing::{debug, info, warn};

use super::Node;
use super::lane::{Lane, Leave};
use super::state::{Phase, State};
use super::token::Token;
use super::version::Version;
use crate::error::{Error, ErrorKind};
use crate::observe::targets;
use crate::sync::MutexGuard;
use crate::sync::atomic::Ordering;

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
    /// A connection stands: takes it into service, unless the node is closing. Its server's version is
    /// known if it was asked already.
    pub(super) fn opened(&self, took: Duration, version: Option<&str>) -> Option<u64> {
        let now = Instant::now();
        let mut state = self.lock();
        if state.closing.is_some() {
            return None;
        }
        let id = state.fresh_id();
        let mut lane = Lane::new(id, self.options.limits, now);
        if let Some(text) = version {
            lane.version = Version::read(text);
        }
        state.lanes.push(lane);
        let newest = state.lanes.len() - 1;
        state.greet(newest);
        state.counters.connected(took);
        state.grow = false;
        state.retry_at = None;
        state.must_answer = false;
        state.phase = Phase::Connecting;
        self.down.store(false, Ordering::Relaxed);
        let was_unhealthy = !std::mem::replace(&mut state.healthy, true);
        if was_unhealthy {
            self.tell_health(None);
        }
        self.serve_queue(state);
        self.watch.connected(took);
        if was_unhealthy {
            info!(target: targets::HEALTH, node = %self.name(), "node is healthy again");
        }
        debug!(target: targets::CONNECTION, node = %self.name(), connection = id, ?took, "connected");
        self.tell_change();
        Some(id)
    }

    /// A connection has served a request: whatever went wrong before is over.
    pub(super) fn proved(&self) {
        self.lock().failures = 0;
    }

    /// An attempt to connect failed.
    pub(super) fn connect_failed(&self, error: &Error) {
        let mut state = self.lock();
        state.counters.created_with_error += 1;
        state.counters.broke();
        state.grow = false;
        if state.open_lanes() == 0 {
            state.failures = state.failures.saturating_add(1);
        }
        self.take_down(state, error);
    }

    /// A connection ended. Returns the requests that its driver has not taken.
    pub(super) fn ended(&self, lane: u64, ending: &Ending) -> Option<Outbox<Token>> {
        let mut state = self.lock();
        let unsent = state.remove_lane(lane)?.outbox;
        state.counters.closed += 1;
        match ending {
            Ending::Asked { purged } => {
                state.counters.purged += u64::from(*purged);
                drop(state);
                debug!(
                    target: targets::CONNECTION,
                    node = %self.name(),
                    connection = lane,
                    purged,
                    "connection closed"
                );
            }
            Ending::Lost(error) => {
                state.failures = 0;
                state.counters.broke();
                if state.open_lanes() == 0 {
                    // The next attempt is a first one: it is made at once and waited for.
                    state.retry_at = None;
                }
                drop(state);
                let error = error.for_log();
                debug!(
                    target: targets::CONNECTION,
                    node = %self.name(),
                    connection = lane,
                    %error,
                    "connection lost"
                );
            }
            Ending::Failed(error) => {
                state.must_answer = true;
                state.counters.broke();
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
        self.after_ending();
        self.supervise.notify_one();
        self.tell_change();
        Some(unsent)
    }

    /// Those who waited for a connection that ended may have a place on another one; if there
    /// is none and there will be none, they are told.
    fn after_ending(&self) {
        let mut state = self.lock();
        match state.closing.clone() {
            Some(reason) if state.lanes.is_empty() => {
                let waiting = state.waiting.take_all();
                drop(state);
                self.fail_waiting(waiting, &reason);
            }
            _ => self.serve_queue(state),
        }
    }

    /// After a failure: waits before the next attempt, and takes the node down if no connection
    /// stands.
    fn take_down(&self, mut state: MutexGuard<'_, State>, error: &Error) {
        let wait = self.options.backoff.wait(state.failures, fastrand::f64());
        state.retry_at = Instant::now().checked_add(wait);
        if state.open_lanes() > 0 || state.closing.is_some() {
            drop(state);
            let error = error.for_log();
            debug!(target: targets::CONNECTION, node = %self.name(), %error, "a connection failed");
            return;
        }
        let told = error.for_log();
        let before = std::mem::replace(&mut state.phase, Phase::Down(error.clone()));
        let is_news = match before {
            Phase::Down(before) => before.for_log().to_string() != told.to_string(),
            Phase::Dormant | Phase::Connecting => true,
        };
        self.down.store(true, Ordering::Relaxed);
        let waiting = state.waiting.take_all();
        // Who is refused will be refused again.
        let hopeless = error.kind() == ErrorKind::Authentication && error.is_refusal();
        let unhealthy = (hopeless || state.failures >= self.options.unhealthy_after)
            && std::mem::replace(&mut state.healthy, false);
        if unhealthy {
            state.counters.unhealthy += 1;
            self.tell_health(Some(error));
        }
        drop(state);
        let node = self.name();
        if is_news || unhealthy {
            warn!(
                target: targets::HEALTH,
                %node,
                error = %told,
                retry_in = ?wait,
                unhealthy,
                "node cannot be used"
            );
        } else {
            debug!(
                target: targets::HEALTH,
                %node,
                error = %told,
                retry_in = ?wait,
                "node still cannot be used"
            );
        }
        self.fail_waiting(waiting, error);
        self.tell_change();
    }

    /// Called under the node's lock, so that changes are told in the order in which they happen.
    fn tell_health(&self, unhealthy: Option<&Error>) {
        if let Some(watcher) = self.watcher.upgrade() {
            watcher.health_changed(self, unhealthy);
        }
    }
}
