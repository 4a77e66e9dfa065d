//! What a client with replicas recorded of real servers, replayed under other policies.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::Value;
use steersman_e2e::command_line::steersman;
use steersman_memcached::{ReadPolicy, Replication};
use steersman_recorder::AttemptLog;
use steersman_testkit::FaultProxy;

use super::{LONG, memcached, quick, stored};

const KEYS: usize = 50;
const ROUNDS: usize = 16;
const SLOW: Duration = Duration::from_millis(200);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_replica_shows_in_the_replay_of_a_log() {
    let servers = [memcached(), memcached(), memcached()];
    let proxy = FaultProxy::start(servers[1].node()).await.unwrap();
    let nodes = [servers[0].node(), proxy.node(), servers[2].node()];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("attempts.jsonl");
    let log = AttemptLog::create(&path).unwrap();
    // In turn by lot, so that the log tells of all nodes alike.
    let replication = Replication::new(3)
        .read_policy(ReadPolicy::Shuffled)
        .hedge(None)
        .attempt_timeout(LONG)
        .record(log.clone());
    let client = quick(nodes.clone())
        .timeout(LONG)
        .replicas(replication)
        .build()
        .unwrap();
    client.ready(LONG).await.unwrap();
    let keys = stored(&client, KEYS).await;
    proxy.faults().set_latency(SLOW);
    for _ in 0..ROUNDS {
        let reads = join_all(keys.iter().map(async |key| client.get(key).await)).await;
        for (key, value) in keys.iter().zip(reads) {
            assert_eq!(value.unwrap().unwrap().data, *key);
        }
    }
    client.close().await;
    log.close().unwrap();
    // Three for each write, one for each read.
    let attempts = (3 + ROUNDS) * KEYS;
    assert_eq!((log.written(), log.dropped()), (attempts as u64, 0));

    let output = tokio::task::block_in_place(|| {
        let mut command = steersman();
        command.args(["simulate", "--json", "--seeds", "1", "--record"]);
        command.arg(&path);
        command.args(["--policy", "round-robin,peak-ewma"]);
        command.output().unwrap()
    });
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["attempts"], attempts);
    let names: Vec<&str> = report["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap())
        .collect();
    let slow = names.iter().position(|name| *name == nodes[1]).unwrap();
    assert_eq!(names.len(), 3);
    let share = |policy: usize| report["policies"][policy]["shares"][slow].as_f64().unwrap();
    assert!(share(0) > 0.25, "in turn: {report}");
    assert!(share(1) < 0.2, "by latency: {report}");
}
