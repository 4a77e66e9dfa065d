//! Policies that learn quickly, and the lesson that some nodes are slow: for tests that begin with that.

use steersman_selection::{
    Attempt, LatencyAware, LatencyParameters, Mode, Outcome, Policy, Timestamp, Topology,
};

use crate::cluster::millis;

/// One that penalises a node without further confirmation, however few samples there are.
pub(crate) fn latency_aware<C: Policy>(mode: Mode, child: C) -> LatencyAware<C> {
    let parameters = LatencyParameters::default()
        .min_measured(0)
        .confirmations(1);
    let builder = LatencyAware::builder().mode(mode).parameters(parameters);
    builder.build(child).unwrap()
}

/// Lets the policy learn that these nodes take 50 ms, all others 2.
pub(crate) fn teach(policy: &impl Policy, topology: &Topology, slow: &[usize]) {
    policy.topology_changed(topology, Timestamp::from_nanos(0));
    for sample in 1..=5 {
        let at = Timestamp::from_nanos(sample * 190_000_000);
        for &node in topology.nodes() {
            let latency = millis(if slow.contains(&node.get()) { 50 } else { 2 });
            policy.record(&Attempt::new(node, at, latency, Outcome::Success));
        }
        policy.tick(at);
    }
}
