//! The node's supervisor: makes connections, waits between attempts, closes idle ones.

use std::sync::Arc;

use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::Node;
use super::connect::open;
use super::driver::Driver;
use super::moves;
use super::state::earlier;
use crate::error::{Error, ErrorKind, Stage};
use crate::sync::atomic::Ordering;

/// Owns the node's background work. Dropped with its runtime, it tells those who wait.
pub(super) struct Supervisor {
    node: Arc<Node>,
}

impl Supervisor {
    pub(super) fn new(node: Arc<Node>) -> Self {
        Self { node }
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        self.node.supervisor_gone(std::thread::panicking());
    }
}

/// What the supervisor does next.
enum Step {
    Connect { must_answer: bool },
    Wait { until: Option<Instant> },
    End,
}

/// Runs until the node is closed and its last connection is gone.
pub(super) async fn supervise(supervisor: Supervisor) {
    let node = &supervisor.node;
    let _following = AbortOnDrop(tokio::spawn(moves::follow(Arc::clone(node))));
    loop {
        node.expire_waiting();
        match node.next_step() {
            Step::Connect { must_answer } => connect(node, must_answer).await,
            Step::Wait { until } => node.notified_until(until).await,
            Step::End => return,
        }
    }
}

async fn connect(node: &Arc<Node>, must_answer: bool) {
    let started = Instant::now();
    let attempt = {
        let node = Arc::clone(node);
        async move { open(&node.config, &node.options, must_answer).await }
    };
    // In a task of its own, so that a connector that panics ends only this attempt.
    let mut attempt = AbortOnDrop(tokio::spawn(attempt));
    let made = tokio::select! {
        biased;
        made = &mut attempt.0 => made,
        () = node.closing() => return,
    };
    match made {
        Ok(Ok(opened)) => {
            if let Some(lane) = node.opened(started.elapsed(), opened.version.as_deref()) {
                node.remember_route(lane, opened.route);
                tokio::spawn(Driver::new(Arc::clone(node), lane, opened));
            }
        }
        Ok(Err(error)) => node.connect_failed(&error.at_node(node.name())),
        Err(failure) => {
            let error = Error::new(
                ErrorKind::Unreachable,
                Stage::Connecting,
                format!("the attempt to connect ended early: {failure}"),
            );
            node.connect_failed(&error.at_node(node.name()));
        }
    }
}

struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Node {
    fn next_step(&self) -> Step {
        let now = Instant::now();
        let mut state = self.lock();
        if state.closing.is_some() {
            let end = state.lanes.is_empty();
            return if end {
                Step::End
            } else {
                Step::Wait {
                    until: state.waiting.expiry(),
                }
            };
        }
        let (mut wakers, next_purge) = state.purge(&self.options, now);
        wakers.extend(state.let_outdated_go());
        let retry_at = state.retry_at.filter(|at| *at > now);
        let wants = state.current_lanes() < state.wanted(&self.options);
        let step = match retry_at {
            None if wants => Step::Connect {
                must_answer: state.must_answer,
            },
            _ => Step::Wait {
                until: earlier(earlier(next_purge, retry_at), state.waiting.expiry()),
            },
        };
        drop(state);
        for waker in wakers {
            waker.wake();
        }
        step
    }

    /// Ready when the node is asked to close; meanwhile it keeps the time of those who wait for a connection.
    async fn closing(&self) {
        loop {
            self.expire_waiting();
            let expiry = {
                let state = self.lock();
                if state.closing.is_some() {
                    return;
                }
                state.waiting.expiry()
            };
            self.notified_until(expiry).await;
        }
    }

    /// Ready when there is something to see to, at that moment at the latest.
    async fn notified_until(&self, moment: Option<Instant>) {
        let notified = self.supervise.notified();
        match moment {
            None => notified.await,
            // Past it or not, whoever notifies is heard.
            Some(moment) => drop(tokio::time::timeout_at(moment, notified).await),
        }
    }

    /// The supervisor ends: its work is done, its runtime was dropped, or it panicked. Nobody
    /// will connect any more.
    fn supervisor_gone(&self, panicked: bool) {
        let error = if panicked {
            Error::bug()
        } else {
            Error::runtime_gone()
        };
        let mut state = self.lock();
        state.closing.get_or_insert_with(|| error.clone());
        let waiting = state.waiting.take_all();
        if !state.lanes.is_empty() || !waiting.is_empty() {
            self.down.store(true, Ordering::Relaxed);
        }
        drop(state);
        self.fail_waiting(waiting, &error);
        self.tell_change();
    }
}
