//! The default mode where the reference has no counterpart: probes that get lost, failures, outages.

use std::time::Duration;

use proptest::prelude::*;
use steersman_selection::{
    Attempt, Call, Condition, LatencyAware, LatencyParameters, Locality, Mode, Outcome, Plan,
    Policy, RoundRobin,
};

use crate::cluster::{Cluster, in_one_place, latency_aware, micros, millis, node};

const SECOND: Duration = Duration::from_secs(1);

fn cluster(nodes: usize) -> Cluster<LatencyAware<RoundRobin>> {
    let policy = latency_aware(Mode::Guarded, RoundRobin::new());
    Cluster::new(policy, in_one_place(nodes))
}

fn one_slow(index: usize) -> Duration {
    millis(if index == 0 { 50 } else { 2 })
}

fn condition(cluster: &Cluster<LatencyAware<RoundRobin>>, index: usize) -> Condition {
    let report = cluster.policy.report(node(index), cluster.now);
    report.unwrap().condition
}

/// Plans six requests and says how many go to node 0; nobody answers.
fn tries(cluster: &Cluster<LatencyAware<RoundRobin>>) -> usize {
    let first = |_| {
        cluster
            .policy
            .plan(Call::new(&cluster.topology))
            .next(cluster.now)
    };
    (0..6)
        .map(first)
        .filter(|&first| first == Some(node(0)))
        .count()
}

/// The other two answer.
fn without_node_0(cluster: &mut Cluster<LatencyAware<RoundRobin>>, span: Duration) {
    for _ in 0..span.as_millis() / 10 {
        cluster.pass(millis(10));
        cluster.answer(1, millis(2));
        cluster.answer(2, millis(2));
    }
}

#[test]
fn a_lost_probe_is_followed_by_another_after_a_retry_period() {
    let mut cluster = cluster(3);
    cluster.serve(3 * SECOND, one_slow);
    let before = cluster.policy.counters().probes;
    assert_eq!(tries(&cluster), 0);
    cluster.pass(11 * SECOND);
    assert_eq!(tries(&cluster), 1);
    cluster.pass(9 * SECOND);
    assert_eq!(tries(&cluster), 0);
    cluster.pass(SECOND);
    assert_eq!(tries(&cluster), 1);
    assert_eq!(cluster.policy.counters().probes, before + 2);
}

/// By three requests a second after it was penalised, and then by one each retry period of 10 s.
#[test]
fn a_node_that_stays_slow_is_probed_early_once() {
    let mut cluster = cluster(3);
    let mut penalised = None;
    let mut probes = Vec::new();
    for tenth in 0..350 {
        let counts = cluster.serve(millis(100), one_slow);
        match penalised {
            None if condition(&cluster, 0).is_penalised() => penalised = Some(tenth),
            Some(penalised) => probes.extend((0..counts[0]).map(|_| tenth - penalised)),
            None => {}
        }
    }
    let (early, later) = probes.split_at(3);
    assert!(
        early.iter().all(|probe| (10..=15).contains(probe)),
        "{probes:?}"
    );
    assert_eq!(later.len(), 3, "{probes:?}");
    for pair in probes[2..].windows(2) {
        assert!((100..=102).contains(&(pair[1] - pair[0])), "{probes:?}");
    }
}

#[test]
fn late_answers_of_a_good_node_do_not_keep_it_out() {
    let mut cluster = cluster(3);
    cluster.serve(3 * SECOND, one_slow);
    without_node_0(&mut cluster, 11 * SECOND);
    // The limit is 4 ms.
    let answers = [6, 2, 6, 2, 2];
    for (number, latency) in answers.into_iter().enumerate() {
        assert!(condition(&cluster, 0).is_penalised(), "answer {number}");
        assert_eq!(tries(&cluster), 1, "one in flight at a time");
        cluster.pass(millis(latency));
        cluster.answer(0, millis(latency));
        if latency > 4 {
            assert_eq!(tries(&cluster), 0, "not at once");
            cluster.pass(millis(100));
        }
    }
    assert_eq!(condition(&cluster, 0), Condition::Recovering);
}

#[test]
fn three_late_answers_or_a_slow_one_end_a_series_of_probes() {
    for (answers, limit) in [(&[2, 6, 2, 6, 6][..], 4), (&[2, 17], 4), (&[17], 4)] {
        let mut cluster = cluster(3);
        cluster.serve(3 * SECOND, one_slow);
        without_node_0(&mut cluster, 11 * SECOND);
        let report = cluster.policy.report(node(0), cluster.now).unwrap();
        assert_eq!(report.limit_nanos, Some(limit * 1_000_000));
        for &latency in answers {
            assert_eq!(tries(&cluster), 1, "{answers:?}");
            cluster.pass(millis(latency));
            cluster.answer(0, millis(latency));
            cluster.pass(millis(100));
        }
        assert_eq!(condition(&cluster, 0), Condition::Penalised);
        without_node_0(&mut cluster, 9 * SECOND);
        assert_eq!(tries(&cluster), 0, "{answers:?}");
        without_node_0(&mut cluster, SECOND);
        assert_eq!(tries(&cluster), 1, "{answers:?}");
    }
}

#[test]
fn a_probe_whose_outcome_says_nothing_costs_no_retry_period() {
    for outcome in [Outcome::Busy, Outcome::Rejected, Outcome::Cancelled] {
        let mut cluster = cluster(3);
        cluster.serve(3 * SECOND, one_slow);
        without_node_0(&mut cluster, 11 * SECOND);
        for latency in [millis(2), millis(2), micros(10), millis(2)] {
            assert_eq!(tries(&cluster), 1, "{outcome:?}");
            cluster.pass(latency);
            let answered = latency > millis(1);
            let outcome = if answered { Outcome::Success } else { outcome };
            let attempt = Attempt::new(node(0), cluster.now, latency, outcome);
            cluster.policy.record(&attempt);
            if !answered {
                assert_eq!(tries(&cluster), 0, "not at once: {outcome:?}");
                without_node_0(&mut cluster, SECOND);
            }
        }
        assert_eq!(condition(&cluster, 0), Condition::Recovering, "{outcome:?}");
    }
}

#[test]
fn guarded_mode_needs_a_retry_period() {
    let never = LatencyParameters::default().retry_period(Duration::ZERO);
    let builder = |mode| {
        let builder = LatencyAware::builder().parameters(never.clone()).mode(mode);
        builder.build(RoundRobin::new())
    };
    assert!(builder(Mode::Reference).is_ok());
    let error = builder(Mode::Guarded).unwrap_err();
    assert!(error.to_string().starts_with("retry_period"), "{error}");
}

#[test]
fn a_ramp_that_was_cut_short_is_followed_by_an_early_probe() {
    let mut cluster = cluster(3);
    cluster.serve(3 * SECOND, one_slow);
    cluster.pass(11 * SECOND);
    while condition(&cluster, 0) != Condition::Recovering {
        cluster.serve(millis(1), |_| millis(2));
    }
    cluster.pass(millis(500));
    let failure = Attempt::new(node(0), cluster.now, millis(80), Outcome::Failed);
    cluster.policy.record(&failure);
    assert_eq!(condition(&cluster, 0), Condition::Penalised);
    let waiting = cluster.serve(millis(990), |_| millis(2));
    assert_eq!(waiting[0], 0);
    cluster.serve(SECOND, |_| millis(2));
    let counts = cluster.serve(SECOND, |_| millis(2));
    assert!(counts[0] > 300, "{counts:?}");
}

#[test]
fn answers_to_requests_from_before_the_probe_do_not_count_as_its_answer() {
    let mut cluster = cluster(3);
    cluster.serve(3 * SECOND, one_slow);
    cluster.pass(11 * SECOND);
    assert_eq!(tries(&cluster), 1);
    let sent = cluster.now;
    let answer = |cluster: &Cluster<_>, latency| cluster.answer(0, latency);
    // It began a millisecond before the probe.
    cluster.pass(millis(1));
    answer(&cluster, millis(2));
    assert_eq!(condition(&cluster, 0), Condition::Penalised);
    cluster.pass(millis(1));
    answer(&cluster, micros(1_900));
    assert_eq!(condition(&cluster, 0), Condition::Probed(1));
    // The score began anew with it.
    let score = cluster.policy.score(node(0)).unwrap();
    assert_eq!(score.average_nanos, 1_900_000);
    assert!(score.samples > 50 && score.updated.nanos_since(sent) == 2_000_000);
}

#[test]
fn a_penalised_node_is_probed_again_only_when_the_probe_was_answered() {
    let mut cluster = cluster(3);
    cluster.serve(3 * SECOND, one_slow);
    cluster.pass(11 * SECOND);
    for good in 1..3 {
        assert_eq!(tries(&cluster), 1, "one in flight at a time");
        cluster.pass(millis(2));
        cluster.answer(0, millis(2));
        assert_eq!(condition(&cluster, 0), Condition::Probed(good));
    }
    assert_eq!(tries(&cluster), 1);
    cluster.pass(millis(2));
    cluster.answer(0, millis(2));
    assert_eq!(condition(&cluster, 0), Condition::Recovering);
    cluster.pass(SECOND);
    assert_eq!(tries(&cluster), 2);
}

#[test]
fn a_single_failure_costs_no_place_and_many_do() {
    for (every, penalised) in [(50, false), (3, true)] {
        let mut cluster = cluster(3);
        let mut turn = 0;
        let counts = cluster.run(10 * SECOND, |index| {
            turn += u32::from(index == 0);
            if index == 0 && turn % every == 0 {
                (micros(10), Outcome::Failed)
            } else {
                (millis(5), Outcome::Success)
            }
        });
        assert_eq!(counts[0] < 1_000, penalised, "{every}: {counts:?}");
        assert_eq!(counts[0] > 3_000, !penalised, "{every}: {counts:?}");
    }
}

#[test]
fn an_outage_of_all_nodes_leaves_no_trace() {
    let mut cluster = cluster(3);
    cluster.serve(2 * SECOND, |_| millis(2));
    cluster.run(60 * SECOND, |_| (micros(10), Outcome::Failed));
    cluster.serve(3 * SECOND, |_| millis(2));
    let counts = cluster.serve(3 * SECOND, |_| millis(2));
    assert!(counts.iter().all(|&count| count > 900), "{counts:?}");
    let minimum = cluster.policy.minimum_nanos().unwrap();
    assert!((1_990_000..2_010_000).contains(&minimum), "{minimum}");
}

#[test]
fn a_cancelled_attempt_tells_only_that_the_node_was_slower() {
    let mut cluster = cluster(3);
    cluster.serve(SECOND, |_| millis(10));
    let before = cluster.policy.score(node(0)).unwrap();
    let cancel = |cluster: &Cluster<LatencyAware<RoundRobin>>, latency| {
        let attempt = Attempt::new(node(0), cluster.now, latency, Outcome::Cancelled);
        cluster.policy.record(&attempt);
        cluster.policy.score(node(0)).unwrap()
    };
    cluster.pass(millis(20));
    let settled = cluster.policy.score(node(0)).unwrap();
    assert_eq!(cancel(&cluster, millis(3)), settled);
    let after = cancel(&cluster, millis(30));
    assert_eq!(after.samples, settled.samples + 1);
    assert!(after.average_nanos > before.average_nanos);
}

/// A probe that was cancelled beyond the limit is an answer that was late, though nobody knows by how
/// much, and though the node was far slower before.
#[test]
fn a_probe_that_is_cancelled_beyond_the_limit_is_a_late_one() {
    let mut cluster = cluster(3);
    cluster.serve(3 * SECOND, one_slow);
    without_node_0(&mut cluster, 11 * SECOND);
    for _ in 0..3 {
        assert_eq!(tries(&cluster), 1);
        cluster.pass(millis(5));
        let attempt = Attempt::new(node(0), cluster.now, millis(5), Outcome::Cancelled);
        cluster.policy.record(&attempt);
        cluster.pass(millis(100));
    }
    assert_eq!(condition(&cluster, 0), Condition::Penalised);
    without_node_0(&mut cluster, 9 * SECOND);
    assert_eq!(tries(&cluster), 0);
}

/// After a pause the first probe waits with all that has piled up.
#[test]
fn in_the_first_series_a_slow_answer_is_one_of_three() {
    let cases = [
        (&[80, 2, 80, 2, 2][..], Condition::Recovering),
        (&[80, 2, 80, 2, 80], Condition::Penalised),
    ];
    for (answers, expected) in cases {
        let mut cluster = cluster(3);
        cluster.serve(SECOND, |_| millis(2));
        while !condition(&cluster, 0).is_penalised() {
            cluster.serve(millis(1), one_slow);
        }
        without_node_0(&mut cluster, millis(1_100));
        for &latency in answers {
            assert_eq!(tries(&cluster), 1, "{answers:?}");
            cluster.pass(millis(latency));
            cluster.answer(0, millis(latency));
            if latency > 4 {
                cluster.pass(millis(100));
            }
        }
        assert_eq!(condition(&cluster, 0), expected, "{answers:?}");
        assert_eq!(tries(&cluster), 0, "{answers:?}");
    }
}

/// Heavy tails do not end a ramp, nor do losers of hedges; a failure does.
#[test]
fn a_ramp_survives_a_late_answer() {
    for (latency, outcome, expected) in [
        (18, Outcome::Success, Condition::Recovering),
        (18, Outcome::Cancelled, Condition::Recovering),
        (18, Outcome::TimedOut, Condition::Penalised),
    ] {
        let mut cluster = cluster(3);
        cluster.serve(3 * SECOND, one_slow);
        without_node_0(&mut cluster, 11 * SECOND);
        for _ in 0..3 {
            assert_eq!(tries(&cluster), 1);
            cluster.pass(millis(2));
            cluster.answer(0, millis(2));
        }
        cluster.pass(millis(120));
        for _ in 0..10 {
            cluster.pass(millis(2));
            cluster.answer(0, millis(2));
        }
        cluster.pass(millis(2));
        let attempt = Attempt::new(node(0), cluster.now, millis(latency), outcome);
        cluster.policy.record(&attempt);
        cluster.policy.tick(cluster.now);
        assert_eq!(condition(&cluster, 0), expected, "{outcome:?}");
    }
}

#[test]
fn a_cluster_that_idles_does_not_forget_who_is_slow() {
    let mut cluster = cluster(3);
    cluster.serve(3 * SECOND, one_slow);
    cluster.pass(60 * SECOND);
    assert_eq!(cluster.policy.minimum_nanos(), None);
    let counts = cluster.serve(5 * SECOND, one_slow);
    assert!(counts[0] <= 12, "{counts:?}");
}

#[derive(Debug, Clone)]
enum Step {
    Pass(u64),
    Answer(usize, u64, Outcome),
    Plan,
    Leave(usize),
    Join(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let outcome = prop::sample::select(vec![
        Outcome::Success,
        Outcome::Success,
        Outcome::Failed,
        Outcome::Disconnected,
        Outcome::Cancelled,
        Outcome::Refused,
    ]);
    prop_oneof![
        4 => (0_u64..400).prop_map(Step::Pass),
        1 => (9_000_u64..30_000).prop_map(Step::Pass),
        12 => (0_usize..6, 0_u64..60, outcome).prop_map(|(node, latency, outcome)| {
            // Nodes 0 and 1 are mostly slow.
            Step::Answer(node, if node < 2 { latency } else { latency / 20 }, outcome)
        }),
        4 => Just(Step::Plan),
        1 => (0_usize..6).prop_map(Step::Leave),
        1 => (0_usize..6).prop_map(Step::Join),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever happens: every plan has each node once, an explanation changes nothing, and after
    /// a tick at most half of the nodes are penalised.
    #[test]
    fn plans_stay_complete_and_penalties_few(steps in prop::collection::vec(step(), 1..200)) {
        let parameters = LatencyParameters::default().min_measured(2).confirmations(1);
        let builder = LatencyAware::builder().parameters(parameters);
        let policy = builder.build(RoundRobin::new()).unwrap();
        let mut cluster = Cluster::new(policy, in_one_place(6));
        for step in steps {
            match step {
                Step::Pass(span) => {
                    cluster.pass(millis(span));
                    cluster.policy.tick(cluster.now);
                    let nodes = cluster.policy.snapshot(cluster.now).nodes;
                    let penalised = nodes.iter().filter(|node| node.condition.is_penalised());
                    let (penalised, nodes) = (penalised.count(), nodes.len());
                    prop_assert!(penalised <= nodes / 2, "{} of {}", penalised, nodes);
                }
                Step::Answer(index, latency, outcome) => {
                    let latency = millis(latency);
                    let attempt = Attempt::new(node(index), cluster.now, latency, outcome);
                    cluster.policy.record(&attempt);
                }
                Step::Plan => {
                    let plan = cluster.policy.plan(Call::new(&cluster.topology));
                    let before = cluster.policy.snapshot(cluster.now);
                    prop_assert_eq!(plan.explain(cluster.now).nodes.len(), cluster.topology.nodes().len());
                    prop_assert_eq!(before, cluster.policy.snapshot(cluster.now));
                    let mut nodes = cluster.plan();
                    nodes.sort_unstable();
                    let mut expected: Vec<_> =
                        cluster.topology.nodes().iter().map(|node| node.get()).collect();
                    expected.sort_unstable();
                    prop_assert_eq!(nodes, expected);
                }
                Step::Leave(index) => cluster.change(|topology| {
                    topology.remove(node(index));
                }),
                Step::Join(index) => cluster.change(|topology| {
                    topology.insert(node(index), Locality::datacenter("a"));
                }),
            }
        }
    }
}
