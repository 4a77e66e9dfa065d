//! The time-outs of the requests on a connection: one timer for all of them.
//!
//! A timer for each request would cost as much as everything else that is done for it. Most requests
//! are answered long before their time is up, so the connection's driver keeps the earliest deadline
//! that it has heard of, and looks for requests that are late only when that has come.

use std::pin::Pin;
use std::task::Context;

use tokio::time::{Instant, Sleep};

/// When to look for requests that are late.
pub(super) struct Expiry {
    at: Option<Instant>,
    timer: Pin<Box<Sleep>>,
}

impl Expiry {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            at: None,
            timer: Box::pin(tokio::time::sleep_until(now)),
        }
    }

    /// Some request is late from `deadline` on.
    pub(super) fn hasten(&mut self, deadline: Option<Instant>) {
        if let Some(deadline) = deadline
            && self.at.is_none_or(|at| deadline < at)
        {
            self.at = Some(deadline);
            self.timer.as_mut().reset(deadline);
        }
    }

    /// Whether it is time to look. If so, what is asked for next is the
    /// [earliest](Self::hasten) of the deadlines that are left.
    pub(super) fn poll_due(&mut self, cx: &mut Context<'_>) -> bool {
        if self.at.is_none() || self.timer.as_mut().poll(cx).is_pending() {
            return false;
        }
        self.at = None;
        true
    }
}
