//! Real servers killed, paused and restarted under load: never a wrong value, never a hang, and
//! misses only where a server lost its memory. [Chaos](steersman_e2e::chaos) does more of it, by chance; here every
//! step is known.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use steersman_e2e::memcached::RealMemcached;
use steersman_memcached::{Bytes, Client, ErrorKind};
use steersman_testkit::ledger::Stamp;

use super::{LONG, memcached, quick};

const KEYS: usize = 3_000;
const TASKS: usize = 64;

/// The only value that a key ever has; it tells its key and whether it is whole.
fn value(key: &str) -> Bytes {
    let stamp = Stamp {
        key,
        writer: 0,
        version: 1,
    };
    stamp.value(key.len() * 35 % 250)
}

struct Seen {
    stop: AtomicBool,
    hits: AtomicU64,
    missed: Mutex<HashSet<String>>,
    failed: Mutex<HashSet<String>>,
}

async fn read(client: Client, seed: u64, seen: Arc<Seen>) {
    let mut random = fastrand::Rng::with_seed(seed);
    while !seen.stop.load(Ordering::Relaxed) {
        let key = format!("key-{}", random.usize(..KEYS));
        let read = tokio::time::timeout(LONG, client.get(&key)).await;
        match read.expect("no call outlives its time-out by that much") {
            Ok(Some(found)) => {
                assert_eq!(
                    found.data,
                    value(&key),
                    "another value than was stored for {key}"
                );
                seen.hits.fetch_add(1, Ordering::Relaxed);
            }
            Ok(None) => drop(seen.missed.lock().unwrap().insert(key)),
            Err(error) => {
                assert_ne!(error.kind(), ErrorKind::Protocol, "{error}");
                seen.failed.lock().unwrap().insert(key);
                // What fails at once would keep the processor from the servers.
                tokio::task::yield_now().await;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_killed_paused_and_restarted_under_load() {
    let mut servers = [memcached(), memcached(), memcached()];
    let client = quick(servers.iter().map(RealMemcached::node))
        .timeout(Duration::from_secs(3))
        .stalled_after(Duration::from_secs(1))
        .build()
        .unwrap();
    for n in 0..KEYS {
        let key = format!("key-{n}");
        client.set(&key, value(&key)).noreply().await.unwrap();
    }
    let keys: Vec<String> = (0..KEYS).map(|n| format!("key-{n}")).collect();
    assert_eq!(
        client.get_many(&keys).await.into_result().unwrap().len(),
        KEYS
    );
    let owner = |key: &str| client.node_for_key(key).unwrap().name().to_owned();

    let seen = Arc::new(Seen {
        stop: AtomicBool::new(false),
        hits: AtomicU64::new(0),
        missed: Mutex::default(),
        failed: Mutex::default(),
    });
    let tasks: Vec<_> = (0..TASKS)
        .map(|task| tokio::spawn(read(client.clone(), task as u64, Arc::clone(&seen))))
        .collect();
    let more_hits = async || {
        let enough = seen.hits.load(Ordering::Relaxed) + 2_000;
        while seen.hits.load(Ordering::Relaxed) < enough {
            tokio::task::yield_now().await;
        }
    };
    let some_fail = async |of: &str| {
        while !seen
            .failed
            .lock()
            .unwrap()
            .iter()
            .any(|key| owner(key) == of)
        {
            tokio::task::yield_now().await;
        }
    };
    let script = async {
        more_hits().await;
        // Paused, then going on: it fails, and comes back with its memory.
        servers[0].pause().unwrap();
        some_fail(&servers[0].node()).await;
        more_hits().await;
        servers[0].resume().unwrap();
        client.ready(LONG).await.unwrap();
        more_hits().await;
        assert_eq!(seen.missed.lock().unwrap().len(), 0, "nothing was lost yet");
        // Killed and started again: it comes back empty.
        servers[1].kill().unwrap();
        some_fail(&servers[1].node()).await;
        more_hits().await;
        servers[1].restart().unwrap();
        client.ready(LONG).await.unwrap();
        more_hits().await;
    };
    tokio::time::timeout(3 * LONG, script)
        .await
        .expect("everything is noticed in time");
    seen.stop.store(true, Ordering::Relaxed);
    for task in tasks {
        task.await.unwrap();
    }
    let (lost, third) = (servers[1].node(), servers[2].node());
    assert!(
        seen.missed
            .lock()
            .unwrap()
            .iter()
            .all(|key| owner(key) == lost)
    );
    assert!(
        seen.failed
            .lock()
            .unwrap()
            .iter()
            .all(|key| owner(key) != third)
    );
    client.close().await;
    for (node, metrics) in client.connection_pool_metrics() {
        assert_eq!(
            (metrics.in_flight, metrics.waiting),
            (0, 0),
            "{node}: {metrics:?}"
        );
        assert_eq!(
            metrics.connections_created, metrics.connections_closed,
            "{node}"
        );
    }
}
