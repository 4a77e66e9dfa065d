//! What one node is asked of a read of many keys: one line after another, and then their answers.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;

use steersman_memcached_protocol::{ReadKind, Reply};
use tokio::runtime::Handle;

use super::{Asked, Outcome};
use crate::call::{server_error, unfit_reply};
use crate::deadline::{Deadline, Expired};
use crate::error::{Error, Result, Stage};
use crate::metrics::Ended;
use crate::node::{Ask, Gather, Node, Started, Ticket, Token};
use crate::observe::CallWatch;
use crate::shared::Shared;

/// The keys of one node.
pub(super) struct Part<'a> {
    pub(super) shared: &'a Shared,
    pub(super) runtime: &'a Handle,
    pub(super) name: &'static str,
    pub(super) asked: &'a Asked,
    pub(super) node: Arc<Node>,
    pub(super) keys: Vec<usize>,
}

impl Part<'_> {
    pub(super) async fn read(&self, kind: ReadKind, deadline: Deadline) -> Vec<(usize, Outcome)> {
        let mut watch = CallWatch::default();
        watch.begin_part(&self.shared.options().observer, self.name, self.keys.len());
        watch.at(&self.node);
        let mut deadline = pin!(deadline);
        let mut results = Vec::with_capacity(self.keys.len());
        let mut lines = Vec::new();
        for keys in self
            .keys
            .chunks(self.shared.options().limits.max_batch_keys)
        {
            let mut line = Line::new(&self.node, keys);
            match self.send(kind, &mut line) {
                Ok(Some(mut ticket)) => {
                    // One line of a call in the queue at a time: it is bounded, and for others too.
                    let admitted = poll_fn(|cx| ticket.poll_admitted(cx));
                    if let Err(expired) = deadline.as_mut().bound(self.runtime, admitted).await
                        && ticket.withdraw(Ended::Failed)
                    {
                        line.fail(&expired.error(Stage::Waiting), &mut results);
                        continue;
                    }
                }
                Ok(None) => {}
                Err(error) => {
                    line.fail(&error, &mut results);
                    continue;
                }
            }
            lines.push(line);
        }
        for line in lines {
            let answered = poll_fn(|cx| line.gather.poll_complete(cx));
            let late = deadline.as_mut().bound(self.runtime, answered).await.err();
            line.read(late, &mut results);
        }
        watch.end_many(results.iter().map(|(_, result)| result));
        results
    }

    /// Sends one line of keys; a ticket if it has to wait for a place.
    fn send(&self, kind: ReadKind, line: &mut Line<'_>) -> Result<Option<Ticket>> {
        let (gather, shares) = Gather::new(line.keys.len());
        line.gather = gather;
        let reads = line.keys.iter().zip(shares);
        let reads = reads.map(|(&index, share)| Ok((self.asked.key(index)?, Token::Many(share))));
        match self
            .node
            .start(Ask::Reads(kind, reads.collect::<Result<_>>()?), None)?
        {
            Started::OnConnection => Ok(None),
            Started::Queued(ticket) => Ok(Some(ticket)),
        }
    }
}

/// One request line on its way.
struct Line<'a> {
    node: &'a Node,
    keys: &'a [usize],
    gather: Arc<Gather>,
    counted: bool,
}

impl<'a> Line<'a> {
    fn new(node: &'a Node, keys: &'a [usize]) -> Self {
        let (gather, _) = Gather::new(0);
        Self {
            node,
            keys,
            gather,
            counted: false,
        }
    }

    fn read(self, late: Option<Expired>, results: &mut Vec<(usize, Outcome)>) {
        let unanswered = late
            .unwrap_or(Expired::RuntimeGone)
            .error(Stage::Exchange)
            .executed(true);
        let replies = self.gather.take();
        let outcomes = replies.into_iter().map(|reply| match reply {
            Some(Ok(Reply::Value(value))) => Ok(Some(value)),
            Some(Ok(Reply::Miss)) => Ok(None),
            Some(Ok(Reply::Error(error))) => Err(server_error(error)),
            Some(Ok(other)) => Err(unfit_reply(&other)),
            Some(Err(error)) => Err(error),
            None => Err(unanswered.clone()),
        });
        self.end(outcomes, results);
    }

    fn fail(self, error: &Error, results: &mut Vec<(usize, Outcome)>) {
        self.end(std::iter::repeat_with(|| Err(error.clone())), results);
    }

    fn end(mut self, outcomes: impl Iterator<Item = Outcome>, results: &mut Vec<(usize, Outcome)>) {
        let mut failed = false;
        for (&index, outcome) in self.keys.iter().zip(outcomes) {
            failed |= outcome.is_err();
            self.node.watch().looked_up(&outcome);
            let outcome = outcome.map_err(|error| error.at_node(self.node.name()));
            results.push((index, outcome));
        }
        self.counted = true;
        self.node.count(if failed {
            Ended::Failed
        } else {
            Ended::Executed
        });
    }
}

impl Drop for Line<'_> {
    fn drop(&mut self) {
        if !self.counted {
            self.node.count(Ended::Cancelled);
        }
    }
}
