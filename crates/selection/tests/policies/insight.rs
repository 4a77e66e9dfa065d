//! Explanations, snapshots, events and counters; and many threads at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use steersman_selection::{
    Attempt, Call, Change, Condition, Event, LatencyAware, Mode, NodeIndex, Outcome, Plan, Policy,
    RoundRobin, Standing, Timestamp,
};

use crate::cluster::{BOTH, Cluster, in_one_place, millis, node};

type Log = Arc<Mutex<Vec<(Change, usize)>>>;

fn logging(mode: Mode) -> (Cluster<LatencyAware<RoundRobin>>, Log) {
    let log = Log::default();
    let sink = Arc::clone(&log);
    let policy = LatencyAware::builder()
        .mode(mode)
        .listener(move |event: &Event| {
            assert!(!event.to_string().is_empty());
            sink.lock().unwrap().push((event.change, event.node.get()));
        })
        .build(RoundRobin::new())
        .unwrap();
    (Cluster::new(policy, in_one_place(3)), log)
}

fn one_slow(index: usize) -> Duration {
    millis(if index == 0 { 30 } else { 2 })
}

#[test]
fn each_change_is_told_once_and_counted() {
    for mode in BOTH {
        let (mut cluster, log) = logging(mode);
        cluster.serve(Duration::from_secs(9), one_slow);
        assert_eq!(*log.lock().unwrap(), [(Change::Penalised, 0)]);
        cluster.serve(Duration::from_secs(5), |_| millis(2));
        let told = log.lock().unwrap().clone();
        let expected = match mode {
            Mode::Reference => vec![Change::Penalised, Change::Back],
            Mode::Guarded => vec![Change::Penalised, Change::Recovering, Change::Back],
        };
        let changes: Vec<_> = told.iter().map(|&(change, _)| change).collect();
        assert_eq!(changes, expected, "{mode:?}");
        assert!(told.iter().all(|&(_, index)| index == 0));
        let counters = cluster.policy.counters();
        assert_eq!(counters.penalised, 1);
        assert_eq!(counters.back, 1);
        // The three of the first series were slow.
        assert_eq!(counters.probes, if mode == Mode::Guarded { 6 } else { 0 });
    }
}

#[test]
fn silence_is_told_once_for_each_penalty() {
    for mode in BOTH {
        let (mut cluster, log) = logging(mode);
        cluster.serve(Duration::from_secs(2), one_slow);
        cluster.pass(Duration::from_secs(60));
        let expected = [(Change::Penalised, 0), (Change::Silent, 0)];
        assert_eq!(*log.lock().unwrap(), expected);
        assert_eq!(cluster.policy.counters().silent, 1);
    }
}

#[test]
fn an_explanation_says_where_each_node_stands_and_why() {
    for mode in BOTH {
        let (mut cluster, _) = logging(mode);
        let text = |cluster: &Cluster<LatencyAware<RoundRobin>>| {
            let plan = cluster.policy.plan(Call::new(&cluster.topology));
            plan.explain(cluster.now).to_string()
        };
        let unmeasured = text(&cluster);
        assert!(unmeasured.contains("too few samples"), "{unmeasured}");

        cluster.serve(Duration::from_secs(3), one_slow);
        let mut plan = cluster.policy.plan(Call::new(&cluster.topology));
        let lines = plan.explain(cluster.now).to_string();
        let last = lines.lines().last().unwrap();
        for part in [
            "3. node 0: local, penalised",
            "average",
            "limit 4",
            "minimum 2.0ms",
        ] {
            assert!(last.contains(part), "{part}: {lines}");
        }
        let explanation = plan.explain(cluster.now);
        let node_0 = &explanation.nodes[2];
        assert_eq!(node_0.candidate.standing, Standing::Penalised);
        let report = node_0.report.unwrap();
        assert_eq!(report.condition, Condition::Penalised);
        assert_eq!(report.score, cluster.policy.score(node(0)));
        assert!(report.age_nanos.unwrap() > 1_000_000_000);
        // The plan is as it was.
        let nodes: Vec<_> = std::iter::from_fn(|| plan.next(cluster.now)).collect();
        let told: Vec<_> = explanation
            .nodes
            .iter()
            .map(|node| node.candidate.node)
            .collect();
        assert_eq!(nodes, told);

        let snapshot = cluster.policy.snapshot(cluster.now);
        let conditions: Vec<_> = snapshot.nodes.iter().map(|node| node.condition).collect();
        let expected = [Condition::Penalised, Condition::Within, Condition::Within];
        assert_eq!(conditions, expected);
        assert_eq!(snapshot.counters.penalised, 1);

        cluster.pass(Duration::from_secs(11));
        let silent = text(&cluster);
        assert!(silent.contains("silent for the retry period") || mode == Mode::Guarded);
    }
}

#[test]
fn a_node_that_leaves_is_forgotten_and_its_index_can_be_another_node() {
    for mode in BOTH {
        let (mut cluster, _) = logging(mode);
        cluster.serve(Duration::from_secs(3), one_slow);
        let before = cluster.policy.score(node(0)).unwrap();
        // It leaves and another one comes under its index, in one change.
        cluster.change(|topology| {
            let locality = topology.locality(node(0)).cloned().unwrap();
            topology.remove(node(0));
            topology.insert(node(0), locality);
        });
        assert_eq!(cluster.policy.score(node(0)), None);
        cluster.answer(0, millis(5));
        assert_eq!(cluster.policy.score(node(0)).unwrap().samples, 1);
        assert!(before.samples > 1);
        cluster.change(|topology| {
            topology.remove(node(0));
        });
        // A late answer of a node that is gone.
        cluster.answer(0, millis(5));
        assert_eq!(cluster.policy.score(node(0)), None);
        assert_eq!(cluster.policy.snapshot(cluster.now).nodes.len(), 2);
        let report = cluster.policy.report(node(0), cluster.now).unwrap();
        assert_eq!(report.condition, Condition::Untracked);
    }
}

/// Recorders, planners, ticks and changes of the topology at the same time: nothing is lost, no
/// plan is short.
#[test]
fn threads_do_not_disturb_each_other() {
    for mode in BOTH {
        let policy = LatencyAware::builder()
            .mode(mode)
            .build(RoundRobin::new())
            .unwrap();
        let topology = in_one_place(4);
        policy.topology_changed(&topology, Timestamp::from_nanos(0));
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            let recorders: Vec<_> = (0..2_i64)
                .map(|thread| {
                    let policy = &policy;
                    scope.spawn(move || {
                        for sample in 1..=5_000 {
                            let at = Timestamp::from_nanos(sample * 20_000 + thread);
                            let index = usize::try_from(sample % 3).unwrap();
                            let latency = millis(if index == 0 { 40 } else { 1 });
                            let outcome = Outcome::Success;
                            policy.record(&Attempt::new(node(index), at, latency, outcome));
                        }
                    })
                })
                .collect();
            scope.spawn(|| {
                let mut at = 0;
                while !done.load(Ordering::Relaxed) {
                    at += 1_000_000;
                    let now = Timestamp::from_nanos(at % 100_000_000);
                    policy.tick(now);
                    let mut plan = policy.plan(Call::new(&topology));
                    let nodes: Vec<_> = std::iter::from_fn(|| plan.next(now)).collect();
                    assert_eq!(nodes.len(), 4, "{nodes:?}");
                    let mut fewer = topology.clone();
                    fewer.remove(node(3));
                    policy.topology_changed(&fewer, now);
                    policy.topology_changed(&topology, now);
                    assert_eq!(policy.snapshot(now).nodes.len(), 4);
                }
            });
            for recorder in recorders {
                recorder.join().unwrap();
            }
            done.store(true, Ordering::Relaxed);
        });
        for index in 0..3 {
            let score = policy.score(node(index)).unwrap();
            // Samples that came late by another thread's clock are dropped.
            assert!((1_000..=3_334).contains(&score.samples), "{score:?}");
            let expected = if index == 0 { 40_000_000 } else { 1_000_000 };
            assert!(score.average_nanos.abs_diff(expected) < 20_000, "{score:?}");
        }
        let _: Option<NodeIndex> = policy.plan(Call::new(&topology)).next(Timestamp::default());
    }
}
