//! Many clients: they do not follow each other.

use std::time::Duration;

use steersman_selection::{Outcome, RoundRobin};

use super::each;
use super::fleet::{Fleet, Load};
use crate::cluster::millis;

fn exponential(mean: Duration, lot: f64) -> Duration {
    mean.mul_f64(-(1.0 - lot).ln())
}

/// The same load from one client, ten and a hundred, at 70 %: no server's queue grows beyond that of
/// round robin.
#[test]
fn more_clients_make_no_longer_queues_than_round_robin() {
    let load = Load {
        requests_per_second: 3_500,
        latency: &|_, _, lot| (exponential(millis(4), lot), Outcome::Success),
    };
    for clients in [1, 10, 100] {
        let longest = |policy: &str| {
            let mut fleet = Fleet::new(clients, 5, 4, policy);
            fleet.run(Duration::from_secs(5), load).longest_queue
        };
        let round_robin = longest("RoundRobin");
        for (name, _) in each(0, RoundRobin::new) {
            let ours = longest(name);
            assert!(
                ours <= round_robin + 8,
                "{name}, {clients} clients: {ours}, {round_robin}"
            );
        }
    }
}

/// One of five servers is three times slower, and a hundred clients know it: from second to second its
/// share stays what it is, and so do those of others.
#[test]
fn shares_do_not_swing() {
    let load = Load {
        requests_per_second: 2_500,
        latency: &|index, _, lot| {
            let mean = if index == 0 { millis(12) } else { millis(4) };
            (exponential(mean, lot), Outcome::Success)
        },
    };
    for (name, _) in each(0, RoundRobin::new) {
        let mut fleet = Fleet::new(100, 5, 4, name);
        let run = fleet.run(Duration::from_secs(20), load);
        for second in &run.served[10..] {
            assert!(
                second[1..]
                    .iter()
                    .all(|served| (350..=900).contains(served)),
                "{name}: {second:?}"
            );
            assert!(second[0] < 550, "{name}: {second:?}");
        }
    }
}
