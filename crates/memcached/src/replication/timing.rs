//! The end of a replicated call, and one timer for whatever is due first until then.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::Instant;

use crate::deadline::{Deadline, Expired};
use crate::error::{Error, ErrorKind, Result, Stage};

/// How long a call may take, and until when.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limit {
    span: Option<Duration>,
    at: Option<Instant>,
}

impl Limit {
    /// From now on.
    pub(crate) fn new(span: Option<Duration>) -> Self {
        Self {
            span,
            at: span.and_then(|span| Instant::now().checked_add(span)),
        }
    }

    pub(super) fn span(&self) -> Option<Duration> {
        self.span
    }

    pub(super) fn at(&self) -> Option<Instant> {
        self.at
    }

    pub(super) fn is_over(&self, now: Instant) -> bool {
        self.at.is_some_and(|at| at <= now)
    }

    /// What is left of it.
    pub(super) fn left(&self) -> Option<Duration> {
        self.at
            .map(|at| at.saturating_duration_since(Instant::now()))
    }

    /// The error of a call that was not begun by the end of it.
    pub(super) fn not_begun(&self) -> Error {
        Expired::TimeOut(self.span.unwrap_or_default()).error(Stage::Routing)
    }

    /// The error of a replica that has not answered by now.
    pub(super) fn timeout(&self, in_flight: bool) -> Error {
        let stage = if in_flight {
            Stage::Exchange
        } else {
            Stage::Waiting
        };
        let message = match self.span {
            Some(span) if self.is_over(Instant::now()) => format!("no reply within {span:?}"),
            _ => {
                "no reply within the attempt time-out, and another replica has answered".to_owned()
            }
        };
        Error::new(ErrorKind::Timeout, stage, message).executed(in_flight)
    }
}

/// A timer that is set anew when something else is due.
pub(super) struct Alarm {
    due: Option<Instant>,
    timer: Pin<Box<Deadline>>,
}

impl Alarm {
    pub(super) fn new() -> Self {
        Self {
            due: None,
            timer: Box::pin(Deadline::new(None)),
        }
    }

    /// Ready when `due` has come, or cannot come because the runtime that counts is gone.
    pub(super) fn poll(
        &mut self,
        due: Option<Instant>,
        cx: &mut Context<'_>,
        runtime: &Handle,
    ) -> Poll<Result<()>> {
        if self.due != due {
            self.due = due;
            let left = due.map(|due| due.saturating_duration_since(Instant::now()));
            self.timer.set(Deadline::new(left));
        }
        let expired = ready!(self.timer.as_mut().poll_expired(cx, runtime));
        self.due = None;
        self.timer.set(Deadline::new(None));
        Poll::Ready(match expired {
            Expired::TimeOut(_) => Ok(()),
            Expired::RuntimeGone => Err(Error::runtime_gone()),
        })
    }
}
