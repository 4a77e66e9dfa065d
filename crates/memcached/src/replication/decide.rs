//! Writes that the owner decides: whether a condition holds, what a number becomes.
//!
//! The owner is asked first. Once it has changed its value, the other replicas get the value if it
//! is known whole, and else a delete: after `append` only the owner knows the value, and after
//! `increment` only the owner knows how long the number has left to live. When it is not known
//! whether the owner has changed anything, because its answer was lost or is not waited for any
//! more, the others get a delete as well, so that no replica keeps what the owner may have replaced.

use std::sync::Arc;

use steersman_memcached_protocol::{Reply, StoreVerb};

use super::Request;
use super::WriteSuccess;
use super::command::{Action, Command};
use super::report::{Answer, Outcomes};
use super::write::Wait;
use crate::error::Result;

impl Request {
    /// Lets the owner decide, then tells the others.
    pub(super) async fn decide(&self) -> Result<Answer> {
        let success = self.replicator()?.options.write_success;
        let mut doubt = Doubt {
            request: self,
            delete: Some(self.command.instead(Action::Delete)),
        };
        let reply = match self.ask_owner().await {
            Ok(reply) => reply,
            Err(error) => {
                if !error.maybe_executed() {
                    doubt.dispel();
                }
                return Err(error);
            }
        };
        if !matches!(reply, Reply::Stored | Reply::Number(_)) {
            doubt.dispel();
            return Ok(Answer::of_one(reply));
        }
        let wait = match success {
            WriteSuccess::All => Wait::ForAll,
            // The owner is the one.
            WriteSuccess::Any => Wait::Briefly,
        };
        let told = self
            .settle(1..self.targets.len(), &self.result(), wait)
            .await;
        doubt.dispel();
        let mut outcomes = Outcomes::default();
        outcomes.push(&self.targets[0], Ok(reply));
        outcomes.append(told);
        outcomes.into_answer(success)
    }

    /// What the other replicas are told once the owner has done it.
    fn result(&self) -> Arc<Command> {
        self.command.instead(match &self.command.action {
            Action::Store(StoreVerb::Add | StoreVerb::Replace, item) | Action::Cas(_, item) => {
                Action::Store(StoreVerb::Set, item.clone())
            }
            _ => Action::Delete,
        })
    }
}

/// While it is not known what the owner has. Dropped in doubt, the other replicas get a delete.
struct Doubt<'a> {
    request: &'a Request,
    delete: Option<Arc<Command>>,
}

impl Doubt<'_> {
    fn dispel(&mut self) {
        self.delete = None;
    }
}

impl Drop for Doubt<'_> {
    fn drop(&mut self) {
        if let Some(delete) = &self.delete {
            for target in self.request.targets.iter().skip(1) {
                self.request.send_unanswered(target, delete);
            }
        }
    }
}
