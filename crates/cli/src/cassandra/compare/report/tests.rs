//! Scores made up, and what is made of them.

use scylla::statement::Consistency;

use super::super::candidates::candidates;
use super::*;
use crate::duration::Limit;

fn address(node: u8) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, node], 9042))
}

fn nodes() -> BTreeSet<SocketAddr> {
    (1..=3).map(address).collect()
}

fn arguments(rounds: u32) -> args::Compare {
    args::Compare {
        seconds: 1,
        warm_up: Duration::ZERO,
        rounds,
        rate: 100,
        tasks: None,
        speculation: Limit(None),
        target: args::Target {
            contacts: Vec::new(),
            datacenter: None,
            user: None,
            consistency: Consistency::One,
            keyspace: None,
            query: String::new(),
            keys: None,
            slow: None,
        },
    }
}

/// A round in which node 1 answers 75 reads in so many milliseconds and node 2 25 in as many.
fn round(ms: u64) -> Round {
    let mut seen = Tally::default();
    for read in 0..100 {
        let node = if read % 4 == 0 { 2 } else { 1 };
        seen.record(Duration::from_millis(ms), Ok(address(node)));
    }
    let took = Duration::from_secs(1);
    Round { took, seen }
}

fn scores(rounds: impl Fn() -> Vec<Round>) -> Vec<Score> {
    let candidates = candidates(Some(Duration::from_millis(3)));
    let scores = candidates.map(|candidate| Score {
        candidate,
        rounds: rounds(),
    });
    scores.collect()
}

#[test]
fn medians_are_of_rounds_and_shares_of_all_answers() {
    let scores = scores(|| [5, 1, 100].map(round).into());
    let score = &scores[0];
    let median = score.quantile(0.99).unwrap();
    assert!(median <= Duration::from_millis(5) && median > Duration::from_micros(4_900));
    assert_eq!(score.per_second(), 100);
    assert_eq!(score.shares(&nodes()), [75.0, 25.0, 0.0]);
    let json = Value::from(json(&arguments(3), Pace::Rate(100), &nodes(), &scores));
    assert_eq!((&json["rate"], &json["tasks"]), (&100.into(), &Value::Null));
    let policies = json["policies"].as_array().unwrap();
    assert_eq!(policies.len(), 8);
    assert_eq!(policies[0]["policy"], "driver");
    assert_eq!(policies[0]["speculation_us"], Value::Null);
    assert_eq!(policies[7]["policy"], "steersman");
    assert_eq!(policies[7]["speculation_us"], 3_000);
    assert_eq!(policies[7]["nodes"][0]["name"], "127.0.0.1:9042");
    assert_eq!(policies[7]["nodes"][0]["share_percent"], 75.0);
    let p99: Vec<_> = (0..3)
        .map(|at| policies[7]["by_round"][at]["p99_us"].clone())
        .collect();
    assert_eq!(policies[7]["p99_us"], p99[0]);
    assert!(p99[1].as_u64() < p99[0].as_u64() && p99[0].as_u64() < p99[2].as_u64());
}

#[test]
fn a_table_has_a_row_for_each_policy() {
    let mut out = Vec::new();
    let scores = scores(|| vec![round(2)]);
    write(&arguments(1), Pace::Tasks(32), &nodes(), &scores, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "as many reads as 32 tasks can do; 1 round of 1 s");
    assert_eq!(
        lines[10],
        "steersman              after 3ms    2.00 ms  2.00 ms  2.00 ms      100       0  75.0 / 25.0 / 0.0"
    );
    assert!(
        lines[12].contains("127.0.0.1:9042 / 127.0.0.2:9042 / "),
        "{text}"
    );
}

#[test]
fn an_outage_is_when_nobody_answered_anything() {
    assert_eq!(outage(&scores(|| vec![round(1)])), None);
    let failed = || {
        let mut seen = Tally::default();
        seen.record(Duration::ZERO, Err("lost".to_owned()));
        let took = Duration::from_secs(1);
        Round { took, seen }
    };
    assert_eq!(outage(&scores(|| vec![failed()])), Some("lost"));
    assert_eq!(outage(&scores(|| vec![failed(), round(1)])), None);
}

#[test]
fn the_median_of_an_even_number_is_the_lower_one() {
    assert_eq!(median([3, 1, 2].into_iter()), Some(2));
    assert_eq!(median([4, 1, 3, 2].into_iter()), Some(2));
    assert_eq!(median(std::iter::empty::<u8>()), None);
}
