//! What became of a call at each replica, and what the caller is told of it.

use std::sync::Arc;

use steersman_memcached_protocol::{Reply, Request};

use super::{Target, WriteSuccess};
use crate::call::{Call, Write, sealed};
use crate::error::{Error, Result};
use crate::outcome::PerNode;

/// The answer of a replicated call.
pub(crate) struct Answer {
    pub(crate) reply: Reply,
    pub(crate) replicas: PerNode<()>,
}

impl Answer {
    /// An answer that one replica gave for all.
    pub(super) fn of_one(reply: Reply) -> Self {
        Self {
            reply,
            replicas: PerNode::default(),
        }
    }
}

/// The outcomes at several replicas.
#[derive(Default)]
pub(super) struct Outcomes(Vec<(Arc<str>, Result<Reply>)>);

impl Outcomes {
    pub(super) fn push(&mut self, target: &Target, outcome: Result<Reply>) {
        let name = target.node.name();
        let outcome = outcome.map_err(|error| error.at_node(name));
        self.0.push((Arc::clone(name), outcome));
    }

    pub(super) fn append(&mut self, mut others: Self) {
        self.0.append(&mut others.0);
    }

    /// The first outcome alone.
    pub(super) fn into_first(self) -> Result<Reply> {
        match self.0.into_iter().next() {
            Some((_, outcome)) => outcome,
            None => Err(Error::closed()),
        }
    }

    /// Fails if the first replica, the owner, has failed.
    pub(super) fn first_must_succeed(&self) -> Result<()> {
        match self.0.first() {
            Some((_, Err(error))) => Err(error.clone()),
            _ => Ok(()),
        }
    }

    /// The answer to a write: of what the replicas say, that something was there and has changed. One
    /// that has left the cluster meanwhile is none any more.
    pub(super) fn into_answer(mut self, success: WriteSuccess) -> Result<Answer> {
        if self.0.iter().any(|(_, outcome)| outcome.is_ok()) {
            let has_left =
                |outcome: &Result<Reply>| matches!(outcome, Err(error) if error.node_left());
            self.0.retain(|(_, outcome)| !has_left(outcome));
        }
        let succeeded = self.0.iter().filter(|(_, outcome)| outcome.is_ok()).count();
        let enough = match success {
            WriteSuccess::All => succeeded == self.0.len(),
            WriteSuccess::Any => succeeded > 0,
        };
        if !enough {
            return Err(self.into_error());
        }
        let replies = || {
            self.0
                .iter()
                .filter_map(|(_, outcome)| outcome.as_ref().ok())
        };
        let reply = replies()
            .find(|reply| !matches!(reply, Reply::NotFound))
            .or_else(|| replies().next())
            .cloned();
        Ok(Answer {
            reply: reply.ok_or_else(Error::closed)?,
            replicas: self.per_node(),
        })
    }

    /// The first failure, with what became of the call at all replicas.
    pub(super) fn into_error(self) -> Error {
        let executed = self.0.iter().any(|(_, outcome)| match outcome {
            Ok(_) => true,
            Err(error) => error.maybe_executed(),
        });
        let failed = self
            .0
            .iter()
            .find_map(|(_, outcome)| outcome.as_ref().err());
        let error = failed.cloned().unwrap_or_else(Error::closed);
        error.executed(executed).of_replicas(self.per_node())
    }

    fn per_node(self) -> PerNode<()> {
        let results = self.0.into_iter();
        PerNode {
            results: results
                .map(|(name, outcome)| (name, outcome.map(drop)))
                .collect(),
        }
    }
}

/// A write that tells what became of it at each replica; from [`Call::reported`].
#[derive(Debug, Clone)]
pub struct Reported<O>(O);

/// The outcome of a write, and what became of it at each replica.
#[derive(Debug, Clone)]
#[must_use = "some replicas may have failed"]
pub struct Written<T> {
    /// What the write gives without a report.
    pub outcome: T,
    /// Each replica that was written to, the owner first. Empty if the client has no replicas, or
    /// the owner's condition did not hold.
    pub replicas: PerNode<()>,
}

impl<O: Write> Call<O> {
    /// Gives what became of the write at each replica, beside its outcome: with
    /// [`WriteSuccess::Any`] some may have failed although the write has succeeded. A write that
    /// fails tells the same by [`Error::replicas`].
    ///
    /// ```no_run
    /// # async fn example(client: steersman_memcached::Client) -> steersman_memcached::Result<()> {
    /// let written = client.set("key", "value").reported().await?;
    /// for (node, result) in written.replicas.iter() {
    ///     if let Err(error) = result {
    ///         println!("{node} keeps the old value: {error}");
    ///     }
    /// }
    /// # Ok(()) }
    /// ```
    pub fn reported(self) -> Call<Reported<O>> {
        self.map(Reported)
    }
}

impl<O: Write> sealed::Operation for Reported<O> {
    type Output = Written<O::Output>;

    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn key(&self) -> Option<&[u8]> {
        self.0.key()
    }

    fn request<'a>(&'a self, key: &'a [u8]) -> Result<Request<'a>> {
        self.0.request(key)
    }

    fn read(reply: Reply) -> std::result::Result<Self::Output, Reply> {
        Self::read_replicated(reply, PerNode::default())
    }

    fn read_replicated(
        reply: Reply,
        replicas: PerNode<()>,
    ) -> std::result::Result<Self::Output, Reply> {
        O::read(reply).map(|outcome| Written { outcome, replicas })
    }
}
