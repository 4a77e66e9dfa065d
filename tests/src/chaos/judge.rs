//! What is made of a call's end: how long it took, whether its answer can be right, and what the ledger is
//! told.

use std::pin::pin;
use std::time::Duration;

use steersman_memcached::{Error, ErrorKind, Value};
use steersman_testkit::ledger::{Held, Read, Violation, Write};
use tokio::time::timeout;

use super::clients::{CALL_BOUND, Kind, TIMEOUT};
use super::key::Key;
use super::stage::Stage;
use super::workload::Caller;

/// A call that is not over by then never will be.
const HANGS: Duration = Duration::from_secs(30);

impl Caller {
    /// Waits for a call, but not for ever, and sees how long it takes; `None` if it hangs.
    pub(super) async fn watch<T>(
        &mut self,
        stage: &Stage,
        operation: &'static str,
        call: impl IntoFuture<Output = Result<T, Error>>,
    ) -> Option<Result<T, Error>> {
        let measured = stage.pace.start();
        let mut call = pin!(call.into_future());
        loop {
            let waited = timeout(HANGS, &mut call).await;
            let lived = measured.lived();
            if let Ok(answer) = waited {
                if let Some(latencies) = &self.latencies {
                    latencies.record(measured.elapsed(), answer.is_err());
                }
                let overrun = lived.saturating_sub(TIMEOUT);
                self.tally.longest_overrun = self.tally.longest_overrun.max(overrun);
                if lived > CALL_BOUND {
                    let kind = answer.as_ref().err().map(Error::kind);
                    stage.broken.report(format_args!(
                        "{operation} took {lived:?} with a time-out of {TIMEOUT:?} and ended in {kind:?}"
                    ));
                }
                return Some(answer);
            }
            if lived > HANGS / 2 {
                stage.broken.report(format_args!(
                    "{operation} with a time-out of {TIMEOUT:?} has not ended after {lived:?}"
                ));
                return None;
            }
        }
    }

    /// Shows an answer to the ledger; whether there was one.
    pub(super) fn judge(
        &mut self,
        stage: &Stage,
        operation: &'static str,
        key: &Key,
        read: Read<'_>,
        answer: Option<Result<Option<Value>, Error>>,
    ) -> bool {
        let verdict = match answer {
            Some(Ok(Some(value))) => {
                self.tally.count(operation, "hit");
                if key.is_shared {
                    read.found_somewhere(&value.data).map(|()| None)
                } else {
                    read.found(&value.data).map(Some)
                }
            }
            Some(Ok(None)) => {
                self.tally.count(operation, "miss");
                if key.is_shared {
                    Ok(None)
                } else {
                    read.missed().map(Some)
                }
            }
            Some(Err(error)) => {
                self.failed(stage, operation, &error);
                return false;
            }
            None => return false,
        };
        self.hold(stage, operation, verdict);
        true
    }

    fn hold(&mut self, stage: &Stage, operation: &str, verdict: Result<Option<Held>, Violation>) {
        match verdict {
            Ok(Some(Held::AgainstAWrite)) => self.tally.held += 1,
            Ok(Some(Held::AgainstNothing)) => self.tally.unheld += 1,
            Ok(None) => self.tally.replicated += 1,
            Err(violation) => {
                let kind = self.kind;
                stage.broken.report(format_args!(
                    "{operation} of the client {kind:?}: {violation}"
                ));
            }
        }
    }

    pub(super) fn confirm(&mut self, operation: &'static str, write: Write<'_>) -> bool {
        self.tally.count(operation, "done");
        write.confirmed();
        true
    }

    /// A condition did not hold.
    pub(super) fn declined(&mut self, operation: &'static str, write: Write<'_>) -> bool {
        self.tally.count(operation, "declined");
        // With replicas it is the owner that has declined.
        write.not_executed();
        true
    }

    pub(super) fn unconfirmed(
        &mut self,
        stage: &Stage,
        operation: &'static str,
        write: Write<'_>,
        error: &Error,
    ) -> bool {
        self.failed(stage, operation, error);
        match (error.kind(), error.maybe_executed()) {
            (_, true) => drop(write),
            (ErrorKind::Server, false) => write.refused(),
            (_, false) => write.not_executed(),
        }
        false
    }

    fn failed(&mut self, stage: &Stage, operation: &'static str, error: &Error) {
        self.tally.count_error(operation, error);
        let expected = matches!(
            error.kind(),
            ErrorKind::Timeout
                | ErrorKind::Overloaded
                | ErrorKind::Unreachable
                | ErrorKind::NoNodeReachable
                | ErrorKind::ConnectionLost
                | ErrorKind::Stalled
                | ErrorKind::Protocol
                | ErrorKind::Server
        ) || self.kind == Kind::Guarded
            && matches!(error.kind(), ErrorKind::Authentication | ErrorKind::Tls);
        if !expected {
            stage
                .broken
                .report(format_args!("{operation} failed: {error}"));
        }
    }
}
