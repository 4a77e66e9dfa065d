//! A policy around another one that writes down which node each attempt went to.

use std::sync::Arc;
use std::time::Duration;

use steersman_selection::{
    Attempt, Call, Candidate, NodeIndex, NodeReport, Outcome, Policy, Timestamp, Topology, Turn,
};

use crate::demo::load::Meters;

/// Plans as the policy in it does.
pub(super) struct Tally<P> {
    policy: P,
    /// By the node's index; the nodes stay the same.
    asked: Arc<Meters>,
}

impl<P> Tally<P> {
    pub(super) fn new(policy: P, asked: &Arc<Meters>) -> Self {
        Self {
            policy,
            asked: Arc::clone(asked),
        }
    }
}

impl<P: Policy> Policy for Tally<P> {
    type Plan<'a>
        = P::Plan<'a>
    where
        Self: 'a;

    fn plan<'a>(&'a self, call: Call<'a>) -> P::Plan<'a> {
        self.policy.plan(call)
    }

    fn appraise(
        &self,
        call: &Call<'_>,
        node: NodeIndex,
        now: Timestamp,
        turn: Turn,
    ) -> Option<Candidate> {
        self.policy.appraise(call, node, now, turn)
    }

    fn is_off_rack(&self, call: &Call<'_>, node: NodeIndex) -> bool {
        self.policy.is_off_rack(call, node)
    }

    fn report(&self, node: NodeIndex, now: Timestamp) -> Option<NodeReport> {
        self.policy.report(node, now)
    }

    fn record(&self, attempt: &Attempt) {
        let nanos = attempt.latency_nanos().unsigned_abs();
        self.asked.note(attempt.node().get(), |seen| {
            if attempt.outcome() == Outcome::Success {
                seen.latency.record(Duration::from_nanos(nanos));
            } else {
                seen.failures += 1;
            }
        });
        self.policy.record(attempt);
    }

    fn topology_changed(&self, topology: &Topology, now: Timestamp) {
        self.policy.topology_changed(topology, now);
    }

    fn tick(&self, now: Timestamp) {
        self.policy.tick(now);
    }

    fn tick_every(&self) -> Option<Duration> {
        self.policy.tick_every()
    }
}
