//! Which replica a read asks, and which next.

use std::time::Duration;

use steersman_memcached::selection::{Replicas, RoundRobin};
use steersman_memcached::{ErrorKind, Replication};
use tokio::time::Instant;

use super::{KEY, cluster, cluster_with, owner_first, start};
use crate::network::{hit, settle};

#[tokio::test(start_paused = true)]
async fn a_read_asks_the_owner_alone() {
    let mut cluster = cluster(owner_first(2)).await;
    let get = start(cluster.client.get(KEY)).await;
    cluster.peers[0].exchange("get k\r\n", &hit(KEY, "v")).await;
    assert_eq!(get.await.unwrap().unwrap().unwrap().data, "v");
    let get = start(cluster.client.get(KEY)).await;
    cluster.peers[0].exchange("get k\r\n", "END\r\n").await;
    assert_eq!(get.await.unwrap().unwrap(), None, "a miss is an answer");
    cluster.unasked([1, 2]).await;
    assert_eq!(cluster.client.replication_metrics().reads, 2);
}

#[tokio::test(start_paused = true)]
async fn an_outage_falls_over_to_the_next_replica_at_once() {
    let mut cluster = cluster(owner_first(2)).await;
    let begin = Instant::now();
    let get = start(cluster.client.get(KEY)).await;
    cluster.peers[0].expect("get k\r\n").await;
    // The connection is lost, and the node is not reached again for a while.
    drop(cluster.peers.remove(0));
    cluster.peers[0].exchange("get k\r\n", &hit(KEY, "v")).await;
    assert_eq!(get.await.unwrap().unwrap().unwrap().data, "v");
    let get = start(cluster.client.get(KEY)).await;
    cluster.peers[0].exchange("get k\r\n", &hit(KEY, "v")).await;
    assert!(get.await.unwrap().unwrap().is_some());
    assert_eq!(begin.elapsed(), Duration::ZERO);
    assert_eq!(cluster.client.replication_metrics().failovers, 2);
}

#[tokio::test(start_paused = true)]
async fn an_error_line_is_no_last_word_either() {
    let mut cluster = cluster(owner_first(2)).await;
    let get = start(cluster.client.get(KEY)).await;
    let line = "SERVER_ERROR out of memory\r\n";
    cluster.peers[0].exchange("get k\r\n", line).await;
    cluster.peers[1].exchange("get k\r\n", line).await;
    let error = get.await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Server);
    assert_eq!(error.node(), Some(&*cluster.names[0]));
    let replicas: Vec<_> = error.replicas().unwrap().iter().collect();
    assert_eq!(replicas.len(), 2);
    assert!(replicas.iter().all(|(_, result)| result.is_err()));
    assert!(
        error.to_string().contains("2 of 2 replicas failed"),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_replica_that_hangs_takes_its_share_of_the_time_out_only() {
    let mut cluster = cluster(owner_first(2).hedge(None)).await;
    let begin = Instant::now();
    let get = start(cluster.client.get(KEY)).await;
    cluster.peers[0].expect("get k\r\n").await;
    cluster.peers[1].exchange("get k\r\n", &hit(KEY, "v")).await;
    assert!(get.await.unwrap().unwrap().is_some());
    assert_eq!(begin.elapsed(), Duration::from_millis(500));
    cluster.unasked([2]).await;
}

#[tokio::test(start_paused = true)]
async fn a_late_answer_is_welcome() {
    let replication = owner_first(2)
        .hedge(None)
        .attempt_timeout(Duration::from_millis(100));
    let mut cluster = cluster(replication).await;
    let begin = Instant::now();
    let get = start(cluster.client.get(KEY)).await;
    cluster.peers[0].expect("get k\r\n").await;
    cluster.peers[1].expect("get k\r\n").await;
    assert_eq!(begin.elapsed(), Duration::from_millis(100));
    tokio::time::sleep(Duration::from_millis(50)).await;
    cluster.peers[0].reply(hit(KEY, "late")).await;
    assert_eq!(get.await.unwrap().unwrap().unwrap().data, "late");
    assert_eq!(begin.elapsed(), Duration::from_millis(150));
}

#[tokio::test(start_paused = true)]
async fn the_time_out_covers_all_attempts() {
    let mut cluster = cluster(owner_first(3)).await;
    let begin = Instant::now();
    let error = cluster.client.get(KEY).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert_eq!(error.replicas().unwrap().iter().count(), 3);
    assert_eq!(begin.elapsed(), Duration::from_secs(1));
    for peer in &mut cluster.peers {
        peer.expect("get k\r\n").await;
    }
    let short = Duration::from_millis(30);
    let begin = Instant::now();
    let error = cluster.client.get(KEY).timeout(short).await.unwrap_err();
    assert!(error.to_string().contains("within 30ms"), "{error}");
    assert_eq!(begin.elapsed(), short);
}

#[tokio::test(start_paused = true)]
async fn a_miss_tries_the_next_replica_only_if_asked_to() {
    let mut cluster = cluster(owner_first(2).next_on_miss(true)).await;
    let get = start(cluster.client.get(KEY)).await;
    cluster.peers[0].exchange("get k\r\n", "END\r\n").await;
    cluster.peers[1].exchange("get k\r\n", &hit(KEY, "v")).await;
    assert_eq!(get.await.unwrap().unwrap().unwrap().data, "v");
    cluster.unasked([0]).await;
    let get = start(cluster.client.get(KEY)).await;
    cluster.peers[0].exchange("get k\r\n", "END\r\n").await;
    cluster.peers[1].exchange("get k\r\n", "END\r\n").await;
    assert_eq!(get.await.unwrap().unwrap(), None);
    cluster.unasked([2]).await;
}

#[tokio::test(start_paused = true)]
async fn a_miss_is_repaired_if_asked_to() {
    let minute = Duration::from_secs(60);
    let mut cluster = cluster(owner_first(2).repair(minute)).await;
    let get = start(cluster.client.get(KEY)).await;
    cluster.peers[0].exchange("get k\r\n", "END\r\n").await;
    let value = "VALUE k 7 1\r\nv\r\nEND\r\n";
    cluster.peers[1].exchange("get k\r\n", value).await;
    assert_eq!(get.await.unwrap().unwrap().unwrap().flags, 7);
    cluster.peers[0]
        .exchange("add k 7 60 1\r\nv\r\n", "STORED\r\n")
        .await;
    assert_eq!(cluster.client.replication_metrics().repairs, 1);
    cluster.unasked([0, 1, 2]).await;
}

#[tokio::test(start_paused = true)]
async fn cas_numbers_are_read_at_the_owner_only() {
    let mut cluster = cluster(owner_first(2)).await;
    let gets = start(cluster.client.gets(KEY)).await;
    let value = "VALUE k 0 1 42\r\nv\r\nEND\r\n";
    cluster.peers[0].exchange("gets k\r\n", value).await;
    assert_eq!(gets.await.unwrap().unwrap().unwrap().cas, Some(42));
    let begin = Instant::now();
    let error = cluster.client.gets(KEY).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert_eq!(begin.elapsed(), Duration::from_secs(1));
    cluster.unasked([1, 2]).await;
}

#[tokio::test(start_paused = true)]
async fn gat_gives_the_new_expiry_to_all() {
    let mut cluster = cluster(owner_first(2)).await;
    let minute = Duration::from_secs(60);
    let gat = start(cluster.client.gat(KEY, minute)).await;
    cluster.peers[0]
        .exchange("gat 60 k\r\n", &hit(KEY, "v"))
        .await;
    settle().await;
    assert!(!gat.is_finished(), "the other replica is still to be told");
    cluster.peers[1]
        .exchange("touch k 60\r\n", "TOUCHED\r\n")
        .await;
    assert_eq!(gat.await.unwrap().unwrap().unwrap().data, "v");

    // A replica that does not take it is no reason to withhold the value.
    let begin = Instant::now();
    let gats = start(cluster.client.gats(KEY, minute)).await;
    let value = "VALUE k 0 1 42\r\nv\r\nEND\r\n";
    cluster.peers[0].exchange("gats 60 k\r\n", value).await;
    assert_eq!(gats.await.unwrap().unwrap().unwrap().cas, Some(42));
    assert_eq!(begin.elapsed(), Duration::from_millis(500));
}

#[tokio::test(start_paused = true)]
async fn gat_falls_over_as_get_does() {
    let mut cluster = cluster(owner_first(2).hedge(None)).await;
    let gat = start(cluster.client.gat(KEY, Duration::from_secs(60))).await;
    cluster.peers[0].expect("gat 60 k\r\n").await;
    cluster.peers[1]
        .exchange("touch k 60\r\n", "TOUCHED\r\n")
        .await;
    cluster.peers[1].exchange("get k\r\n", &hit(KEY, "v")).await;
    assert!(gat.await.unwrap().unwrap().is_some());
}

#[tokio::test(start_paused = true)]
async fn many_keys_fall_over_each_by_itself() {
    let replication = owner_first(2).hedge(None);
    let mut cluster = cluster_with(replication, |builder| builder).await;
    let keys: Vec<String> = (0..20).map(|n| format!("key-{n}")).collect();
    let expected = keys.clone();
    let many = start(cluster.client.get_many(keys)).await;
    // The first node hangs; the others answer whatever they are asked, in whole lines.
    let begin = Instant::now();
    let [silent, second, third] = &mut cluster.peers[..] else {
        unreachable!("there are three nodes");
    };
    let answer = async |peer: &mut crate::network::Peer| {
        loop {
            for line in peer.read_some().await.lines() {
                let keys = line.strip_prefix("get ").unwrap().split(' ');
                let values = keys.map(|key| hit(key, key).replace("END\r\n", ""));
                let reply = format!("{}END\r\n", values.collect::<String>());
                peer.reply(reply).await;
            }
        }
    };
    let done = tokio::select! {
        done = many => done.unwrap(),
        () = answer(second) => unreachable!(),
        () = answer(third) => unreachable!(),
    };
    assert_eq!(begin.elapsed(), Duration::from_millis(500));
    assert_eq!(done.found.len(), 20, "{done:?}");
    for key in &expected {
        assert_eq!(done.found[key].data, *key);
    }
    let line = silent.read_some().await;
    assert!(line.starts_with("get "), "the silent node owned some keys");
    assert_eq!(line.lines().count(), 1, "its keys shared a line");
}

#[tokio::test(start_paused = true)]
async fn any_policy_orders_reads() {
    let shuffled = Replication::new(2).policy(Replicas::shuffled(1));
    let mut cluster = cluster(shuffled).await;
    let mut asked = [0; 3];
    for _ in 0..20 {
        let get = start(cluster.client.get(KEY)).await;
        let first = (0..3)
            .find(|&peer| !cluster.peers[peer].is_silent())
            .unwrap();
        // One byte of the request was looked at.
        cluster.peers[first].exchange("et k\r\n", "END\r\n").await;
        assert_eq!(get.await.unwrap().unwrap(), None);
        asked[first] += 1;
    }
    assert!(asked[0] > 3 && asked[1] > 3 && asked[2] == 0, "{asked:?}");
}

#[tokio::test(start_paused = true)]
async fn nodes_of_a_plan_that_do_not_hold_the_key_are_passed_over() {
    let mut cluster = cluster(Replication::new(2).policy(RoundRobin::new())).await;
    for _ in 0..6 {
        let get = start(cluster.client.get(KEY)).await;
        cluster.unasked([2]).await;
        let error = tokio::time::timeout(Duration::from_secs(2), get).await;
        let error = error.unwrap().unwrap().unwrap_err();
        assert_eq!(error.replicas().unwrap().iter().count(), 2);
        cluster.unasked([2]).await;
        for peer in &mut cluster.peers[..2] {
            // What `unasked` and the next round see starts afresh.
            peer.expect("get k\r\n").await;
        }
    }
}
