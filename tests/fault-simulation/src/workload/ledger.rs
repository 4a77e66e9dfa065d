//! Writes down calls as they begin and end.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use steersman_memcached::{Error, Result, Value};

use crate::history::{Asked, Call, Outcome};
use crate::lock;
use crate::trace::{Moment, Trace};
use crate::value;

/// All calls of a run.
pub(crate) struct Ledger {
    trace: Arc<Trace>,
    calls: Mutex<Vec<Call>>,
    open: AtomicUsize,
}

/// A call that has begun, and is to end.
#[must_use]
#[derive(Clone, Copy)]
pub(super) struct Begun {
    client: usize,
    when: Moment,
}

/// What callers do and hear, for the trace.
#[derive(Debug, Hash)]
enum Event<'a> {
    Began {
        client: usize,
        asked: Asked,
        key: &'a str,
    },
    Ended {
        client: usize,
        asked: Asked,
        key: &'a str,
        outcome: &'a Outcome,
    },
}

impl Ledger {
    pub(crate) fn new(trace: Arc<Trace>) -> Self {
        Self {
            trace,
            calls: Mutex::default(),
            open: AtomicUsize::new(0),
        }
    }

    pub(super) fn begin(&self, client: usize, asked: Asked, key: &str) -> Begun {
        self.open.fetch_add(1, Ordering::Relaxed);
        let when = self.trace.note(&Event::Began { client, asked, key });
        Begun { client, when }
    }

    pub(super) fn end(
        &self,
        begun: Begun,
        asked: Asked,
        key: String,
        limit: Duration,
        outcome: Outcome,
    ) {
        let Begun { client, when } = begun;
        let ended = self.trace.note(&Event::Ended {
            client,
            asked,
            key: &key,
            outcome: &outcome,
        });
        self.open.fetch_sub(1, Ordering::Relaxed);
        lock(&self.calls).push(Call {
            client,
            asked,
            key,
            begun: when,
            ended,
            limit,
            outcome,
        });
    }

    /// The calls that have ended, and how many have not.
    pub(crate) fn close(&self) -> (Vec<Call>, usize) {
        let calls = std::mem::take(&mut *lock(&self.calls));
        (calls, self.open.load(Ordering::Relaxed))
    }
}

impl Outcome {
    pub(super) fn of_error(error: &Error) -> Self {
        Self::Failed {
            kind: error.kind(),
            maybe_executed: error.maybe_executed(),
            at_node: error.node().is_some(),
        }
    }

    pub(super) fn of_read(key: &str, answer: &Result<Option<Value>>) -> Self {
        match answer {
            Ok(Some(value)) => Self::Hit(value::read(key, &value.data)),
            Ok(None) => Self::Miss,
            Err(error) => Self::of_error(error),
        }
    }

    pub(super) fn of_write(answer: &Result<bool>) -> Self {
        match answer {
            Ok(true) => Self::Done,
            Ok(false) => Self::NotDone,
            Err(error) => Self::of_error(error),
        }
    }
}
