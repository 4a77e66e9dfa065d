//! History: attempts of which the driver tells no policy, as it tells a history listener.
//!
//! The driver reports an attempt to the policy when it was answered or its connection broke. A
//! listener hears of its beginning too, and of the end of its request: what is still open then was
//! given up, in favour of another node or because the time was up. That is told to the policy at once;
//! all other ends are left to the driver's report. An attempt that was overdue before, as the
//! [ledger](crate::ledger) knows, has been told already.

mod addresses;
mod requests;

use std::cell::Cell;
use std::net::SocketAddr;
use std::time::Duration;

use scylla::errors::{RequestAttemptError, RequestError};
use scylla::observability::history::{AttemptId, HistoryListener, RequestId, SpeculativeId};
use scylla::policies::retry::RetryDecision;
use steersman_selection::{Attempt, Outcome, Policy};
use uuid::Uuid;

use self::addresses::Addresses;
use self::requests::{Begun, Requests};
use crate::balancer::LoadBalancer;
use crate::ledger::Entry;
use crate::view::View;

/// What the listener remembers. Made when the first request is listened to.
#[derive(Debug)]
pub(crate) struct History {
    requests: Requests,
    addresses: Addresses,
}

thread_local! {
    /// The address that an answer has just come from. The driver tells the listener first and then, by
    /// the same thread and without a pause, the policy, which knows the node.
    static ANSWERED: Cell<Option<SocketAddr>> = const { Cell::new(None) };
}

impl History {
    pub(crate) fn new() -> Self {
        Self {
            requests: Requests::new(),
            addresses: Addresses::default(),
        }
    }

    /// A node has answered; if that was told to the listener too, its address is known by that.
    #[inline]
    pub(crate) fn answered_by(&self, host_id: Uuid, view: &View) {
        if let Some(address) = ANSWERED.take() {
            let is_member = |host_id| view.roster.index(host_id).is_some();
            self.addresses.learn(address, host_id, is_member);
        }
    }

    fn host_at(&self, address: SocketAddr, view: &View) -> Option<Uuid> {
        self.addresses.find(address).or_else(|| {
            // Unless addresses are translated, it is the node's own.
            let mut nodes = view.nodes.iter();
            nodes
                .find(|node| node.address == address)
                .map(|node| node.host_id)
        })
    }
}

impl<P: Policy> LoadBalancer<P> {
    /// The request is over: its attempts that are still open were given up.
    fn give_up(&self, request: RequestId, is_time_out: bool) {
        let view = self.view().load();
        let now = self.now();
        for (place, begun) in self.history().requests.end(request.0) {
            let known = begun.host_id.and_then(|host_id| {
                let index = view.roster.index(host_id)?;
                Some((index, view.roster.member(index)?))
            });
            let Some((node, member)) = known else {
                continue;
            };
            let entry = member.ledger.given_up(begun.started, now);
            if entry == Entry::Overdue {
                continue;
            }
            // Only the first attempt had all of the time.
            let outcome = if is_time_out && place == 0 {
                Outcome::TimedOut
            } else {
                Outcome::Cancelled
            };
            let waited = now.nanos_since(begun.started).max(0).unsigned_abs();
            let waited = Duration::from_nanos(waited);
            let attempt = Attempt::new(node, now, waited, outcome);
            let attempt = if entry == Entry::Due {
                attempt
            } else {
                attempt.uncounted()
            };
            self.learn(&view, &attempt);
        }
    }
}

impl<P: Policy> HistoryListener for LoadBalancer<P> {
    fn log_request_start(&self) -> RequestId {
        RequestId(self.history().requests.begin())
    }

    fn log_request_success(&self, request: RequestId) {
        self.give_up(request, false);
    }

    fn log_request_error(&self, request: RequestId, error: &RequestError) {
        self.give_up(request, matches!(error, RequestError::RequestTimeout(_)));
    }

    fn log_new_speculative_fiber(&self, _: RequestId) -> SpeculativeId {
        if let Some(hedging) = self.hedging() {
            hedging.charge();
        }
        // Its attempts tell of themselves.
        SpeculativeId(0)
    }

    fn log_attempt_start(
        &self,
        request: RequestId,
        _: Option<SpeculativeId>,
        address: SocketAddr,
    ) -> AttemptId {
        let (now, view, history) = (self.now(), self.view().load(), self.history());
        let host_id = history.host_at(address, &view);
        let begun = Begun {
            address,
            host_id,
            started: now,
        };
        let id = history.requests.attempt(request.0, begun);
        // The first one was entered when it was picked.
        if !Requests::is_first(id)
            && let Some(index) = host_id.and_then(|host_id| view.roster.index(host_id))
            && let Some(member) = view.roster.member(index)
        {
            member.ledger.sent(now);
            self.policy().begin(index, now);
        }
        AttemptId(id)
    }

    fn log_attempt_success(&self, attempt: AttemptId) {
        let begun = self.history().requests.end_attempt(attempt.0);
        ANSWERED.set(begun.map(|begun| begun.address));
    }

    fn log_attempt_error(&self, attempt: AttemptId, _: &RequestAttemptError, _: &RetryDecision) {
        self.history().requests.end_attempt(attempt.0);
    }
}

#[cfg(test)]
mod tests;
