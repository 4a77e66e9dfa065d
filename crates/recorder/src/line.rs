//! One line of a log: the format that `steersman simulate --record` reads.

use std::io::{self, Write};
use std::sync::Arc;

use serde::Serialize;
use steersman_selection::{Attempt, Outcome};

/// What is kept of an attempt until it is written.
#[derive(Debug)]
pub(crate) struct Entry {
    node: Arc<str>,
    ended: i64,
    latency: i64,
    outcome: &'static str,
}

impl Entry {
    /// An attempt that ended at that time, in nanoseconds since 1970; none if it tells nothing of how
    /// the node serves requests.
    pub(crate) fn of(node: &Arc<str>, attempt: &Attempt, ended: i64) -> Option<Self> {
        let outcome = name(attempt.outcome()).filter(|_| !attempt.is_probe())?;
        Some(Self {
            node: Arc::clone(node),
            ended,
            latency: attempt.latency_nanos(),
            outcome,
        })
    }

    pub(crate) fn write(&self, writer: &mut impl Write) -> io::Result<()> {
        let line = Line {
            time_ns: self.ended,
            node: &self.node,
            latency_ns: self.latency,
            outcome: self.outcome,
        };
        serde_json::to_writer(&mut *writer, &line)?;
        writer.write_all(b"\n")
    }
}

#[derive(Serialize)]
struct Line<'a> {
    time_ns: i64,
    node: &'a str,
    latency_ns: i64,
    outcome: &'static str,
}

/// How the outcome is written; none if it says nothing of the node.
fn name(outcome: Outcome) -> Option<&'static str> {
    match outcome {
        Outcome::Success => Some("success"),
        Outcome::Failed => Some("failed"),
        Outcome::TimedOut => Some("timed-out"),
        Outcome::Disconnected => Some("disconnected"),
        Outcome::Refused => Some("refused"),
        Outcome::Cancelled => Some("cancelled"),
        // `Rejected` and `Busy`: the request was at fault, or never sent.
        _ => None,
    }
}
