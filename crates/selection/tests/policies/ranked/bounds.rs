//! What no sequence of events can bring about.

use proptest::prelude::*;
use steersman_selection::{Attempt, Call, Outcome, Plan, Policy, RoundRobin, Timestamp, Topology};

use super::each;
use super::plans::{Apply, locality, steps};
use crate::cluster::{millis, node};

const FAILURES: [Outcome; 4] = [
    Outcome::Failed,
    Outcome::TimedOut,
    Outcome::Disconnected,
    Outcome::Refused,
];

proptest! {
    /// Of two clients that have seen the same and draw the same lots, one waits for a node, the other
    /// one has seen it fail: the other one sends no request there that the first one would not send.
    #[test]
    fn no_failure_attracts_a_request(
        steps in steps(6),
        failing in 0_usize..6,
        latency in 0_u64..50,
        outcome in prop::sample::select(FAILURES.to_vec()),
    ) {
        for ((name, waits), (_, knows)) in each(5, RoundRobin::new).into_iter().zip(each(5, RoundRobin::new)) {
            let mut now = Timestamp::from_nanos(0);
            let mut topology = Topology::new();
            for policy in [&waits, &knows] {
                now = Timestamp::from_nanos(0);
                topology = Topology::new();
                for index in 0..6 {
                    topology.insert(node(index), locality(index));
                }
                policy.topology_changed(&topology, now);
                for step in &steps {
                    step.apply(policy, &mut topology, &mut now);
                }
                topology.insert(node(failing), locality(failing));
                policy.topology_changed(&topology, now);
                policy.begin(node(failing), now);
            }
            now = now + millis(latency);
            knows.record(&Attempt::new(node(failing), now, millis(latency), outcome));
            for _ in 0..40 {
                let call = Call::new(&topology);
                let (one, two) = (waits.plan(call).next(now), knows.plan(call).next(now));
                prop_assert!(two != Some(node(failing)) || one == two, "{}: {:?}", name, one);
            }
        }
    }
}
