//! Policies that rank replicas, fed from real requests and probes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use steersman_memcached::{ReadPolicy, Replication};
use tokio::time::Instant;

use super::{Cluster, cluster};
use crate::network::{Peer, hit};

/// A server that takes so many milliseconds for each batch of requests, and what it was asked.
#[derive(Clone, Default)]
struct Served {
    millis: Arc<AtomicU64>,
    reads: Arc<AtomicU64>,
    probes: Arc<AtomicU64>,
}

fn serve(mut peer: Peer, millis: u64) -> Served {
    let served = Served::default();
    served.millis.store(millis, Ordering::Relaxed);
    let seen = served.clone();
    tokio::spawn(async move {
        loop {
            let requests = peer.read_some().await;
            if requests.is_empty() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(seen.millis.load(Ordering::Relaxed))).await;
            for line in requests.lines() {
                if let Some(keys) = line.strip_prefix("get ") {
                    let values: String = keys.split(' ').map(value).collect();
                    seen.reads.fetch_add(1, Ordering::Relaxed);
                    peer.reply(format!("{values}END\r\n")).await;
                } else if line == "version" {
                    // Asked before the first meta command.
                    peer.reply("VERSION 1.6.18\r\n").await;
                } else {
                    assert_eq!(line, "mn");
                    seen.probes.fetch_add(1, Ordering::Relaxed);
                    peer.reply("MN\r\n").await;
                }
            }
        }
    });
    served
}

fn value(key: &str) -> String {
    let hit = hit(key, "v");
    hit.strip_suffix("END\r\n").unwrap().to_owned()
}

/// Reads from four tasks for so long; returns how many reads each server got meanwhile.
async fn read(cluster: &Cluster, served: &[Served], span: Duration) -> Vec<u64> {
    let reads = || served.iter().map(|one| one.reads.load(Ordering::Relaxed));
    let before: Vec<_> = reads().collect();
    let end = Instant::now() + span;
    let tasks: Vec<_> = (0..4)
        .map(|task| {
            let client = cluster.client.clone();
            tokio::spawn(async move {
                for number in 0.. {
                    if Instant::now() >= end {
                        return;
                    }
                    client.get(format!("key-{task}-{number}")).await.unwrap();
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    reads()
        .zip(before)
        .map(|(now, before)| now - before)
        .collect()
}

const RANKED: [ReadPolicy; 5] = [
    ReadPolicy::Steady,
    ReadPolicy::PeakEwma,
    ReadPolicy::LeastInFlight,
    ReadPolicy::HotCold,
    ReadPolicy::CubicInFlight,
];

/// Of three replicas one becomes slow: it gets a small part of the reads, and its share back when it is
/// fast again.
#[tokio::test(start_paused = true)]
async fn a_slow_replica_is_read_less_until_it_is_fast_again() {
    for policy in RANKED {
        let replication = Replication::new(3).read_policy(policy).hedge(None);
        let mut cluster = cluster(replication).await;
        let served: Vec<_> = cluster.peers.drain(..).map(|peer| serve(peer, 2)).collect();
        let counts = read(&cluster, &served, Duration::from_secs(3)).await;
        let all: u64 = counts.iter().sum();
        assert!(
            counts.iter().all(|&count| count > all / 20),
            "{policy}: {counts:?}"
        );

        served[0].millis.store(40, Ordering::Relaxed);
        read(&cluster, &served, Duration::from_secs(2)).await;
        let counts = read(&cluster, &served, Duration::from_secs(3)).await;
        let all: u64 = counts.iter().sum();
        assert!(counts[0] < all / 8, "{policy}: {counts:?}");

        served[0].millis.store(2, Ordering::Relaxed);
        read(&cluster, &served, Duration::from_secs(30)).await;
        let counts = read(&cluster, &served, Duration::from_secs(3)).await;
        let all: u64 = counts.iter().sum();
        assert!(counts[0] > all / 20, "{policy}: {counts:?}");
    }
}

/// Nothing is in flight once all is answered, whatever became of it: given up, overtaken, timed out.
#[tokio::test(start_paused = true)]
async fn what_is_in_flight_is_counted_and_comes_to_nothing() {
    for policy in RANKED {
        let replication = Replication::new(2)
            .read_policy(policy)
            .hedge(steersman_memcached::Hedge::After(Duration::from_millis(5)))
            .hedge_budget(1.0, 10);
        let mut cluster = cluster(replication).await;
        let served: Vec<_> = cluster.peers.drain(..).map(|peer| serve(peer, 2)).collect();
        served[1].millis.store(20, Ordering::Relaxed);
        for number in 0..60 {
            let client = cluster.client.clone();
            let read = tokio::spawn(async move { client.get(format!("key-{number}")).await });
            tokio::time::sleep(Duration::from_millis(1 + number % 7)).await;
            if number % 3 == 0 {
                read.abort();
            }
        }
        tokio::time::sleep(Duration::from_secs(3)).await;
        for name in &cluster.names {
            let report = cluster.client.node(name).unwrap().latency_report().unwrap();
            assert_eq!(report.in_flight, Some(0), "{policy}, {name}: {report}");
        }
        let metrics = cluster.client.replication_metrics();
        assert!(
            metrics.hedges > 0 && metrics.cancelled > 0,
            "{policy}: {metrics:?}"
        );
        assert!(
            metrics.cancelled <= metrics.hedges + metrics.failovers,
            "{policy}: {metrics:?}"
        );
    }
}

/// Only `hot-cold` sends probes, to all replicas of the keys that are read and not more than ten times a
/// second.
#[tokio::test(start_paused = true)]
async fn probes_go_to_every_replica_and_are_few() {
    for policy in ReadPolicy::ALL {
        let mut cluster = cluster(Replication::new(3).read_policy(policy).hedge(None)).await;
        let served: Vec<_> = cluster.peers.drain(..).map(|peer| serve(peer, 2)).collect();
        read(&cluster, &served, Duration::from_secs(5)).await;
        for one in &served {
            let probes = one.probes.load(Ordering::Relaxed);
            if policy == ReadPolicy::HotCold {
                assert!((40..=51).contains(&probes), "{probes}");
            } else {
                assert_eq!(probes, 0, "{policy}");
            }
        }
    }
}
