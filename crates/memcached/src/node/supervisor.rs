//! The node's supervisor: makes connections, waits between attempts, closes idle ones.

use std::sync::Arc;

use tokio::time::Instant;

use super::Node;
use super::connect::open;
use super::driver::Driver;
use super::state::earlier;
use crate::error::Error;

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
        self.node.supervisor_gone();
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
    loop {
        match node.next_step() {
            Step::Connect { must_answer } => connect(node, must_answer).await,
            Step::Wait { until: None } => node.supervise.notified().await,
            Step::Wait { until: Some(until) } => {
                tokio::select! {
                    () = node.supervise.notified() => {}
                    () = tokio::time::sleep_until(until) => {}
                }
            }
            Step::End => return,
        }
    }
}

async fn connect(node: &Arc<Node>, must_answer: bool) {
    let started = Instant::now();
    let attempt = open(node.config.endpoint(), &node.options, must_answer);
    tokio::select! {
        made = attempt => match made {
            Ok(transport) => {
                if let Some(lane) = node.opened(started.elapsed()) {
                    tokio::spawn(Driver::new(Arc::clone(node), lane, transport));
                }
            }
            Err(error) => node.connect_failed(&error.at_node(node.name())),
        },
        () = node.closing() => {}
    }
}

impl Node {
    fn next_step(&self) -> Step {
        let now = Instant::now();
        let mut state = self.lock();
        if state.closing {
            let end = state.lanes.is_empty();
            return if end {
                Step::End
            } else {
                Step::Wait { until: None }
            };
        }
        let (wakers, next_purge) = state.purge(&self.options, now);
        let retry_at = state.retry_at.filter(|at| *at > now);
        let wants = state.open_lanes() < state.wanted(&self.options);
        let step = match retry_at {
            None if wants => Step::Connect {
                must_answer: state.must_answer,
            },
            _ => Step::Wait {
                until: earlier(next_purge, retry_at),
            },
        };
        drop(state);
        for waker in wakers {
            waker.wake();
        }
        step
    }

    /// Waits until the node is asked to close.
    async fn closing(&self) {
        while !self.lock().closing {
            self.supervise.notified().await;
        }
    }

    /// The runtime dropped the supervisor, or it is done: nobody will connect any more.
    fn supervisor_gone(self: &Arc<Self>) {
        let mut state = self.lock();
        if state.closing && state.lanes.is_empty() {
            return;
        }
        let error = Error::runtime_gone();
        state.phase = super::state::Phase::Down(error.clone());
        self.down.store(true, std::sync::atomic::Ordering::Relaxed);
        let waiting = state.take_waiting();
        drop(state);
        self.fail_waiting(waiting, &error);
        self.tell_change();
    }
}
