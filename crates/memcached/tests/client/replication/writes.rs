//! What a write does at each replica, and what is told when some of them fail.

use std::time::Duration;

use steersman_memcached::{
    CasOutcome, ErrorKind, PerNode, Replication, StoreOutcome, WriteSuccess,
};
use tokio::time::Instant;

use super::{Cluster, KEY, cluster, start};
use crate::network::settle;

fn any() -> Replication {
    Replication::new(2).write_success(WriteSuccess::Any)
}

/// Which replicas have failed.
fn failed(replicas: &PerNode<()>) -> Vec<String> {
    let failed = replicas.iter().filter(|(_, result)| result.is_err());
    failed.map(|(name, _)| name.to_string()).collect()
}

impl Cluster {
    /// Answers a request at each of the key's two replicas.
    async fn both(&mut self, requests: [&str; 2], replies: [&str; 2]) {
        for peer in 0..2 {
            self.peers[peer]
                .exchange(requests[peer], replies[peer])
                .await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn writes_go_to_all_replicas() {
    let mut cluster = cluster(2).await;
    let set = start(cluster.client.set(KEY, "v").flags(3)).await;
    cluster
        .both(["set k 3 0 1\r\nv\r\n"; 2], ["STORED\r\n"; 2])
        .await;
    set.await.unwrap().unwrap();
    let delete = start(cluster.client.delete(KEY)).await;
    cluster
        .both(["delete k\r\n"; 2], ["NOT_FOUND\r\n", "DELETED\r\n"])
        .await;
    assert!(delete.await.unwrap().unwrap(), "it was somewhere");
    let touch = start(cluster.client.touch(KEY, Duration::from_secs(9))).await;
    cluster
        .both(["touch k 9\r\n"; 2], ["NOT_FOUND\r\n"; 2])
        .await;
    assert!(!touch.await.unwrap().unwrap(), "it was nowhere");
    cluster.unasked([0, 1, 2]).await;
}

#[tokio::test(start_paused = true)]
async fn a_partial_failure_says_where() {
    let line = "SERVER_ERROR out of memory storing object\r\n";
    for (replication, succeeds) in [(Replication::new(2), false), (any(), true)] {
        let mut cluster = cluster(replication).await;
        let set = start(cluster.client.set(KEY, "v").reported()).await;
        cluster
            .both(["set k 0 0 1\r\nv\r\n"; 2], ["STORED\r\n", line])
            .await;
        let second = cluster.names[1].clone();
        match set.await.unwrap() {
            Ok(written) => {
                assert!(succeeds);
                assert_eq!(written.replicas.iter().count(), 2);
                assert_eq!(failed(&written.replicas), [second]);
            }
            Err(error) => {
                assert!(!succeeds, "{error}");
                assert_eq!(error.kind(), ErrorKind::Server);
                assert_eq!(error.node(), Some(&*second));
                assert!(error.maybe_executed(), "the other replica did it");
                assert_eq!(failed(error.replicas().unwrap()), [second]);
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn with_no_replica_even_any_fails() {
    let mut cluster = cluster(any()).await;
    let set = start(cluster.client.set(KEY, "v")).await;
    let refusals = ["SERVER_ERROR object too large for cache\r\n"; 2];
    cluster.both(["set k 0 0 1\r\nv\r\n"; 2], refusals).await;
    let error = set.await.unwrap().unwrap_err();
    assert!(!error.maybe_executed(), "{error}");
    assert_eq!(failed(error.replicas().unwrap()).len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_replica_that_hangs_delays_a_write_as_configured() {
    for (replication, millis) in [(Replication::new(2), 1_000), (any(), 500)] {
        let mut cluster = cluster(replication).await;
        let begin = Instant::now();
        let set = start(cluster.client.set(KEY, "v").reported()).await;
        let request = "set k 0 0 1\r\nv\r\n";
        cluster.peers[0].expect(request).await;
        cluster.peers[1].exchange(request, "STORED\r\n").await;
        let report = match set.await.unwrap() {
            Ok(written) => written.replicas,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Timeout);
                error.replicas().unwrap().clone()
            }
        };
        assert_eq!(begin.elapsed(), Duration::from_millis(millis));
        assert_eq!(failed(&report), [cluster.names[0].clone()]);
    }
}

#[tokio::test(start_paused = true)]
async fn the_owner_decides_and_the_others_get_the_value() {
    let mut cluster = cluster(2).await;
    let add = start(
        cluster
            .client
            .add(KEY, "v")
            .expires_in(Duration::from_secs(9)),
    )
    .await;
    cluster.unasked([1]).await;
    cluster.peers[0]
        .exchange("add k 0 9 1\r\nv\r\n", "STORED\r\n")
        .await;
    cluster.peers[1]
        .exchange("set k 0 9 1\r\nv\r\n", "STORED\r\n")
        .await;
    assert_eq!(add.await.unwrap().unwrap(), StoreOutcome::Stored);

    let cas = start(cluster.client.cas(KEY, "w", 42)).await;
    cluster.peers[0]
        .exchange("cas k 0 0 1 42\r\nw\r\n", "STORED\r\n")
        .await;
    cluster.peers[1]
        .exchange("set k 0 0 1\r\nw\r\n", "STORED\r\n")
        .await;
    assert_eq!(cas.await.unwrap().unwrap(), CasOutcome::Stored);

    let replace = start(cluster.client.replace(KEY, "x")).await;
    cluster.peers[0]
        .exchange("replace k 0 0 1\r\nx\r\n", "NOT_STORED\r\n")
        .await;
    assert_eq!(replace.await.unwrap().unwrap(), StoreOutcome::NotStored);
    let cas = start(cluster.client.cas(KEY, "w", 42)).await;
    cluster.peers[0]
        .exchange("cas k 0 0 1 42\r\nw\r\n", "EXISTS\r\n")
        .await;
    assert_eq!(cas.await.unwrap().unwrap(), CasOutcome::Exists);
    cluster.unasked([0, 1, 2]).await;
}

#[tokio::test(start_paused = true)]
async fn what_only_the_owner_knows_the_others_forget() {
    let mut cluster = cluster(2).await;
    let append = start(cluster.client.append(KEY, "v")).await;
    cluster
        .both(
            ["append k 0 0 1\r\nv\r\n", "delete k\r\n"],
            ["STORED\r\n", "NOT_FOUND\r\n"],
        )
        .await;
    assert_eq!(append.await.unwrap().unwrap(), StoreOutcome::Stored);
    let increment = start(cluster.client.increment(KEY, 2)).await;
    cluster
        .both(["incr k 2\r\n", "delete k\r\n"], ["7\r\n", "DELETED\r\n"])
        .await;
    assert_eq!(increment.await.unwrap().unwrap(), Some(7));
    let decrement = start(cluster.client.decrement(KEY, 2)).await;
    cluster.peers[0]
        .exchange("decr k 2\r\n", "NOT_FOUND\r\n")
        .await;
    assert_eq!(decrement.await.unwrap().unwrap(), None);
    cluster.unasked([0, 1, 2]).await;
}

#[tokio::test(start_paused = true)]
async fn the_others_forget_when_it_is_not_known_what_the_owner_did() {
    // The owner does not answer.
    let mut cluster = cluster(2).await;
    let add = start(cluster.client.add(KEY, "v")).await;
    cluster.peers[0].expect("add k 0 0 1\r\nv\r\n").await;
    let error = add.await.unwrap().unwrap_err();
    assert!(error.maybe_executed());
    cluster.peers[1]
        .exchange("delete k\r\n", "DELETED\r\n")
        .await;

    // The caller leaves.
    let cas = start(cluster.client.cas(KEY, "v", 1)).await;
    cluster.peers[0].expect("cas k 0 0 1 1\r\nv\r\n").await;
    cas.abort();
    cluster.peers[1]
        .exchange("delete k\r\n", "DELETED\r\n")
        .await;

    // An owner that has refused leaves no doubt.
    let append = start(cluster.client.append(KEY, "v")).await;
    cluster.peers[0].expect("append k 0 0 1\r\nv\r\n").await;
    cluster.peers[0]
        .reply("STORED\r\nSTORED\r\nSERVER_ERROR out of memory\r\n")
        .await;
    assert!(!append.await.unwrap().unwrap_err().maybe_executed());
    cluster.unasked([1, 2]).await;
}

#[tokio::test(start_paused = true)]
async fn noreply_writes_are_queued_at_all_replicas() {
    let mut cluster = cluster(2).await;
    let client = cluster.client.clone();
    client.set(KEY, "v").noreply().await.unwrap();
    client.increment(KEY, 1).noreply().await.unwrap();
    cluster.peers[0]
        .expect("set k 0 0 1\r\nv\r\nincr k 1\r\n")
        .await;
    cluster.peers[1]
        .expect("set k 0 0 1\r\nv\r\ndelete k\r\n")
        .await;
    settle().await;
    cluster.unasked([0, 1, 2]).await;
}

#[tokio::test(start_paused = true)]
async fn faulty_arguments_reach_no_replica() {
    let mut cluster = cluster(2).await;
    let error = cluster.client.get("two words").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidKey);
    let many = cluster.client.get_many(["two words"]).await;
    assert_eq!(many.failed[0].1.kind(), ErrorKind::InvalidKey);
    cluster.unasked([0, 1, 2]).await;
}
