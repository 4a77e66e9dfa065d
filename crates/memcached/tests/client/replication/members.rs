//! Replicas follow the members, and options are checked.

use std::time::Duration;

use steersman_memcached::{Client, ErrorKind, Hedge, NodeConfig, Replication, ReplicationMetrics};

use super::{KEY, cluster, start};
use crate::network::{hit, settle};

#[tokio::test(start_paused = true)]
async fn a_node_that_leaves_is_replaced_by_the_next_best() {
    let mut cluster = cluster(2).await;
    let names = cluster.names.clone();
    cluster.client.remove_node(&names[0]).unwrap();
    let now: Vec<_> = cluster.client.replicas_for_key(KEY).unwrap();
    let now: Vec<_> = now.iter().map(NodeConfig::name).collect();
    assert_eq!(now, [&*names[1], &*names[2]]);
    let get = start(cluster.client.get(KEY)).await;
    cluster.peers[1].exchange("get k\r\n", &hit(KEY, "v")).await;
    assert!(get.await.unwrap().unwrap().is_some());

    // It comes back under another address and is asked again; what was measured of it is gone.
    let node = format!("{}=other:1", names[0]);
    cluster.client.add_node(&*node).unwrap();
    let mut owner = cluster.attempts.next().await.accept();
    settle().await;
    let get = start(cluster.client.get(KEY)).await;
    owner.exchange("get k\r\n", &hit(KEY, "w")).await;
    assert_eq!(get.await.unwrap().unwrap().unwrap().data, "w");
}

#[tokio::test(start_paused = true)]
async fn what_a_replica_may_have_done_is_not_done_again_when_another_one_leaves() {
    let mut cluster = cluster(2).await;
    let set = start(cluster.client.set(KEY, "u")).await;
    for peer in &mut cluster.peers[..2] {
        peer.exchange("set k 0 0 1\r\nu\r\n", "STORED\r\n").await;
    }
    set.await.unwrap().unwrap();
    // The owner's request waits for a connection, the other one's is lost on its way.
    drop(cluster.peers.remove(0));
    let _hangs = cluster.attempts.next().await;
    let set = start(cluster.client.set(KEY, "v")).await;
    let mut second = cluster.peers.remove(0);
    second.expect("set k 0 0 1\r\nv\r\n").await;
    drop(second);
    settle().await;
    cluster.client.remove_node(&cluster.names[0]).unwrap();
    cluster.unasked([0]).await;
    let error = set.await.unwrap().unwrap_err();
    assert!(error.maybe_executed(), "{error}");
}

#[tokio::test(start_paused = true)]
async fn more_replicas_than_nodes_are_all_nodes() {
    let mut cluster = cluster(5).await;
    assert_eq!(cluster.client.replicas_for_key(KEY).unwrap().len(), 3);
    let set = start(cluster.client.set(KEY, "v")).await;
    for peer in &mut cluster.peers {
        peer.exchange("set k 0 0 1\r\nv\r\n", "STORED\r\n").await;
    }
    set.await.unwrap().unwrap();
}

#[test]
fn options_are_checked() {
    let faulty = [
        ("replicas", Replication::new(0)),
        ("replicas", Replication::new(17)),
        (
            "attempt_timeout",
            Replication::new(2).attempt_timeout(Duration::ZERO),
        ),
        ("hedge", Replication::new(2).hedge(Hedge::Percentile(95.0))),
        (
            "hedge",
            Replication::new(2).hedge(Hedge::Percentile(f64::NAN)),
        ),
        ("hedge_budget", Replication::new(2).hedge_budget(-0.1, 1)),
    ];
    for (option, replication) in faulty {
        let builder = Client::builder().node("host:1").replicas(replication);
        let error = builder.build().unwrap_err();
        assert_eq!(
            (error.kind(), error.option()),
            (ErrorKind::Config, Some(option))
        );
    }
}

#[tokio::test(start_paused = true)]
async fn one_replica_is_no_replication() {
    let mut cluster = cluster(1).await;
    let get = start(cluster.client.get(KEY)).await;
    cluster.peers[0].exchange("get k\r\n", "END\r\n").await;
    assert_eq!(get.await.unwrap().unwrap(), None);
    assert_eq!(cluster.client.replicas_for_key(KEY).unwrap().len(), 1);
    let report = cluster.client.node("a").unwrap().latency_report();
    assert!(report.is_none());
    assert_eq!(
        cluster.client.replication_metrics(),
        ReplicationMetrics::default()
    );
    let written = start(cluster.client.set(KEY, "v").reported()).await;
    cluster.peers[0]
        .exchange("set k 0 0 1\r\nv\r\n", "STORED\r\n")
        .await;
    assert_eq!(written.await.unwrap().unwrap().replicas.iter().count(), 0);
}
