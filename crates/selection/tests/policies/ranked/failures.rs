//! Nodes that fail, fast or slowly, and come back.

use std::time::Duration;

use steersman_selection::{Outcome, RoundRobin};

use super::each;
use super::fleet::{Fleet, Load};
use crate::cluster::millis;

/// Eleven nodes that need 120 ms, one of which fails within 10 ns for a minute: no more requests go
/// there than it takes to notice, and one each time that it is tried.
#[test]
fn a_node_that_fails_fast_gets_single_requests() {
    for (name, _) in each(0, RoundRobin::new) {
        let mut fleet = Fleet::new(1, 11, usize::MAX, name);
        let load = Load {
            requests_per_second: 500,
            latency: &|index, at, lot| {
                if index == 3 && (3..60).contains(&at.as_secs()) {
                    (Duration::from_nanos(10), Outcome::Failed)
                } else {
                    (millis(120).mul_f64(0.8 + 0.4 * lot), Outcome::Success)
                }
            },
        };
        let run = fleet.run(Duration::from_secs(70), load);
        assert!(run.failed <= 20, "{name}: {}", run.failed);
        // It is back ten seconds later.
        let last = run.served.last().unwrap();
        assert!(last[3] > 15, "{name}: {last:?}");
    }
}

/// Three nodes, one of which hangs until the client's time-out: as above, and what was under way.
#[test]
fn a_node_that_hangs_gets_single_requests() {
    for (name, _) in each(0, RoundRobin::new) {
        let mut fleet = Fleet::new(1, 3, usize::MAX, name);
        let load = Load {
            requests_per_second: 1_000,
            latency: &|index, at, _| {
                if index == 0 && (10..40).contains(&at.as_secs()) {
                    (millis(1_000), Outcome::TimedOut)
                } else {
                    (millis(2), Outcome::Success)
                }
            },
        };
        let run = fleet.run(Duration::from_secs(60), load);
        assert!(run.failed <= 30, "{name}: {}", run.failed);
        let last = run.served.last().unwrap();
        assert!(last[0] > 200, "{name}: {last:?}");
    }
}

/// Errors of one in a hundred on all nodes alike: all of them go on to be used.
#[test]
fn errors_everywhere_hold_nobody_back() {
    for (name, _) in each(0, RoundRobin::new) {
        let mut fleet = Fleet::new(1, 3, usize::MAX, name);
        let load = Load {
            requests_per_second: 2_000,
            latency: &|_, _, lot| {
                if lot < 0.01 {
                    (millis(1), Outcome::Failed)
                } else {
                    (millis(2), Outcome::Success)
                }
            },
        };
        let run = fleet.run(Duration::from_secs(10), load);
        for second in &run.served {
            assert!(
                second.iter().all(|&served| served > 400),
                "{name}: {second:?}"
            );
        }
    }
}

/// All nodes fail: requests go round, and none is without a node.
#[test]
fn when_all_fail_all_are_tried() {
    for (name, _) in each(0, RoundRobin::new) {
        let mut fleet = Fleet::new(1, 3, usize::MAX, name);
        let load = Load {
            requests_per_second: 300,
            latency: &|_, at, _| {
                if at.as_secs() < 20 {
                    (millis(1), Outcome::Disconnected)
                } else {
                    (millis(1), Outcome::Success)
                }
            },
        };
        let run = fleet.run(Duration::from_secs(40), load);
        let last = run.served.last().unwrap();
        assert!(last.iter().all(|&served| served > 50), "{name}: {last:?}");
        assert!(run.failed > 5_500, "{name}: {}", run.failed);
    }
}
