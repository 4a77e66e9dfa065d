//! Every order in which plans and answers can meet at a ranked node, by loom.

use std::time::Duration;

use loom::sync::Arc;
use loom::thread;

use super::phase::Phase;
use super::*;
use crate::policy::{Outcome, Plan, RoundRobin, Standing};

const START: Timestamp = Timestamp::from_nanos(1_000_000_000);

type Chain = LeastInFlight<RoundRobin>;

/// A policy with one node, in this phase.
fn chain(phase: Phase) -> Arc<Chain> {
    let chain = LeastInFlight::new(RoundRobin::new());
    chain.topology_changed(&topology(), START);
    let entry = chain.board.entries.get(NodeIndex::default()).unwrap();
    entry.phase.store(phase);
    Arc::new(chain)
}

fn topology() -> Topology {
    let mut topology = Topology::new();
    topology.insert(NodeIndex::default(), Locality::unknown());
    topology
}

/// Does that in two threads at once.
fn twice<T: 'static>(chain: &Arc<Chain>, what: impl Fn(&Chain) -> T + Copy + 'static) -> [T; 2] {
    let other = {
        let chain = Arc::clone(chain);
        thread::spawn(move || what(&chain))
    };
    [what(chain), other.join().unwrap()]
}

/// Sends a request, and fails.
fn fail(chain: &Chain) {
    let (node, latency) = (NodeIndex::default(), Duration::from_millis(1));
    chain.begin(node, START);
    chain.record(&Attempt::new(
        node,
        START + latency,
        latency,
        Outcome::Failed,
    ));
}

#[test]
fn what_has_ended_is_in_flight_no_more_and_each_failure_counts() {
    loom::model(|| {
        let chain = chain(Phase::Normal);
        twice(&chain, fail);
        let entry = chain.board.entries.get(NodeIndex::default()).unwrap();
        assert_eq!(entry.in_flight(), 0);
        assert!(matches!(
            entry.phase.load(),
            Phase::Failing { failures: 2, .. }
        ));
    });
}

#[test]
fn of_two_requests_one_is_the_probe() {
    loom::model(|| {
        let held = Phase::Held {
            holds: 0,
            due: START,
        };
        let chain = chain(held);
        let is_probe = |chain: &Chain| {
            let topology = topology();
            let mut plan = chain.plan(Call::new(&topology));
            let first = plan.advance(START, Turn::Next).unwrap();
            first.standing == Standing::Probe
        };
        let [mine, others] = twice(&chain, is_probe);
        assert!(mine != others);
    });
}
