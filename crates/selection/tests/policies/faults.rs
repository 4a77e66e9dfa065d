//! The faults of the reference, each shown in reference mode, and its absence in the default.

use std::time::Duration;

use steersman_selection::{
    DatacenterAware, LatencyAware, Locality, Mode, Outcome, RoundRobin, Topology,
};

use crate::cluster::{BOTH, Cluster, in_one_place, latency_aware, micros, millis, node, random};

fn cluster(mode: Mode, nodes: usize) -> Cluster<LatencyAware<RoundRobin>> {
    let policy = latency_aware(mode, RoundRobin::new());
    Cluster::new(policy, in_one_place(nodes))
}

const SECOND: Duration = Duration::from_secs(1);

/// Node 0 takes 50 ms, others 2.
fn one_slow(index: usize) -> Duration {
    millis(if index == 0 { 50 } else { 2 })
}

#[test]
fn after_the_retry_period_one_request_probes_instead_of_all() {
    for mode in BOTH {
        let mut cluster = cluster(mode, 3);
        cluster.serve(3 * SECOND, one_slow);
        let probes = cluster.serve(30 * SECOND, one_slow)[0];
        match mode {
            // Until the first answers are there, each third request goes to the slow node.
            Mode::Reference => assert!(probes > 40, "{probes}"),
            Mode::Guarded => assert!((2..=3).contains(&probes), "{probes}"),
        }
    }
}

#[test]
fn a_node_that_was_slow_gets_a_rising_share_instead_of_all_at_once() {
    for mode in BOTH {
        let mut cluster = cluster(mode, 3);
        cluster.serve(3 * SECOND, |index| millis(if index == 0 { 30 } else { 2 }));
        let mut shares = Vec::new();
        for _ in 0..150 {
            let count = cluster.serve(millis(100), |_| millis(2))[0];
            if count > 0 || !shares.is_empty() {
                shares.push(count);
            }
        }
        match mode {
            Mode::Reference => assert!(shares[..3].contains(&33), "{shares:?}"),
            Mode::Guarded => {
                // Of 33 in a full tenth of a second, on average 1.7, 5, 8.3 and so on.
                assert!(shares[0] <= 8 && shares[1] <= 12, "{shares:?}");
                let half = shares[..5].iter().sum::<u32>();
                let rest = shares[5..10].iter().sum::<u32>();
                assert!(
                    (20..65).contains(&half) && rest > 3 * half / 2,
                    "{shares:?}"
                );
                assert!(shares[12..].iter().all(|count| (33..=34).contains(count)));
            }
        }
    }
}

#[test]
fn a_node_that_is_slow_again_during_the_ramp_is_penalised_at_once() {
    let mut cluster = cluster(Mode::Guarded, 3);
    cluster.serve(3 * SECOND, one_slow);
    // Fast for the probes and the beginning of the ramp.
    let mut answers = 0;
    let count = cluster.serve(20 * SECOND, |index| {
        answers += u32::from(index == 0);
        if index == 0 && answers > 10 {
            millis(50)
        } else {
            millis(2)
        }
    })[0];
    let counters = cluster.policy.counters();
    assert_eq!(
        (counters.penalised, counters.recovering, counters.back),
        (2, 1, 0)
    );
    assert!((11..40).contains(&count), "{count}");
}

#[test]
fn noise_among_equal_nodes_excludes_none() {
    for mode in BOTH {
        let mut cluster = cluster(mode, 3);
        let mut random = random(1);
        let noisy = |_| {
            let spike = random() < 0.005;
            micros(500)
                + micros(1_000).mul_f64(random())
                + if spike { millis(80) } else { micros(0) }
        };
        let counts = cluster.serve(30 * SECOND, noisy);
        let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
        match mode {
            Mode::Reference => assert!(least * 3 < *most, "{counts:?}"),
            Mode::Guarded => assert_eq!(least, most, "{counts:?}"),
        }
    }
}

#[test]
fn small_differences_do_not_matter() {
    for mode in BOTH {
        let mut cluster = cluster(mode, 3);
        let counts = cluster.serve(3 * SECOND, |index| micros([600, 200, 200][index]));
        match mode {
            Mode::Reference => assert!(counts[0] < 300, "{counts:?}"),
            Mode::Guarded => assert_eq!(counts, [1_000; 3]),
        }
    }
}

#[test]
fn one_pause_is_no_slowness() {
    for mode in BOTH {
        let mut cluster = cluster(mode, 3);
        cluster.serve(SECOND, |_| millis(2));
        // Node 0 stops for 60 ms: what it got meanwhile is answered at the end.
        let mut left = 60;
        cluster.serve(millis(60), |index| {
            left -= 1;
            millis(if index == 0 { 2 + left } else { 2 })
        });
        let counts = cluster.serve(5 * SECOND, |_| millis(2));
        match mode {
            Mode::Reference => assert!(counts[0] < 500, "{counts:?}"),
            Mode::Guarded => assert!(counts[0] > 1_660, "{counts:?}"),
        }
    }
}

/// A pause that is long enough to cost a node its requests does not cost them for long.
#[test]
fn who_was_slow_for_a_moment_is_soon_back() {
    for mode in BOTH {
        let mut cluster = cluster(mode, 3);
        cluster.serve(SECOND, |_| millis(2));
        cluster.serve(millis(600), one_slow);
        cluster.pass(millis(50));
        assert!(!cluster.plan()[..2].contains(&0), "{mode:?}");
        cluster.serve(2 * SECOND + millis(200), |_| millis(2));
        let counts = cluster.serve(6 * SECOND, |_| millis(2));
        match mode {
            Mode::Reference => assert_eq!(counts[0], 0, "{counts:?}"),
            Mode::Guarded => assert!(counts[0] > 1_900, "{counts:?}"),
        }
    }
}

#[test]
fn at_most_half_of_the_nodes_is_penalised() {
    for mode in BOTH {
        let mut cluster = cluster(mode, 4);
        let slow = |index| millis([2, 30, 40, 50][index]);
        cluster.serve(3 * SECOND, slow);
        let counts = cluster.serve(5 * SECOND, slow);
        match mode {
            Mode::Reference => assert_eq!(counts[0], 5_000),
            // The slowest two are, and the other two share the load.
            Mode::Guarded => {
                assert!(counts[0] > 2_400 && counts[1] > 1_200, "{counts:?}");
                assert_eq!(counts[2..], [0, 0]);
            }
        }
    }
}

/// Only one of three may be penalised, and that one was slow for a moment only.
#[test]
fn a_node_that_is_far_slower_takes_the_place_of_one_that_is_penalised() {
    for mode in BOTH {
        let mut cluster = cluster(mode, 3);
        cluster.serve(2 * SECOND, |index| millis([2, 8, 2][index]));
        let slow = |index| millis([50, 2, 2][index]);
        cluster.serve(2 * SECOND, slow);
        let counts = cluster.serve(5 * SECOND, slow);
        assert_eq!(counts[0], 0, "{mode:?}: {counts:?}");
        // The other one comes back sooner than by its probe.
        match mode {
            Mode::Reference => assert_eq!(counts[1], 0, "{counts:?}"),
            Mode::Guarded => assert!(counts[1] > 2_000, "{counts:?}"),
        }
    }
}

/// When nodes leave, those that stay are not measured by those that are gone.
#[test]
fn a_node_that_left_is_no_measure() {
    for mode in BOTH {
        let mut cluster = cluster(mode, 3);
        // Node 0 answers in 1 ms, the others take 5. Then nobody is asked for so long that the
        // minimum cannot be renewed, and node 0 leaves.
        cluster.serve(SECOND, |index| millis([1, 5, 5][index]));
        cluster.pass(11 * SECOND);
        cluster.change(|topology| {
            topology.remove(node(0));
        });
        assert_eq!(
            cluster.policy.minimum_nanos().is_some(),
            mode == Mode::Reference
        );
        // At the first answer node 1 is compared with the one that left.
        cluster.serve(millis(2), |_| millis(5));
        cluster.pass(millis(10));
        let order = cluster.plan();
        let again = cluster.plan();
        match mode {
            Mode::Reference => {
                let penalised = cluster.policy.snapshot(cluster.now).nodes;
                assert!(
                    penalised
                        .iter()
                        .any(|report| report.condition.is_penalised())
                );
            }
            Mode::Guarded => assert_ne!(order, again, "both take their turns"),
        }
    }
}

/// Two datacenters, the local one first.
fn two_places() -> Topology {
    let mut topology = in_one_place(2);
    topology.insert(node(2), Locality::datacenter("b"));
    topology
}

#[test]
fn a_slow_local_node_comes_before_remote_ones() {
    for mode in BOTH {
        let child = DatacenterAware::new("a").remote_nodes(1);
        let mut cluster = Cluster::new(latency_aware(mode, child), two_places());
        cluster.serve(3 * SECOND, one_slow);
        let plan = cluster.plan();
        match mode {
            Mode::Reference => assert_eq!(plan, [1, 2, 0]),
            Mode::Guarded => assert_eq!(plan, [1, 0, 2]),
        }
    }
}

/// Local nodes are compared with each other, not with a faster datacenter.
#[test]
fn a_remote_node_is_no_measure() {
    for mode in BOTH {
        let child = DatacenterAware::new("a").remote_nodes(1);
        let mut cluster = Cluster::new(latency_aware(mode, child), two_places());
        for _ in 0..200 {
            cluster.pass(millis(5));
            for (index, latency) in [(0, 20), (1, 20), (2, 2)] {
                cluster.answer(index, millis(latency));
            }
        }
        let plan = cluster.plan();
        match mode {
            Mode::Reference => assert_eq!(plan[0], 2),
            Mode::Guarded => assert_eq!(plan[2], 2),
        }
    }
}

#[test]
fn a_fast_failing_node_attracts_no_requests() {
    for mode in BOTH {
        let mut cluster = cluster(mode, 3);
        let failing = |index| match index {
            0 => (Duration::from_nanos(10), Outcome::Failed),
            _ => (millis(12), Outcome::Success),
        };
        cluster.run(3 * SECOND, |_| (millis(12), Outcome::Success));
        cluster.run(2 * SECOND, failing);
        let counts = cluster.run(5 * SECOND, failing);
        match mode {
            Mode::Reference => assert_eq!(counts[0], 5_000),
            Mode::Guarded => assert!(counts[0] <= 1, "{counts:?}"),
        }
    }
}

#[test]
fn a_node_that_fails_from_the_start_is_no_measure() {
    for mode in BOTH {
        let mut cluster = cluster(mode, 3);
        let failing = |index| match index {
            0 => (Duration::from_nanos(10), Outcome::Failed),
            _ => (millis(12), Outcome::Success),
        };
        cluster.run(2 * SECOND, failing);
        let counts = cluster.run(5 * SECOND, failing);
        match mode {
            Mode::Reference => assert_eq!(counts[0], 5_000),
            Mode::Guarded => assert!(counts[0] <= 1, "{counts:?}"),
        }
    }
}

#[test]
fn rejections_do_not_make_a_node_look_fast() {
    for mode in BOTH {
        let mut cluster = cluster(mode, 3);
        // Half of the requests have errors, and node 0 gets more of them.
        let mut turn = 0;
        let counts = cluster.run(5 * SECOND, |index| {
            turn += 1;
            if index == 0 && turn % 8 != 0 {
                (micros(50), Outcome::Rejected)
            } else {
                (millis(12), Outcome::Success)
            }
        });
        match mode {
            Mode::Reference => assert!(counts[0] > 3_000, "{counts:?}"),
            Mode::Guarded => assert!((1_600..1_700).contains(&counts[0]), "{counts:?}"),
        }
    }
}

#[test]
fn a_new_node_is_not_flooded() {
    for mode in BOTH {
        let mut cluster = cluster(mode, 3);
        // Node 0 is slow, so that more falls to the others.
        cluster.serve(3 * SECOND, one_slow);
        cluster.change(|topology| topology.insert(node(3), Locality::datacenter("a")));
        // The new one is cold.
        let cold = |index| millis([50, 2, 2, 30][index]);
        let counts = cluster.serve(millis(200), cold);
        match mode {
            Mode::Reference => assert!(counts[3] >= 50, "{counts:?}"),
            Mode::Guarded => assert!(counts[3] <= 12, "{counts:?}"),
        }
    }
}

#[test]
fn a_penalised_node_that_is_the_only_one_of_its_tier_comes_back_by_its_answers() {
    let policy = latency_aware(Mode::Guarded, RoundRobin::new());
    let mut cluster = Cluster::new(policy, in_one_place(2));
    cluster.serve(3 * SECOND, one_slow);
    assert_eq!(cluster.plan(), [1, 0]);
    // Keys that live on node 0 alone keep it busy, and it is fast again.
    for _ in 0..600 {
        cluster.pass(millis(5));
        for index in [0, 1] {
            cluster.answer(index, millis(2));
        }
    }
    let first: Vec<_> = (0..4).map(|_| cluster.plan()[0]).collect();
    assert!(first.contains(&0), "{first:?}");
}
