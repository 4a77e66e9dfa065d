//! Load on the demo's cluster: readers that behave as an application does, and what they see.
//!
//! Each node has readers of its own, who read the keys that live there while all is well: what
//! happens to one node's keys slows nobody else's readers. A miss is filled again, as from the
//! database behind a cache.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use steersman_memcached::{Result, Value};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::cluster::Cluster;
use super::data;
use crate::histogram::Histogram;

const READERS_PER_NODE: usize = 4;

/// The pause of a reader whose read failed.
const PAUSE: Duration = Duration::from_millis(2);

/// What readers saw of the keys of one node, or of whatever else is told apart.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen {
    /// How long reads took that were answered.
    pub(super) latency: Histogram,
    /// The keys that did not exist, one for each read that found none. As each is filled again at
    /// once, they are few.
    pub(super) missed: Vec<usize>,
    pub(super) failures: u64,
    pub(super) wrong: u64,
}

impl Seen {
    /// Takes in how a read ended of the key with this number.
    pub(super) fn read(
        &mut self,
        (at, key): (usize, &str),
        answer: &Result<Option<Value>>,
        took: Duration,
    ) {
        match answer {
            Ok(Some(value)) => {
                self.latency.record(took);
                self.wrong += u64::from(!data::is_right(key, &value.data));
            }
            Ok(None) => {
                self.latency.record(took);
                self.missed.push(at);
            }
            Err(_) => self.failures += 1,
        }
    }

    /// What was seen here and not yet in `earlier`.
    pub(super) fn since(&self, earlier: &Self) -> Self {
        Self {
            latency: self.latency.since(&earlier.latency),
            missed: self
                .missed
                .iter()
                .skip(earlier.missed.len())
                .copied()
                .collect(),
            failures: self.failures - earlier.failures,
            wrong: self.wrong - earlier.wrong,
        }
    }
}

/// What was seen of each node's keys, in the order of the nodes; or of each client, and so on.
pub(super) type Snapshot = Vec<Seen>;

/// What was seen between two snapshots.
pub(super) fn between(earlier: &Snapshot, later: &Snapshot) -> Snapshot {
    let pairs = later.iter().zip(earlier);
    pairs.map(|(later, earlier)| later.since(earlier)).collect()
}

/// Readers at work, until they are stopped.
pub(super) struct Load {
    meters: Arc<Meters>,
    readers: JoinSet<()>,
}

/// What the readers write down, for all to see.
pub(super) struct Meters {
    seen: Vec<Mutex<Seen>>,
    stopped: AtomicBool,
}

impl Meters {
    /// Meters of so many nodes, or of so many of whatever is told apart.
    pub(super) fn new(count: usize) -> Self {
        Self {
            seen: (0..count).map(|_| Mutex::default()).collect(),
            stopped: AtomicBool::new(false),
        }
    }

    /// Lets somebody write down what was seen of one of them.
    pub(super) fn note(&self, at: usize, write: impl FnOnce(&mut Seen)) {
        write(&mut lock(&self.seen[at]));
    }

    /// Tells the readers to come to an end.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// What was seen so far.
    pub(super) fn snapshot(&self) -> Snapshot {
        let seen = self.seen.iter();
        seen.map(|seen| lock(seen).clone()).collect()
    }
}

impl Load {
    /// Starts the readers; `seed` chooses the order of their keys.
    pub(super) fn start(cluster: &Arc<Cluster>, seed: u64) -> Self {
        let nodes = cluster.names.len();
        let meters = Arc::new(Meters::new(nodes));
        let mut readers = JoinSet::new();
        let mut random = fastrand::Rng::with_seed(seed);
        for node in 0..nodes {
            let keys = 0..cluster.keys.len();
            let keys: Arc<[usize]> = keys.filter(|&at| cluster.home[at] == node).collect();
            if keys.is_empty() {
                continue;
            }
            for _ in 0..READERS_PER_NODE {
                let reader = Reader {
                    cluster: Arc::clone(cluster),
                    meters: Arc::clone(&meters),
                    node,
                    keys: Arc::clone(&keys),
                    random: random.fork(),
                };
                readers.spawn(reader.run());
            }
        }
        Self { meters, readers }
    }

    /// What was seen so far.
    pub(super) fn snapshot(&self) -> Snapshot {
        self.meters.snapshot()
    }

    pub(super) fn meters(&self) -> &Arc<Meters> {
        &self.meters
    }

    /// Lets every reader finish its read; returns all that was seen.
    pub(super) async fn stop(mut self) -> Snapshot {
        self.meters.stop();
        while self.readers.join_next().await.is_some() {}
        self.snapshot()
    }
}

fn lock(seen: &Mutex<Seen>) -> std::sync::MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Reader {
    cluster: Arc<Cluster>,
    meters: Arc<Meters>,
    node: usize,
    keys: Arc<[usize]>,
    random: fastrand::Rng,
}

impl Reader {
    async fn run(mut self) {
        while !self.meters.is_stopped() {
            let at = self.random.usize(..self.keys.len());
            self.read(self.keys[at]).await;
        }
    }

    async fn read(&self, at: usize) {
        let (client, key) = (&self.cluster.client, &self.cluster.keys[at]);
        let started = Instant::now();
        let answer = client.get(key).await;
        let took = started.elapsed();
        self.meters
            .note(self.node, |seen| seen.read((at, key), &answer, took));
        if let Ok(None) = answer {
            // If this fails, so will the next read, which is counted.
            let _ = client.set(key, data::value(key)).await;
        } else if answer.is_err() {
            tokio::time::sleep(PAUSE).await;
        }
    }
}
