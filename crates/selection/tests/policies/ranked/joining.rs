//! Nodes that come in among others, or of which nothing is known.

use std::time::Duration;

use steersman_selection::{Locality, Outcome, RoundRobin};

use super::each;
use super::fleet::{Fleet, Load};
use crate::cluster::{millis, node};

/// A fourth node comes in: within the ramp it gets at most its part of its share, and never has more
/// in its queue than the others have had.
#[test]
fn a_node_that_comes_in_is_ramped() {
    for (name, _) in each(0, RoundRobin::new) {
        let mut fleet = Fleet::new(20, 4, 4, name);
        fleet.change(|topology| {
            topology.remove(node(2));
        });
        let load =
            |_: usize, _: Duration, lot: f64| (millis(1).mul_f64(0.5 + lot), Outcome::Success);
        let load = Load {
            requests_per_second: 2_000,
            latency: &load,
        };
        let before = fleet.run(Duration::from_secs(5), load);
        assert!(before.served.iter().all(|second| second[2] == 0), "{name}");
        fleet.change(|topology| topology.insert(node(2), Locality::datacenter("a")));
        let mut elapsed = 0;
        for _ in 0..10 {
            let tenth = fleet.run(millis(100), load);
            elapsed += 1;
            // Of 200 requests; the lots of so many clients are close to their mean.
            let most = 200 * elapsed / 10 / 2 + 20;
            assert!(
                tenth.served[0][2] <= most,
                "{name}: {:?} of {most}",
                tenth.served
            );
            assert!(tenth.longest_queue <= before.longest_queue + 4, "{name}");
        }
        let load = Load {
            requests_per_second: 400,
            ..load
        };
        let after = fleet.run(Duration::from_secs(62), load);
        let last = after.served.last().unwrap();
        assert!(last[2] > 20, "{name}: {last:?}");
    }
}

/// A cold node is ten times slower at first: it does not get more than it can bear.
#[test]
fn a_cold_node_is_not_flooded() {
    for (name, _) in each(0, RoundRobin::new) {
        let mut fleet = Fleet::new(50, 5, 8, name);
        fleet.change(|topology| {
            topology.remove(node(4));
        });
        let latency = |index: usize, at: Duration, lot: f64| {
            let cold = (at.as_secs_f64() - 10.0) / 60.0;
            let factor = if index == 4 {
                10.0 - 9.0 * cold.clamp(0.0, 1.0)
            } else {
                1.0
            };
            (
                millis(4).mul_f64(factor * -(1.0 - lot).ln()),
                Outcome::Success,
            )
        };
        let load = Load {
            requests_per_second: 3_000,
            latency: &latency,
        };
        let before = fleet.run(Duration::from_secs(10), load);
        fleet.change(|topology| topology.insert(node(4), Locality::datacenter("a")));
        let after = fleet.run(Duration::from_secs(15), load);
        assert!(
            after.longest_queue <= before.longest_queue + 60,
            "{name}: {} and {}",
            before.longest_queue,
            after.longest_queue
        );
        let served: u32 = after.served.iter().map(|second| second[4]).sum();
        assert!((1..15 * 700).contains(&served), "{name}: {served}");
    }
}
