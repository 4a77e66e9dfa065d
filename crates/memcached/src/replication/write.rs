//! Writing to all replicas.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_util::future::join_all;
use steersman_memcached_protocol::Reply;
use tokio::runtime::Handle;
use tokio::time::Instant;
use tracing::debug;

use super::attempt::Attempt;
use super::command::{Action, Command};
use super::report::{Answer, Outcomes};
use super::timing::Alarm;
use super::{Request, Target, WriteSuccess};
use crate::call::{Call, NoReply};
use crate::error::Result;
use crate::observe::targets;

impl Request {
    /// Writes to all replicas at the same time.
    pub(super) async fn write(&self) -> Result<Answer> {
        let success = self.replicator()?.options.write_success;
        let wait = match success {
            WriteSuccess::All => Wait::ForAll,
            WriteSuccess::Any => Wait::ForAny,
        };
        let outcomes = self
            .settle(0..self.targets.len(), &self.command, wait)
            .await;
        outcomes.into_answer(success)
    }

    /// Sends to these targets and waits for their answers, until the time is up.
    pub(super) async fn settle(
        &self,
        targets: impl Iterator<Item = usize>,
        command: &Arc<Command>,
        wait: Wait,
    ) -> Outcomes {
        let (Ok(replicator), Some(runtime)) = (self.replicator(), self.shared.cluster.runtime())
        else {
            return Outcomes::default();
        };
        let timeout = self.attempt_timeout(replicator);
        let writers = targets.map(|target| {
            let target = &self.targets[target];
            Writer {
                target,
                attempt: Attempt::new(&self.shared, target, command, timeout),
                outcome: None,
                late: false,
            }
        });
        let mut spread = Spread {
            request: self,
            writers: writers.collect(),
            wait,
        };
        let mut alarm = Alarm::new();
        poll_fn(|cx| spread.poll(&mut alarm, cx, runtime)).await;
        spread.into_outcomes()
    }

    /// Asks the owner alone, for as long as the call may take.
    pub(super) async fn ask_owner(&self) -> Result<Reply> {
        let outcomes = self.settle(0..1, &self.command, Wait::ForAll).await;
        outcomes.into_first()
    }

    /// Queues the requests of a call whose answer is not waited for.
    pub(super) async fn unanswered(&self) -> Result<Answer> {
        let success = self.replicator()?.options.write_success;
        let decided_by_owner = self.command.is_decided_by_owner();
        // What the owner will have decided is never known, so the others have to forget.
        let delete = self.command.instead(Action::Delete);
        let queued = self.targets.iter().enumerate().map(|(index, target)| {
            let command = if decided_by_owner && index > 0 {
                &delete
            } else {
                &self.command
            };
            self.queue(target, command)
        });
        let mut outcomes = Outcomes::default();
        for (target, queued) in self.targets.iter().zip(join_all(queued).await) {
            outcomes.push(target, queued.map(|()| Reply::Ok));
        }
        if decided_by_owner {
            outcomes.first_must_succeed()?;
        }
        outcomes.into_answer(success)
    }

    /// Puts a request in a replica's queue; its reply is not waited for.
    fn queue(
        &self,
        target: &Target,
        command: &Arc<Command>,
    ) -> impl Future<Output = Result<()>> + Send + use<> {
        Call::new(
            Arc::clone(&self.shared),
            Some(Arc::clone(&target.node)),
            NoReply(Arc::clone(command)),
        )
        .timeout(self.limit.left())
        .into_future()
    }

    /// Sends a request in the background.
    pub(super) fn send_unanswered(&self, target: &Target, command: &Arc<Command>) {
        if let Some(runtime) = self.shared.cluster.runtime() {
            let queued = self.queue(target, command);
            runtime.spawn(async move {
                if let Err(error) = queued.await {
                    let error = error.for_log();
                    debug!(target: targets::UNANSWERED, %error, "a replica could not be told");
                }
            });
        }
    }
}

/// For whose answers a call waits that was sent to several replicas.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wait {
    /// For all, as long as the call may take.
    ForAll,
    /// For one that succeeds; then for the others no longer than the attempt time-out.
    ForAny,
    /// For none longer than the attempt time-out.
    Briefly,
}

/// The same request on its way to several replicas.
struct Spread<'a> {
    request: &'a Request,
    writers: Vec<Writer<'a>>,
    wait: Wait,
}

struct Writer<'a> {
    target: &'a Target,
    attempt: Attempt,
    outcome: Option<Result<Reply>>,
    /// Whether it has taken the attempt time-out.
    late: bool,
}

impl Spread<'_> {
    /// Ready when there is nothing more to wait for.
    fn poll(&mut self, alarm: &mut Alarm, cx: &mut Context<'_>, runtime: &Handle) -> Poll<()> {
        loop {
            for writer in &mut self.writers {
                if writer.outcome.is_none()
                    && let Poll::Ready(outcome) = writer.attempt.poll(cx)
                {
                    writer.outcome = Some(outcome);
                }
            }
            let done = match self.wait {
                Wait::ForAll => false,
                Wait::ForAny => self.writers.iter().any(Writer::has_succeeded),
                Wait::Briefly => true,
            };
            let mut open = self
                .writers
                .iter()
                .filter(|writer| writer.outcome.is_none());
            if open.all(|writer| done && writer.late) {
                return Poll::Ready(());
            }
            let open = self
                .writers
                .iter()
                .filter(|writer| writer.outcome.is_none());
            let due = open
                .filter_map(|writer| writer.attempt.overdue_at)
                .chain(self.request.limit.at())
                .min();
            let rung = ready!(alarm.poll(due, cx, runtime));
            let now = Instant::now();
            if rung.is_err() || self.request.limit.is_over(now) {
                return Poll::Ready(());
            }
            for writer in &mut self.writers {
                if writer.attempt.overdue_at.is_some_and(|at| at <= now) {
                    writer.attempt.overdue();
                    writer.late = true;
                }
            }
        }
    }

    fn into_outcomes(self) -> Outcomes {
        let mut outcomes = Outcomes::default();
        for writer in self.writers {
            let in_flight = writer.attempt.withdraw();
            let outcome = writer
                .outcome
                .unwrap_or_else(|| Err(self.request.limit.timeout(in_flight)));
            outcomes.push(writer.target, outcome);
        }
        outcomes
    }
}

impl Writer<'_> {
    fn has_succeeded(&self) -> bool {
        matches!(self.outcome, Some(Ok(_)))
    }
}
