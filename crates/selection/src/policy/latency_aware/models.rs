//! Every order in which plans, answers and changes of the topology can meet at a node, by loom.

use std::time::Duration;

use loom::sync::Arc;
use loom::thread;

use super::phase::{PROBES, Phase, Series};
use super::*;
use crate::policy::{Outcome, Plan, RoundRobin, Standing};

type Chain = Arc<LatencyAware<RoundRobin>>;

const START: Timestamp = Timestamp::from_nanos(1_000_000_000);

fn nodes() -> [NodeIndex; 2] {
    [0, 1].map(|index| NodeIndex::try_from(index).unwrap())
}

fn topology(nodes: &[NodeIndex]) -> Topology {
    let mut topology = Topology::new();
    for &node in nodes {
        topology.insert(node, Locality::unknown());
    }
    topology
}

/// A policy whose first node is in this phase.
fn chain(phase: Phase) -> Chain {
    let parameters = crate::LatencyParameters::default().min_measured(0);
    let builder = LatencyAware::builder().parameters(parameters);
    let chain = builder.build(RoundRobin::new()).unwrap();
    chain.topology_changed(&topology(&nodes()), START);
    let entry = chain.board.entries.get(nodes()[0]).unwrap();
    entry.verdict.phase.store(phase);
    Arc::new(chain)
}

fn success(ended: Timestamp) -> Attempt {
    Attempt::new(
        nodes()[0],
        ended,
        Duration::from_millis(1),
        Outcome::Success,
    )
}

/// Whether a request to the first node is its probe.
fn is_probe(chain: &LatencyAware<RoundRobin>) -> bool {
    let topology = topology(&nodes()[..1]);
    let mut plan = chain.plan(Call::new(&topology));
    let first = plan.advance(START, Turn::Next).unwrap();
    first.standing == Standing::Probe
}

#[test]
fn of_two_requests_one_is_the_probe() {
    loom::model(|| {
        let chain = chain(Phase::Penalised {
            series: Series::LATER,
            due: START,
        });
        let other = {
            let chain = Arc::clone(&chain);
            thread::spawn(move || is_probe(&chain))
        };
        let mine = is_probe(&chain);
        assert!(mine != other.join().unwrap());
        assert_eq!(chain.counters().probes, 1);
    });
}

#[test]
fn of_two_answers_that_end_a_series_one_starts_the_ramp() {
    loom::model(|| {
        let series = Series {
            good: PROBES - 1,
            ..Series::LATER
        };
        let chain = chain(Phase::Probing {
            series,
            since: START,
        });
        let later = START + Duration::from_secs(1);
        let other = {
            let chain = Arc::clone(&chain);
            thread::spawn(move || chain.record(&success(later)))
        };
        chain.record(&success(later));
        other.join().unwrap();
        assert_eq!(chain.counters().recovering, 1);
        let entry = chain.board.entries.get(nodes()[0]).unwrap();
        assert_eq!(entry.verdict.phase.load(), Phase::Ramping { since: later });
    });
}

#[test]
fn a_node_that_leaves_while_it_answers_leaves_nothing_behind() {
    loom::model(|| {
        let chain = chain(Phase::Normal);
        let later = START + Duration::from_secs(1);
        let leaving = {
            let chain = Arc::clone(&chain);
            thread::spawn(move || chain.topology_changed(&topology(&nodes()[1..]), later))
        };
        chain.record(&success(later));
        leaving.join().unwrap();
        assert_eq!(chain.score(nodes()[0]), None);
    });
}
