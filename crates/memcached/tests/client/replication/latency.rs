//! Scores are fed from real requests: a replica that becomes slow is read last.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use super::{cluster, owner_first};
use crate::network::{Peer, hit};

/// A server that answers each read after so many milliseconds, and counts them.
struct Served {
    millis: Arc<AtomicU64>,
    reads: Arc<AtomicUsize>,
}

fn serve(mut peer: Peer, millis: u64) -> Served {
    let served = Served {
        millis: Arc::new(AtomicU64::new(millis)),
        reads: Arc::default(),
    };
    let (millis, reads) = (Arc::clone(&served.millis), Arc::clone(&served.reads));
    tokio::spawn(async move {
        loop {
            let requests = peer.read_some().await;
            if requests.is_empty() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(millis.load(Ordering::Relaxed))).await;
            for key in requests.lines().map(|line| &line["get ".len()..]) {
                reads.fetch_add(1, Ordering::Relaxed);
                peer.reply(hit(key, "v")).await;
            }
        }
    });
    served
}

#[tokio::test(start_paused = true)]
async fn a_slow_replica_is_read_last_until_it_is_fast_again() {
    let mut cluster = cluster(owner_first(2).hedge(None)).await;
    let [owner, second, third] = &cluster.names[..] else {
        unreachable!("there are three nodes");
    };
    let others = [
        serve(cluster.peers.remove(1), 2),
        serve(cluster.peers.remove(1), 2),
    ];
    let slow = serve(cluster.peers.remove(0), 2);
    let client = &cluster.client;
    // A key of each node, so that there is something to compare with.
    let keys = [owner, second, third].map(|node| {
        let mut keys = (0..).map(|n| format!("key-{n}"));
        let owned = keys.find(|key| client.node_for_key(key).unwrap().name() == node);
        owned.expect("every node owns some of them")
    });
    // How many of its reads went to the first node, and how many reads there were.
    let read_for = async |span: Duration| {
        let end = tokio::time::Instant::now() + span;
        let before = slow.reads.load(Ordering::Relaxed);
        let mut reads = 0;
        while tokio::time::Instant::now() < end {
            for key in &keys {
                client.get(key).await.unwrap();
                reads += 1;
            }
        }
        (slow.reads.load(Ordering::Relaxed) - before, reads)
    };
    let (first, all) = read_for(Duration::from_secs(2)).await;
    assert!(all > 500 && first == all / 3, "{first} of {all}");

    slow.millis.store(30, Ordering::Relaxed);
    read_for(Duration::from_secs(2)).await;
    let (first, all) = read_for(Duration::from_secs(2)).await;
    assert!(all > 500 && first == 0, "{first} of {all}");
    let report = client.node(owner).unwrap().latency_report().unwrap();
    assert!(report.condition.is_penalised(), "{report:?}");

    slow.millis.store(2, Ordering::Relaxed);
    read_for(Duration::from_secs(15)).await;
    let (first, all) = read_for(Duration::from_secs(2)).await;
    assert_eq!(first, all / 3);
    drop(others);
}
