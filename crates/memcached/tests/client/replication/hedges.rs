//! Hedged reads: when they are begun, and what they may cost.

use std::time::Duration;

use steersman_memcached::{Hedge, Replication};
use tokio::time::Instant;

use super::{Cluster, KEY, cluster, owner_first, start};
use crate::network::hit;

const DELAY: Duration = Duration::from_millis(10);

fn hedged() -> Replication {
    owner_first(2).hedge(Hedge::After(DELAY))
}

/// A read at which the owner hangs and the other replica answers as soon as it is asked.
async fn slow_read(cluster: &mut Cluster) -> Duration {
    let begin = Instant::now();
    let get = start(cluster.client.get(KEY)).await;
    cluster.peers[0].expect("get k\r\n").await;
    cluster.peers[1].exchange("get k\r\n", &hit(KEY, "v")).await;
    get.await.unwrap().unwrap();
    begin.elapsed()
}

#[tokio::test(start_paused = true)]
async fn the_next_replica_is_asked_after_the_delay_and_the_first_answer_wins() {
    let mut cluster = cluster(hedged()).await;
    assert_eq!(slow_read(&mut cluster).await, DELAY);
    // The owner's own answer wins if it comes first after all.
    let get = start(cluster.client.get(KEY)).await;
    cluster.peers[1].expect("get k\r\n").await;
    cluster.peers[0]
        .reply([hit(KEY, "old"), hit(KEY, "first")].concat())
        .await;
    assert_eq!(get.await.unwrap().unwrap().unwrap().data, "first");
    cluster.unasked([2]).await;
    assert_eq!(cluster.client.replication_metrics().hedges, 2);
}

#[tokio::test(start_paused = true)]
async fn a_fast_answer_needs_no_hedge() {
    let mut cluster = cluster(hedged()).await;
    let get = start(cluster.client.get(KEY)).await;
    cluster.peers[0].exchange("get k\r\n", &hit(KEY, "v")).await;
    get.await.unwrap().unwrap();
    tokio::time::sleep(2 * DELAY).await;
    cluster.unasked([1, 2]).await;
    assert_eq!(cluster.client.replication_metrics().hedges, 0);
}

#[tokio::test(start_paused = true)]
async fn the_budget_is_never_exceeded() {
    let mut cluster = cluster(hedged().hedge_budget(0.5, 2)).await;
    let late = Duration::from_millis(500);
    let mut took = Vec::new();
    for _ in 0..6 {
        took.push(slow_read(&mut cluster).await);
    }
    // Two saved up, the first read came to a full bucket; from then on one for two reads.
    assert_eq!(took, [DELAY, DELAY, DELAY, late, DELAY, late]);
    let metrics = cluster.client.replication_metrics();
    assert_eq!((metrics.hedges, metrics.hedges_denied), (4, 2));
}

#[tokio::test(start_paused = true)]
async fn the_delay_follows_the_fastest_replica() {
    let replication = owner_first(2).hedge(Hedge::Percentile(0.95));
    let mut cluster = cluster(replication).await;
    assert_eq!(
        slow_read(&mut cluster).await,
        Duration::from_millis(500),
        "nothing is known yet"
    );
    cluster.peers[0].reply(hit(KEY, "late")).await;
    for _ in 0..32 {
        let get = start(cluster.client.get(KEY)).await;
        cluster.peers[0].expect("get k\r\n").await;
        tokio::time::sleep(Duration::from_millis(20)).await;
        cluster.peers[0].reply(hit(KEY, "v")).await;
        get.await.unwrap().unwrap();
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(slow_read(&mut cluster).await, Duration::from_millis(20));
}
