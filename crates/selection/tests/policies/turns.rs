//! Who takes the turns of nodes that are held back.

use std::sync::Arc;

use proptest::prelude::*;
use steersman_selection::{
    Call, DatacenterAware, DynPolicy, Locality, Mode, Plan, Policy, RoundRobin, Timestamp,
    TokenAware, Topology,
};

use crate::cluster::{in_one_place, node};
use crate::lesson::{latency_aware, teach};

const NOW: Timestamp = Timestamp::from_nanos(1_000_000_000);

/// How many of so many requests begin with each node, after these nodes have been slow.
fn shares(
    policy: &impl Policy,
    topology: &Topology,
    slow: &[usize],
    requests: usize,
) -> Vec<usize> {
    teach(policy, topology, slow);
    let mut counts = vec![0; topology.nodes().len()];
    for _ in 0..requests {
        let first = policy.plan(Call::new(topology)).next(NOW);
        counts[first.unwrap().get()] += 1;
    }
    counts
}

/// All chains that take nodes in turn, without replicas.
fn chains() -> Vec<(&'static str, Arc<dyn DynPolicy>)> {
    let local = || DatacenterAware::new("a");
    let guarded = Mode::Guarded;
    let boxed: Arc<dyn DynPolicy> = Arc::new(local());
    vec![
        (
            "latency, round robin",
            Arc::new(latency_aware(guarded, RoundRobin::new())),
        ),
        (
            "latency, datacenter",
            Arc::new(latency_aware(guarded, local())),
        ),
        (
            "latency, token, datacenter",
            Arc::new(latency_aware(guarded, TokenAware::new(local()))),
        ),
        (
            "token, latency, datacenter",
            Arc::new(TokenAware::new(latency_aware(guarded, local()))),
        ),
        (
            "latency, trait object",
            Arc::new(latency_aware(guarded, boxed)),
        ),
        (
            "latency, latency, datacenter",
            Arc::new(latency_aware(guarded, latency_aware(guarded, local()))),
        ),
    ]
}

#[test]
fn the_turns_of_a_penalised_node_are_spread_over_the_others() {
    for (name, chain) in chains() {
        let counts = shares(&chain, &in_one_place(3), &[1], 300);
        assert_eq!(counts, [150, 0, 150], "{name}");
    }
}

/// As in the Java driver, where they fall to the node behind it.
#[test]
fn in_reference_mode_they_are_not() {
    let policy = latency_aware(Mode::Reference, RoundRobin::new());
    let counts = shares(&policy, &in_one_place(3), &[1], 300);
    assert_eq!(counts, [100, 0, 200]);
}

/// Racks of one and two nodes, and a rack that is slow as a whole.
#[test]
fn a_rack_that_is_held_back_leaves_the_turns_of_the_others_alone() {
    let mut topology = Topology::new();
    for (index, rack) in ["x", "y", "y", "z", "z", "z"].into_iter().enumerate() {
        topology.insert(node(index), Locality::datacenter("a").rack(rack));
    }
    let cases: [(&str, &[usize], [usize; 6]); 4] = [
        ("x", &[0], [0, 60, 60, 60, 60, 60]),
        ("x", &[0, 2], [0, 75, 0, 75, 75, 75]),
        ("y", &[1, 2], [75, 0, 0, 75, 75, 75]),
        ("z", &[3], [0, 0, 0, 0, 150, 150]),
    ];
    for (rack, slow, expected) in cases {
        let policy = latency_aware(Mode::Guarded, DatacenterAware::new("a").rack(rack));
        let counts = shares(&policy, &topology, slow, 300);
        assert_eq!(counts, expected, "{rack} without {slow:?}");
    }
}

proptest! {
    /// Wherever they are in the list, and however many.
    #[test]
    fn turns_are_shared_evenly(
        (nodes, slow) in (2_usize..12).prop_flat_map(|nodes| {
            let all: Vec<_> = (0..nodes).collect();
            (Just(nodes), prop::sample::subsequence(all, 0..=nodes / 2))
        }),
    ) {
        for (name, chain) in chains() {
            let counts = shares(&chain, &in_one_place(nodes), &slow, 40 * nodes);
            let fair = 40 * nodes / (nodes - slow.len());
            for (index, &count) in counts.iter().enumerate() {
                if slow.contains(&index) {
                    prop_assert_eq!(count, 0, "{}: {:?} {:?}", name, slow, &counts);
                } else {
                    prop_assert!(count.abs_diff(fair) <= 1, "{}: {:?} {:?}", name, slow, &counts);
                }
            }
        }
    }
}
