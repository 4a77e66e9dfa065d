//! The places among the penalised: how many nodes have one at once, which, and what becomes of
//! those that lose one.

use std::time::Duration;

use steersman_selection::{
    Condition, Counters, LatencyAware, Mode, Policy, RoundRobin, TokenAware,
};

use crate::cluster::{Cluster, in_one_place, latency_aware, micros, millis, node};

const SECOND: Duration = Duration::from_secs(1);

fn cluster(nodes: usize) -> Cluster<LatencyAware<RoundRobin>> {
    let policy = latency_aware(Mode::Guarded, RoundRobin::new());
    Cluster::new(policy, in_one_place(nodes))
}

fn condition<P: Policy>(cluster: &Cluster<LatencyAware<P>>, index: usize) -> Condition {
    let report = cluster.policy.report(node(index), cluster.now);
    report.unwrap().condition
}

/// How many nodes are penalised, and the same with those whose ramp is not over.
fn places<P: Policy>(cluster: &Cluster<LatencyAware<P>>) -> (usize, usize) {
    let nodes = cluster.policy.snapshot(cluster.now).nodes;
    let penalised = nodes.iter().filter(|node| node.condition.is_penalised());
    let recovering = nodes
        .iter()
        .filter(|node| node.condition == Condition::Recovering);
    let penalised = penalised.count();
    (penalised, penalised + recovering.count())
}

/// How many events there were.
fn told(counters: Counters) -> u64 {
    counters.penalised + counters.recovering + counters.back
}

/// Serves for so long, and looks every ten requests, ten times between two ticks.
fn watch<P: Policy>(
    cluster: &mut Cluster<LatencyAware<P>>,
    span: Duration,
    mut latency: impl FnMut(usize) -> Duration,
) -> Vec<u32> {
    let mut counts = vec![0; cluster.topology.nodes().len()];
    for _ in 0..span.as_millis() / 10 {
        for (count, more) in counts
            .iter_mut()
            .zip(cluster.serve(millis(10), &mut latency))
        {
            *count += more;
        }
        let (penalised, places) = places(cluster);
        assert!(penalised <= 1 && places <= 1, "{penalised}, {places}");
    }
    counts
}

/// One node of three may be penalised, the slowest; the other slow one keeps its share, whichever
/// of them was slow first.
#[test]
fn of_two_slow_nodes_the_slower_is_penalised_and_the_other_keeps_its_share() {
    fn check<P: Policy>(child: P, first: usize) {
        let mut cluster = Cluster::new(latency_aware(Mode::Guarded, child), in_one_place(3));
        let slow = |index| micros([800, 3_200, 100_000][index]);
        watch(&mut cluster, 2 * SECOND, |_| micros(800));
        watch(&mut cluster, 3 * SECOND, |index| match index {
            index if index == first => slow(index),
            _ => micros(800),
        });
        assert!(condition(&cluster, first).is_penalised());
        // The slower one, if it comes second, is confirmed within half a second.
        watch(&mut cluster, SECOND, slow);
        let before = told(cluster.policy.counters());
        let counts = watch(&mut cluster, 20 * SECOND, slow);
        // The other two share the turns of the one that is penalised.
        assert!(counts[1].abs_diff(10_000) < 10, "{first}: {counts:?}");
        assert!(counts[2] < 10, "{first}: {counts:?}");
        assert_eq!(told(cluster.policy.counters()), before, "{first}");
        assert!(before <= 3, "{first}: {before}");
    }
    for first in [1, 2] {
        check(RoundRobin::new(), first);
        check(TokenAware::new(RoundRobin::new()), first);
    }
}

#[test]
fn who_loses_its_place_has_its_full_share_at_once() {
    let mut cluster = cluster(3);
    cluster.serve(2 * SECOND, |index| millis([2, 8, 2][index]));
    assert!(condition(&cluster, 1).is_penalised());
    let slow = |index| millis([2, 8, 50][index]);
    while condition(&cluster, 1).is_penalised() {
        cluster.serve(millis(10), slow);
    }
    let counts = cluster.serve(SECOND, slow);
    assert!(counts[1] > 330 && counts[2] <= 1, "{counts:?}");
    assert_eq!(condition(&cluster, 1), Condition::Suspected);
    let counters = cluster.policy.counters();
    assert_eq!((counters.penalised, counters.recovering), (2, 0));
    assert_eq!(counters.back, 1);
}

/// While a node's share rises others bear its load, and it may fail.
#[test]
fn nobody_gets_the_place_of_a_node_on_its_ramp() {
    let mut cluster = cluster(3);
    cluster.serve(2 * SECOND, |index| millis([2, 2, 100][index]));
    // It answers probes fast and requests slowly, again and again.
    for round in 1..=20 {
        while condition(&cluster, 2) != Condition::Recovering {
            let counts = watch(&mut cluster, millis(10), |index| millis([2, 8, 2][index]));
            assert!(counts[1] >= 2, "{round}: {counts:?}");
        }
        while condition(&cluster, 2) == Condition::Recovering {
            watch(&mut cluster, millis(10), |index| millis([2, 8, 100][index]));
        }
        let counters = cluster.policy.counters();
        assert_eq!((counters.penalised, counters.back), (round + 1, 0));
    }
}

/// The slow one that had to wait is next when the ramp is over.
#[test]
fn a_place_is_free_when_the_ramp_is_over() {
    let mut cluster = cluster(3);
    cluster.serve(2 * SECOND, |index| millis([2, 2, 100][index]));
    watch(&mut cluster, 20 * SECOND, |index| millis([2, 8, 2][index]));
    assert_eq!(condition(&cluster, 2), Condition::Within);
    assert!(condition(&cluster, 1).is_penalised());
    let counters = cluster.policy.counters();
    assert_eq!((counters.penalised, counters.back), (2, 1));
}

/// Of four nodes two may be penalised, of three one.
#[test]
fn who_has_a_place_too_many_when_nodes_leave_has_its_full_share_at_once() {
    let mut cluster = cluster(4);
    let slow = |index| millis([2, 8, 50, 2][index]);
    cluster.serve(3 * SECOND, slow);
    assert_eq!(places(&cluster), (2, 2));
    cluster.change(|topology| {
        topology.remove(node(3));
    });
    cluster.serve(millis(100), slow);
    assert_eq!(places(&cluster), (1, 1));
    let before = told(cluster.policy.counters());
    let counts = cluster.serve(20 * SECOND, slow);
    assert!(counts[1] > 6_600 && counts[2] < 10, "{counts:?}");
    assert_eq!(told(cluster.policy.counters()), before);
}
