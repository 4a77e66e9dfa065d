//! `Steady`: what its documentation promises.

use std::time::Duration;

use proptest::prelude::*;
use steersman_selection::{Attempt, Call, Outcome, Plan, Policy, RoundRobin, Steady, Timestamp};

use super::fleet::{Fleet, Load};
use crate::cluster::{in_one_place, millis, node};

/// From half to one and a half of that, around it alike.
fn noisy(mean: Duration, lot: f64) -> (Duration, Outcome) {
    (mean.mul_f64(0.5 + lot), Outcome::Success)
}

/// With rounder figures than the defaults, so that the bounds can be computed in integers.
fn rounded(seed: u64) -> Steady<RoundRobin> {
    let builder = Steady::builder().seed(seed).room(2.0).tolerance(0.2);
    builder.build(RoundRobin::new()).unwrap()
}

proptest! {
    /// Of nodes with any latencies and any queues, the one that is taken costs at most 1.25 times as much as
    /// the cheapest, which no order of the nodes changes.
    #[test]
    fn what_is_taken_costs_little_more_than_the_least(
        nodes in prop::collection::vec((1_u64..2_000, 0_u32..20), 1..16),
        seed: u64,
    ) {
        let topology = in_one_place(nodes.len());
        let policy = rounded(seed);
        let begin = Timestamp::from_nanos(0);
        policy.topology_changed(&topology, begin);
        let now = begin + millis(2_000);
        for (index, &(latency, in_flight)) in nodes.iter().enumerate() {
            policy.begin(node(index), now);
            policy.record(&Attempt::new(node(index), now, millis(latency), Outcome::Success));
            for _ in 0..in_flight {
                policy.begin(node(index), now);
            }
        }
        let cost = |index: usize| nodes[index].0 * u64::from(2 + nodes[index].1);
        let least = (0..nodes.len()).map(cost).min().unwrap();
        for _ in 0..20 {
            let taken = policy.plan(Call::new(&topology)).next(now).unwrap();
            prop_assert!(cost(taken.get()) * 4 <= least * 5, "{taken:?} of {nodes:?}");
        }
    }

    /// A node that stands still gets no request any more once its silence is worth more than the others: with
    /// n others of latency m that have q in flight, after 1.25 m (2 + q) / 3.
    #[test]
    fn a_node_that_stands_still_gets_nothing(
        others in prop::collection::vec((1_u64..50, 0_u32..10), 1..8),
        own in 1_u64..50,
        seed: u64,
    ) {
        let topology = in_one_place(others.len() + 1);
        let policy = rounded(seed);
        let begin = Timestamp::from_nanos(0);
        policy.topology_changed(&topology, begin);
        let mut now = begin + millis(1_000);
        let answer = |index, latency, now| {
            policy.begin(node(index), now);
            policy.record(&Attempt::new(node(index), now, millis(latency), Outcome::Success));
        };
        answer(0, own, now);
        policy.begin(node(0), now);
        let least = others.iter().map(|(latency, queue)| latency * u64::from(2 + queue)).min().unwrap();
        now = now + millis(least * 5 / 12 + 1);
        for (index, &(latency, queue)) in (1..).zip(&others) {
            answer(index, latency, now);
            for _ in 0..queue {
                policy.begin(node(index), now);
            }
        }
        for _ in 0..20 {
            let taken = policy.plan(Call::new(&topology)).next(now).unwrap();
            prop_assert_ne!(taken, node(0), "{:?}", others);
        }
    }
}

/// Equal nodes share evenly, second by second, however many clients there are and however little is in
/// flight.
#[test]
fn equal_nodes_share_evenly() {
    let load = Load {
        requests_per_second: 3_000,
        latency: &|_, _, lot| noisy(millis(1), lot),
    };
    for clients in [1, 10, 100, 1_000] {
        let mut fleet = Fleet::new(clients, 4, usize::MAX, "Steady");
        let run = fleet.run(Duration::from_secs(6), load);
        for second in &run.served[1..] {
            // 750 each, give or take a third.
            assert!(
                second.iter().all(|served| (500..=1_000).contains(served)),
                "{clients} clients: {second:?}"
            );
        }
    }
}

/// A node that is three times slower, and has nothing in flight as often as the others, gets no more than
/// what it takes to know.
#[test]
fn moderate_slowness_is_seen_without_queues() {
    for clients in [1, 20] {
        let mut fleet = Fleet::new(clients, 3, usize::MAX, "Steady");
        let load = Load {
            requests_per_second: 1_000,
            latency: &|index, _, lot| noisy(millis(if index == 0 { 3 } else { 1 }), lot),
        };
        fleet.run(Duration::from_secs(2), load);
        let run = fleet.run(Duration::from_secs(20), load);
        let slow: u32 = run.served.iter().map(|second| second[0]).sum();
        // Of 20,000. Each client asks once in ten seconds, when it has forgotten.
        assert!(slow <= 200, "{clients} clients: {slow}");
    }
}

/// A node that was slow is used again within the retry period, and not by everybody at once.
#[test]
fn a_node_that_was_slow_comes_back() {
    let mut fleet = Fleet::new(50, 4, 4, "Steady");
    let load = Load {
        requests_per_second: 4_000,
        latency: &|index, at, lot| {
            let slow = index == 0 && (5..10).contains(&at.as_secs());
            noisy(millis(if slow { 20 } else { 1 }), lot)
        },
    };
    let run = fleet.run(Duration::from_secs(30), load);
    assert!(
        run.served[25..].iter().all(|second| second[0] > 500),
        "{:?}",
        run.served
    );
    assert!(
        run.served[11..].iter().all(|second| second[0] < 1_500),
        "{:?}",
        run.served
    );
}

#[test]
fn parameters_out_of_range_are_named() {
    let error = |builder: steersman_selection::RankedBuilder<_>| {
        let built: Result<Steady<_>, _> = builder.build(RoundRobin::new());
        built.unwrap_err().to_string()
    };
    assert!(error(Steady::builder().room(0.0)).starts_with("room of 0"));
    assert!(error(Steady::builder().tolerance(1.0)).starts_with("tolerance of 1"));
    assert!(error(Steady::builder().tolerance(f64::NAN)).starts_with("tolerance of NaN"));
    assert!(error(Steady::builder().decay(Duration::ZERO)).starts_with("decay of 0"));
}
