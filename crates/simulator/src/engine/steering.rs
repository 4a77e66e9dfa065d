//! A client's policy, as the engine asks it.

use std::time::Duration;

use steersman_selection::{Attempt, Call, NodeIndex, Plan, Policy, Timestamp, Topology};

/// Any [`Policy`] behind a pointer, without an allocation for its plans: the engine is the same for all.
pub(crate) trait Steering {
    /// The node that a request goes to, which has been sent to `asked` before.
    fn choose(&self, call: Call<'_>, asked: &[NodeIndex], now: Timestamp) -> Option<NodeIndex>;
    /// The `nth` node that the policy wants to hear of after a call.
    fn wants_probe(&self, call: &Call<'_>, nth: usize, now: Timestamp) -> Option<NodeIndex>;
    fn sent(&self, node: NodeIndex, now: Timestamp);
    fn learn(&self, attempt: &Attempt);
    fn settle(&self, topology: &Topology, now: Timestamp);
    fn tick(&self, now: Timestamp);
    fn tick_every(&self) -> Option<Duration>;
}

impl<P: Policy> Steering for P {
    fn choose(&self, call: Call<'_>, asked: &[NodeIndex], now: Timestamp) -> Option<NodeIndex> {
        if asked.is_empty() {
            return self.plan(call).next(now);
        }
        let mut plan = self.plan(call.continued());
        loop {
            let node = plan.next(now)?;
            if !asked.contains(&node) {
                return Some(node);
            }
        }
    }

    fn wants_probe(&self, call: &Call<'_>, nth: usize, now: Timestamp) -> Option<NodeIndex> {
        self.probe(call, nth, now)
    }

    fn sent(&self, node: NodeIndex, now: Timestamp) {
        self.begin(node, now);
    }

    fn learn(&self, attempt: &Attempt) {
        self.record(attempt);
    }

    fn settle(&self, topology: &Topology, now: Timestamp) {
        self.topology_changed(topology, now);
    }

    fn tick(&self, now: Timestamp) {
        Policy::tick(self, now);
    }

    fn tick_every(&self) -> Option<Duration> {
        Policy::tick_every(self)
    }
}
