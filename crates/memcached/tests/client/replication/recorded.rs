//! What is recorded of each attempt: never nothing, never twice.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use steersman_memcached::Hedge;
use steersman_memcached::selection::{
    Attempt, Call, Candidate, NodeIndex, Outcome, Policy, Replicas, ReplicasPlan, Timestamp, Turn,
};

use super::{Cluster, KEY, cluster, owner_first, start};
use crate::network::{hit, settle};

const DELAY: Duration = Duration::from_millis(10);

/// The replicas in order; keeps what is recorded.
struct Recorder {
    order: Replicas,
    attempts: Mutex<Vec<Attempt>>,
}

impl Policy for Recorder {
    type Plan<'a> = ReplicasPlan<'a>;

    fn plan<'a>(&'a self, call: Call<'a>) -> ReplicasPlan<'a> {
        self.order.plan(call)
    }

    fn appraise(
        &self,
        call: &Call<'_>,
        node: NodeIndex,
        now: Timestamp,
        turn: Turn,
    ) -> Option<Candidate> {
        self.order.appraise(call, node, now, turn)
    }

    fn record(&self, attempt: &Attempt) {
        self.attempts.lock().unwrap().push(*attempt);
    }
}

impl Recorder {
    /// What was recorded since the last time: outcomes and latencies in milliseconds.
    fn take(&self) -> Vec<(Outcome, i64)> {
        let attempts = std::mem::take(&mut *self.attempts.lock().unwrap());
        let told = attempts.iter();
        told.map(|attempt| (attempt.outcome(), attempt.latency_nanos() / 1_000_000))
            .collect()
    }
}

async fn recorded(replicas: usize) -> (Cluster, Arc<Recorder>) {
    let recorder = Arc::new(Recorder {
        order: Replicas::in_order(),
        attempts: Mutex::default(),
    });
    let replication = owner_first(replicas)
        .hedge(Hedge::After(DELAY))
        .policy(Arc::clone(&recorder));
    (cluster(replication).await, recorder)
}

/// A read at which the owner hangs and the other replica answers as soon as it is asked.
async fn slow_read(cluster: &mut Cluster) {
    let get = start(cluster.client.get(KEY)).await;
    cluster.peers[0].expect("get k\r\n").await;
    cluster.peers[1].exchange("get k\r\n", &hit(KEY, "v")).await;
    get.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_loser_is_recorded_when_its_reply_comes() {
    let (mut cluster, recorder) = recorded(2).await;
    slow_read(&mut cluster).await;
    assert_eq!(recorder.take(), [(Outcome::Success, 0)]);
    tokio::time::sleep(5 * DELAY).await;
    cluster.peers[0].reply(hit(KEY, "late")).await;
    settle().await;
    assert_eq!(recorder.take(), [(Outcome::Success, 60)]);
}

#[tokio::test(start_paused = true)]
async fn a_loser_that_never_answers_is_recorded_with_its_age() {
    let (mut cluster, recorder) = recorded(2).await;
    slow_read(&mut cluster).await;
    recorder.take();
    tokio::time::sleep(Duration::from_millis(480)).await;
    assert_eq!(recorder.take(), []);
    tokio::time::sleep(DELAY + DELAY / 2).await;
    let [(Outcome::TimedOut, age)] = recorder.take()[..] else {
        panic!("it was given up");
    };
    assert!((500..=501).contains(&age), "{age}");
    // The late reply is not counted again, and nobody takes it for another's.
    cluster.peers[0].reply(hit(KEY, "late")).await;
    settle().await;
    assert_eq!(recorder.take(), []);
    let get = start(cluster.client.get(KEY)).await;
    cluster.peers[0]
        .exchange("get k\r\n", &hit(KEY, "new"))
        .await;
    assert_eq!(get.await.unwrap().unwrap().unwrap().data, "new");
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_read_is_recorded_too() {
    let (mut cluster, recorder) = recorded(3).await;
    for answered in [true, false] {
        let get = start(cluster.client.get(KEY)).await;
        cluster.peers[0].expect("get k\r\n").await;
        get.abort();
        tokio::time::sleep(DELAY / 2).await;
        if answered {
            cluster.peers[0].reply(hit(KEY, "late")).await;
            settle().await;
            assert_eq!(recorder.take(), [(Outcome::Success, 5)]);
        } else {
            tokio::time::sleep(Duration::from_secs(1)).await;
            assert_eq!(recorder.take().len(), 1);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_read_that_was_not_sent_leaves_its_queue() {
    let (mut cluster, recorder) = recorded(2).await;
    // The owner is being reconnected to, so requests to it wait.
    let get = start(cluster.client.get(KEY)).await;
    cluster.peers[0].exchange("get k\r\n", "END\r\n").await;
    get.await.unwrap().unwrap();
    tokio::time::sleep(Duration::from_secs(2)).await;
    drop(cluster.peers.remove(0));
    recorder.take();
    let get = start(cluster.client.get(KEY)).await;
    tokio::time::sleep(DELAY / 2).await;
    get.abort();
    settle().await;
    assert_eq!(recorder.take(), [(Outcome::Cancelled, 5)]);
    let mut owner = cluster.attempts.next().await.accept();
    settle().await;
    assert!(owner.is_silent());
}

#[tokio::test(start_paused = true)]
async fn failures_and_writes_are_recorded() {
    let (mut cluster, recorder) = recorded(2).await;
    let set = start(cluster.client.set(KEY, "v")).await;
    tokio::time::sleep(DELAY).await;
    for (peer, reply) in ["STORED\r\n", "SERVER_ERROR out of memory\r\n"]
        .into_iter()
        .enumerate()
    {
        cluster.peers[peer]
            .exchange("set k 0 0 1\r\nv\r\n", reply)
            .await;
    }
    set.await.unwrap().unwrap_err();
    let mut told = recorder.take();
    told.sort_by_key(|(outcome, _)| *outcome != Outcome::Success);
    assert_eq!(told, [(Outcome::Success, 10), (Outcome::Failed, 10)]);

    let get = start(cluster.client.get(KEY)).await;
    drop(cluster.peers.remove(0));
    cluster.peers[0].exchange("get k\r\n", "END\r\n").await;
    assert_eq!(get.await.unwrap().unwrap(), None);
    let told: Vec<_> = recorder
        .take()
        .iter()
        .map(|(outcome, _)| *outcome)
        .collect();
    assert_eq!(told, [Outcome::Disconnected, Outcome::Success]);
}
