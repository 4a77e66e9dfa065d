use steersman_selection::{Call, LatencyAware, Locality, NodeIndex, Plan, RoundRobin};
use uuid::Uuid;

use super::*;
use crate::ledger::Entry;
use crate::roster::Sighting;

const MILLI: i64 = 1_000_000;

/// Three nodes under a latency-aware chain, with one request a millisecond in turn.
struct Cluster {
    policy: LatencyAware<RoundRobin>,
    roster: Roster,
    now: i64,
    /// When answers come, from whom, and when they were asked for.
    pending: Vec<(i64, NodeIndex, i64)>,
}

impl Cluster {
    fn new() -> Self {
        let sightings: Vec<_> = (0..3)
            .map(|number| Sighting {
                host_id: Uuid::from_u128(number),
                locality: Locality::unknown(),
                is_enabled: true,
                is_connected: true,
            })
            .collect();
        let now = Timestamp::from_nanos(0);
        let roster = Roster::default().succeed(&sightings, now);
        let policy = LatencyAware::new(RoundRobin::new());
        policy.topology_changed(roster.live(), now);
        Self {
            policy,
            roster,
            now: 0,
            pending: Vec::new(),
        }
    }

    /// So many requests; `latency` says how long a node takes, or that it never answers. Returns
    /// how many each node got.
    fn serve(&mut self, requests: usize, latency: impl Fn(usize) -> Option<i64>) -> [usize; 3] {
        let mut counts = [0; 3];
        for _ in 0..requests {
            self.now += MILLI;
            let now = Timestamp::from_nanos(self.now);
            self.pending.retain(|&(due, node, started)| {
                if due <= now.nanos() {
                    let ended = Timestamp::from_nanos(due);
                    let took = Duration::from_nanos((due - started).unsigned_abs());
                    let ledger = &self.roster.member(node).unwrap().ledger;
                    let entry = ledger.answered(Timestamp::from_nanos(started), ended);
                    let attempt = Attempt::new(node, ended, took, Outcome::Success);
                    if entry != Entry::Overdue || is_news(&self.policy, &attempt) {
                        self.policy.record(&attempt);
                    }
                }
                due > now.nanos()
            });
            let tell = |attempt: &Attempt| self.policy.record(attempt);
            settle(&self.policy, &self.roster, now, tell);
            if self.now % (100 * MILLI) == 0 {
                self.policy.tick(now);
            }
            let node = self
                .policy
                .plan(Call::new(self.roster.live()))
                .next(now)
                .unwrap();
            self.roster.member(node).unwrap().ledger.picked(now);
            counts[node.get()] += 1;
            if let Some(latency) = latency(node.get()) {
                self.pending.push((self.now + latency, node, self.now));
            }
        }
        counts
    }

    fn unanswered(&self) -> Vec<u64> {
        self.roster
            .members()
            .map(|(_, member)| member.ledger.unanswered())
            .collect()
    }
}

#[test]
fn nodes_that_answer_are_not_suspected() {
    let mut cluster = Cluster::new();
    let counts = cluster.serve(5_000, |_| Some(2 * MILLI));
    assert_eq!(cluster.unanswered(), [0, 0, 0]);
    assert!(
        counts.iter().all(|count| (1_600..1_700).contains(count)),
        "{counts:?}"
    );
}

#[test]
fn a_node_that_stops_answering_loses_its_requests() {
    let mut cluster = Cluster::new();
    cluster.serve(2_000, |_| Some(2 * MILLI));
    let hung = |node| (node != 1).then_some(2 * MILLI);
    let counts = cluster.serve(1_000, hung);
    assert!(counts[1] < 150, "{counts:?}");
    let unanswered = cluster.unanswered();
    assert!(
        unanswered[0] + unanswered[2] == 0 && unanswered[1] > 50,
        "{unanswered:?}"
    );
    let counts = cluster.serve(5_000, hung);
    assert!(counts[1] <= 1, "but for a probe: {counts:?}");
}

#[test]
fn a_slow_node_is_judged_by_its_answers() {
    let mut cluster = Cluster::new();
    cluster.serve(2_000, |_| Some(2 * MILLI));
    let slow = |node| Some(if node == 1 { 50 * MILLI } else { 2 * MILLI });
    cluster.serve(1_000, slow);
    let counts = cluster.serve(2_000, slow);
    assert!(counts[1] <= 3, "but for a series of probes: {counts:?}");
    let counts = cluster.serve(2_000, slow);
    assert!(counts[1] <= 1, "but for a probe: {counts:?}");
    let now = Timestamp::from_nanos(cluster.now);
    let report = cluster
        .policy
        .report(NodeIndex::try_from(1).unwrap(), now)
        .unwrap();
    let average = report.score.unwrap().average_nanos;
    assert!((40 * MILLI..=60 * MILLI).contains(&average), "{average}");
}

#[test]
fn what_comes_late_is_not_unanswered_any_longer() {
    let mut cluster = Cluster::new();
    cluster.serve(2_000, |_| Some(2 * MILLI));
    let slow = |node| Some(if node == 1 { 40 * MILLI } else { 2 * MILLI });
    cluster.serve(60, slow);
    assert!(cluster.unanswered()[1] > 0, "some are overdue");
    cluster.serve(100, |_| Some(2 * MILLI));
    assert_eq!(cluster.unanswered(), [0, 0, 0]);
    let node = NodeIndex::try_from(1).unwrap();
    assert!(cluster.roster.member(node).unwrap().ledger.late() > 0);
}

#[test]
fn a_late_answer_is_news_only_if_it_is_slower_than_the_average() {
    let mut cluster = Cluster::new();
    let node = NodeIndex::default();
    let is_news_after = |cluster: &Cluster, millis| {
        let (now, took) = (
            Timestamp::from_nanos(cluster.now),
            Duration::from_millis(millis),
        );
        is_news(
            &cluster.policy,
            &Attempt::new(node, now, took, Outcome::Success),
        )
    };
    assert!(is_news_after(&cluster, 1), "nothing is known");
    cluster.serve(2_000, |_| Some(2 * MILLI));
    assert!(!is_news_after(&cluster, 1) && !is_news_after(&cluster, 2));
    assert!(is_news_after(&cluster, 3));
}

#[test]
fn patience_follows_the_limit_and_the_average() {
    let cluster = Cluster::new();
    let now = Timestamp::from_nanos(0);
    let mut report = cluster.policy.report(NodeIndex::default(), now).unwrap();
    assert_eq!(patience_nanos(&report), UNKNOWN_NANOS);
    report.limit_nanos = Some(2 * MILLI);
    assert_eq!(patience_nanos(&report), LEAST_NANOS);
    report.limit_nanos = Some(40 * MILLI);
    assert_eq!(patience_nanos(&report), 160 * MILLI);
    report.limit_nanos = Some(i64::MAX);
    assert_eq!(patience_nanos(&report), HORIZON_NANOS);
}
