//! One attempt at one replica, and what it tells of the replica's speed.
//!
//! Every attempt is recorded once: when its reply comes, when it takes longer than the attempt
//! time-out, or, if it was cancelled before it was sent, with its age then. One that is cancelled
//! while it is on a connection is followed to its reply, so that a slow node whose requests are
//! always overtaken by others does not stay unknown.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use steersman_memcached_protocol::{Reply, ServerError, ServerErrorKind};
use steersman_selection::{Attempt as Record, NodeIndex, Outcome};
use tokio::time::Instant;

use super::command::Command;
use super::view::Target;
use crate::call::{Call, CallFuture, unfit_reply};
use crate::error::{Error, ErrorKind, Result, Stage};
use crate::metrics::Ended;
use crate::shared::Shared;

/// How long a cancelled attempt is followed where there is no attempt time-out.
const LONGEST_FOLLOWED: Duration = Duration::from_secs(1);

/// A request on its way to one replica. Dropping it is harmless.
pub(super) struct Attempt {
    /// None once it has been answered.
    call: Option<Pin<Box<CallFuture<Arc<Command>>>>>,
    /// When it counts as timed out.
    pub(super) overdue_at: Option<Instant>,
    /// Whether only one reply means that it was done.
    must_store: bool,
    sample: Sample,
}

impl Attempt {
    pub(super) fn new(
        shared: &Arc<Shared>,
        target: &Target,
        command: &Arc<Command>,
        timeout: Option<Duration>,
    ) -> Self {
        let started = Instant::now();
        let mut is_recorded = false;
        if let Some(replicator) = &shared.cluster.replicator {
            replicator.begin(target.index, started);
            is_recorded = replicator.options.recorder.is_some();
        }
        let node = Some(Arc::clone(&target.node));
        let call = Call::new(Arc::clone(shared), node, Arc::clone(command)).timeout(None);
        Self {
            call: Some(Box::pin(call.into_future())),
            overdue_at: timeout.and_then(|timeout| started.checked_add(timeout)),
            must_store: command.must_store(),
            sample: Sample {
                shared: Arc::clone(shared),
                index: target.index,
                is_read: command.is_read(),
                name: is_recorded.then(|| Arc::clone(target.node.name())),
                started,
                recorded: false,
            },
        }
    }

    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<Reply>> {
        let Some(call) = &mut self.call else {
            return Poll::Pending;
        };
        let reply = ready!(call.as_mut().poll(cx));
        self.call = None;
        self.sample.answered(&reply);
        Poll::Ready(match reply {
            Ok(reply) if self.must_store && !matches!(reply, Reply::Stored) => {
                Err(unfit_reply(&reply))
            }
            reply => reply,
        })
    }

    /// When it was begun.
    pub(super) fn started(&self) -> Instant {
        self.sample.started
    }

    /// Counts it as timed out. Its reply is welcome all the same.
    pub(super) fn overdue(&mut self) {
        self.overdue_at = None;
        self.sample.record(Outcome::TimedOut);
    }

    /// Takes its request out of the node's queue; says whether it is on a connection instead.
    pub(super) fn withdraw(&self) -> bool {
        let call = self.call.as_ref();
        call.is_some_and(|call| call.withdraw(Ended::Cancelled) == Stage::Exchange)
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        if self.sample.recorded || !self.withdraw() {
            return;
        }
        let shared = Arc::clone(&self.sample.shared);
        if let (Some(call), Some(runtime)) = (self.call.take(), shared.cluster.runtime()) {
            let started = self.sample.started;
            let until = self.overdue_at.unwrap_or(started + LONGEST_FOLLOWED);
            runtime.spawn(follow(call, self.sample.take(), until));
        }
    }
}

/// Waits for the reply that nobody else waits for any more.
async fn follow(call: Pin<Box<CallFuture<Arc<Command>>>>, mut sample: Sample, until: Instant) {
    match tokio::time::timeout_at(until, call).await {
        Ok(reply) => sample.answered(&reply),
        Err(_) => sample.record(Outcome::TimedOut),
    }
}

/// What will be recorded of an attempt.
struct Sample {
    shared: Arc<Shared>,
    index: NodeIndex,
    /// Hedges go by the latencies of reads.
    is_read: bool,
    /// The node's, if there is a recorder.
    name: Option<Arc<str>>,
    started: Instant,
    recorded: bool,
}

impl Sample {
    /// The sample, for another owner.
    fn take(&mut self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            index: self.index,
            is_read: self.is_read,
            name: self.name.take(),
            started: self.started,
            recorded: std::mem::replace(&mut self.recorded, true),
        }
    }

    fn answered(&mut self, reply: &Result<Reply>) {
        self.record(reply.as_ref().map_or_else(outcome, |_| Outcome::Success));
    }

    fn record(&mut self, outcome: Outcome) {
        if std::mem::replace(&mut self.recorded, true) {
            return;
        }
        let Some(replicator) = &self.shared.cluster.replicator else {
            return;
        };
        let latency = self.started.elapsed();
        if let (Outcome::Success, true, Some(hedging)) =
            (outcome, self.is_read, &replicator.hedging)
        {
            hedging.answered(self.index, latency);
        }
        let now = replicator.now();
        let record = Record::new(self.index, now, latency, outcome);
        replicator.record(&record);
        if let (Some(recorder), Some(name)) = (&replicator.options.recorder, &self.name) {
            recorder.record(name, &record);
        }
    }
}

impl Drop for Sample {
    fn drop(&mut self) {
        self.record(Outcome::Cancelled);
    }
}

/// What an error says of the node. What says nothing of it is no worse than a request at fault.
fn outcome(error: &Error) -> Outcome {
    match error.kind() {
        ErrorKind::Timeout => Outcome::TimedOut,
        ErrorKind::Unreachable
        | ErrorKind::NoNodeReachable
        | ErrorKind::Tls
        | ErrorKind::Authentication
        | ErrorKind::ConnectionLost
        | ErrorKind::Stalled
        | ErrorKind::Protocol => Outcome::Disconnected,
        ErrorKind::Overloaded => Outcome::Busy,
        ErrorKind::Server => match error.server_error().map(ServerError::kind) {
            Some(ServerErrorKind::Server) => Outcome::Failed,
            _ => Outcome::Rejected,
        },
        ErrorKind::InvalidKey
        | ErrorKind::InvalidArgument
        | ErrorKind::Unsupported
        | ErrorKind::Config
        | ErrorKind::UnknownNode
        | ErrorKind::Codec
        | ErrorKind::Closed
        | ErrorKind::Runtime => Outcome::Rejected,
    }
}
