//! Many tasks, dropped futures and servers that fail in every way at once: a value is never
//! another key's, nothing hangs, the counts balance, and all is well again afterwards.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use steersman_memcached::{Backoff, Builder, Bytes, Client, ErrorKind};
use steersman_testkit::ledger::Stamp;
use steersman_testkit::{Ending, Server, Times};

const TASKS: usize = 32;
const ROUNDS: usize = 200;
const KEYS: usize = 200;

/// A small generator, so that a run can be repeated.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % bound
    }
}

fn key(random: &mut Random) -> String {
    format!("key-{}", random.below(KEYS as u64))
}

/// A value that says whose it is and whether it is whole.
fn value(key: &str, random: &mut Random) -> Bytes {
    let (writer, version) = (0, random.below(u64::MAX));
    let stamp = Stamp {
        key,
        writer,
        version,
    };
    stamp.value(usize::try_from(random.below(2_000)).unwrap())
}

fn check(key: &str, data: &[u8]) {
    let stamp = Stamp::read(data).unwrap_or_else(|damage| panic!("{key}: {damage}"));
    assert_eq!(stamp.key, key, "the value of another key");
}

/// What the tasks have come to.
#[derive(Default)]
struct Progress {
    /// How many calls were made, dropped ones included.
    calls: AtomicU64,
    /// How many tasks are done.
    done: AtomicUsize,
}

async fn work(client: Client, seed: u64, progress: Arc<Progress>) {
    let mut random = Random(seed);
    for _ in 0..ROUNDS {
        progress.calls.fetch_add(1, Ordering::Relaxed);
        let key = key(&mut random);
        let patience = Duration::from_micros(random.below(2_000));
        match random.below(8) {
            0 => {
                let _ = client.set(&key, value(&key, &mut random)).await;
            }
            1 => {
                let _ = client.set(&key, value(&key, &mut random)).noreply().await;
            }
            2 => {
                let _ = client.delete(&key).await;
            }
            3 => {
                // Dropped at whatever point it has reached.
                let _ = tokio::time::timeout(patience, client.get(&key)).await;
            }
            4 => {
                let keys: Vec<String> = (0..20).map(|_| self::key(&mut random)).collect();
                let many = client.get_many(&keys).await;
                for (key, value) in &many.found {
                    check(key, &value.data);
                }
                let mut unique = keys.clone();
                unique.sort_unstable();
                unique.dedup();
                let accounted = many.found.len() + many.missing.len() + many.failed.len();
                assert_eq!(accounted, unique.len());
            }
            5 => {
                if let Ok(Some(value)) = client.gets(&key).timeout(patience).await {
                    check(&key, &value.data);
                    let changed = self::value(&key, &mut random);
                    progress.calls.fetch_add(1, Ordering::Relaxed);
                    let _ = client
                        .cas(&key, changed, value.cas.expect("gets gives it"))
                        .await;
                }
            }
            _ => match client.get(&key).await {
                Ok(Some(value)) => check(&key, &value.data),
                Ok(None) => {}
                Err(error) => assert_ne!(error.kind(), ErrorKind::Closed, "{error}"),
            },
        }
    }
    progress.done.fetch_add(1, Ordering::Relaxed);
}

/// Provokes one fault after the other until the tasks are done.
async fn trouble(servers: &[Server], progress: &Progress) {
    let mut random = Random(7);
    while progress.done.load(Ordering::Relaxed) < TASKS {
        let server = &servers[usize::try_from(random.below(servers.len() as u64)).unwrap()];
        let faults = server.faults();
        match random.below(9) {
            0 => faults.set_split(Some(1 + usize::try_from(random.below(5)).unwrap())),
            1 => faults.cut_replies(
                Times::Next(1),
                usize::try_from(random.below(500)).unwrap(),
                Ending::Close,
            ),
            2 => faults.cut_replies(
                Times::Next(1),
                usize::try_from(random.below(500)).unwrap(),
                Ending::Reset,
            ),
            3 => faults.reset_connections(),
            4 => faults.set_jitter(Duration::from_millis(3), random.below(100)),
            5 => server
                .script()
                .answer(Times::Next(2), "SERVER_ERROR out of memory\r\n"),
            6 => server
                .script()
                .answer(Times::Next(1), "VALUE other 0 3\r\nabc\r\nEND\r\n"),
            7 => {
                server.stop().await;
                server.restart().await.expect("its address is still free");
            }
            _ => {
                faults.clear();
                server.script().clear();
            }
        }
        // Not for synchronising: faults come at a certain rate.
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

pub(crate) async fn servers() -> Vec<Server> {
    let mut servers = Vec::new();
    for _ in 0..3 {
        servers.push(Server::start().await.unwrap());
    }
    servers
}

/// The options of a client that sees its servers fail.
pub(crate) fn impatient(servers: &[Server]) -> Builder {
    let backoff = Backoff {
        initial: Duration::from_millis(5),
        max: Duration::from_millis(20),
        jitter: 0.5,
    };
    Client::builder()
        .nodes(servers.iter().map(Server::node))
        .backoff(backoff)
        .stalled_after(Duration::from_millis(200))
        .timeout(Duration::from_millis(300))
        .max_in_flight(16)
        .open_connection_above(4)
}

/// Lets all tasks do their work while servers fail, until all is well again; says how many calls that
/// were.
pub(crate) async fn torture(client: &Client, servers: &[Server]) -> u64 {
    let progress = Arc::new(Progress::default());
    let tasks: Vec<_> = (0..TASKS)
        .map(|task| tokio::spawn(work(client.clone(), task as u64, Arc::clone(&progress))))
        .collect();
    let watched = async {
        for task in tasks {
            task.await.expect("no task panics");
        }
    };
    let (finished, ()) = tokio::join!(
        tokio::time::timeout(Duration::from_secs(60), watched),
        trouble(servers, &progress),
    );
    finished.expect("no call hangs");

    for server in servers {
        server.faults().clear();
        server.script().clear();
    }
    client
        .ready(Duration::from_secs(10))
        .await
        .expect("every node comes back");
    progress.calls.load(Ordering::Relaxed)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_fault_makes_a_caller_get_another_keys_value() {
    let servers = servers().await;
    let client = impatient(&servers).build().unwrap();
    torture(&client, &servers).await;
    let mut random = Random(99);
    for _ in 0..500 {
        let key = key(&mut random);
        // The first few may still meet a connection that is breaking.
        let mut tries = 0;
        while let Err(error) = client.set(&key, value(&key, &mut random)).await {
            tries += 1;
            assert!(tries < 20, "{error}");
            client.ready(Duration::from_secs(10)).await.unwrap();
        }
        check(&key, &client.get(&key).await.unwrap().unwrap().data);
    }
    client.close().await;
    for (node, metrics) in client.connection_pool_metrics() {
        assert_eq!(
            metrics.connections_created, metrics.connections_closed,
            "{node}: {metrics:?}"
        );
        assert_eq!(
            (metrics.cur_connections, metrics.in_flight, metrics.waiting),
            (0, 0, 0)
        );
        assert!(metrics.operations_executed > 0, "{node}");
    }
}
