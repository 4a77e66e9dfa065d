//! The requests that wait for a place on a connection of the node, oldest first, and their time-outs.
//!
//! As on a connection there is one timer for all of them: the node's supervisor keeps it, because a
//! node without a connection has no driver.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::queue::{Ask, Queued, Ticket};
use super::state::{State, earlier};
use super::token::Tally;
use super::{Node, Started};
use crate::error::{Error, Result};
use crate::metrics::Ended;
use crate::sync::MutexGuard;

/// A node's queue.
#[derive(Default)]
pub(super) struct Waiting {
    queue: BTreeMap<u64, Queued>,
    /// No request is late before this; none if none ever is.
    expiry: Option<Instant>,
}

impl Waiting {
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    /// Puts a request at the end, under a number above all others. Says whether the timer has to be
    /// set anew for it.
    pub(super) fn push(&mut self, id: u64, queued: Queued) -> bool {
        let deadline = queued.deadline;
        self.queue.insert(id, queued);
        let sooner = deadline.is_some_and(|at| self.expiry.is_none_or(|expiry| at < expiry));
        if sooner {
            self.expiry = deadline;
        }
        sooner
    }

    /// The oldest.
    pub(super) fn first(&self) -> Option<&Queued> {
        self.queue.first_key_value().map(|(_, queued)| queued)
    }

    /// Takes the oldest.
    pub(super) fn pop(&mut self) -> Option<Queued> {
        self.queue.pop_first().map(|(_, queued)| queued)
    }

    pub(super) fn remove(&mut self, id: u64) -> Option<Queued> {
        self.queue.remove(&id)
    }

    pub(super) fn take_all(&mut self) -> Vec<Queued> {
        self.expiry = None;
        std::mem::take(&mut self.queue).into_values().collect()
    }

    /// When to look for requests that are late.
    pub(super) fn expiry(&self) -> Option<Instant> {
        self.expiry
    }

    /// Takes those that are late by now.
    pub(super) fn take_late(&mut self, now: Instant) -> Vec<Queued> {
        if self.expiry.is_none_or(|at| at > now) {
            return Vec::new();
        }
        let mut late = Vec::new();
        self.expiry = None;
        for (&id, queued) in &self.queue {
            match queued.deadline {
                Some(deadline) if deadline <= now => late.push(id),
                later => self.expiry = earlier(self.expiry, later),
            }
        }
        late.into_iter().filter_map(|id| self.remove(id)).collect()
    }
}

impl Node {
    /// Puts a request in the queue, which there is room for.
    #[cold]
    pub(super) fn enqueue(
        self: &Arc<Self>,
        mut state: MutexGuard<'_, State>,
        mut ask: Ask<'_>,
        limit: Option<Duration>,
        dormant: bool,
    ) -> Result<Started> {
        let counts = ask.counts();
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        ask.expires(deadline);
        let (queued, admitted) = match Queued::new(ask, self.options.limits) {
            Ok(queued) => queued,
            Err(error) => return Err(self.refuse(state, counts, error)),
        };
        let (id, tell) = state.enqueue(queued, &self.options);
        drop(state);
        if tell || dormant {
            self.supervise.notify_one();
        }
        Ok(Started::Queued(Ticket::new(
            Arc::clone(self),
            id,
            admitted,
            deadline,
        )))
    }

    /// After places came free or the queue changed.
    pub(super) fn serve_queue(&self, mut state: MutexGuard<'_, State>) {
        let mut aftermath = state.serve_queue(&self.options);
        drop(state);
        for (queued, error) in std::mem::take(&mut aftermath.refused) {
            self.fail_waiting(vec![queued], &error);
        }
        aftermath.settle();
    }

    /// Takes a request out of the queue, by which it has ended in that way; says whether it was
    /// there.
    pub(super) fn leave_queue(&self, id: u64, ended: Ended) -> bool {
        let mut state = self.lock();
        let left = state.waiting.remove(id);
        if left.as_ref().is_some_and(|queued| queued.counts) {
            state.operations.count(ended);
        }
        self.serve_queue(state);
        left.is_some()
    }

    /// Tells those whose time is up while they wait for a place.
    pub(super) fn expire_waiting(&self) {
        let mut state = self.lock();
        let late = state.waiting.take_late(Instant::now());
        drop(state);
        if late.is_empty() {
            return;
        }
        let mut tally = Tally::default();
        for queued in late {
            queued.time_out(self.name(), &mut tally);
        }
        self.settle(&mut tally);
        // A closing node may wait for nothing else.
        self.serve_queue(self.lock());
    }

    /// Tells those who were taken out of the queue that there will be no place for them.
    pub(super) fn fail_waiting(&self, waiting: Vec<Queued>, error: &Error) {
        if waiting.is_empty() {
            return;
        }
        let error = error.clone().at_node(self.name());
        let mut tally = Tally::default();
        for queued in waiting {
            queued.fail(&error, &mut tally);
        }
        self.settle(&mut tally);
    }
}
