//! Load on both clients: the same reads, begun at the same times and at a steady rate as far as the
//! machine allows, whatever became of those before.

use std::sync::Arc;
use std::time::Duration;

use steersman_memcached::Client;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, MissedTickBehavior};

use super::clients::{Both, Clients};
use crate::demo::cluster::Cluster;
use crate::demo::load::Meters;

/// The time from one read of a client to its next.
const PACE: Duration = Duration::from_millis(1);

/// How many reads a second each client has to do at most.
pub(super) const RATE: u128 = Duration::from_secs(1).as_millis() / PACE.as_millis();

/// How many reads may be under way before new ones wait: many more than a slow node holds up.
const MOST_AT_A_TIME: usize = 256;

/// Reads at a steady rate, until they are stopped.
pub(super) struct Load {
    meters: Arc<Meters>,
    pacer: JoinHandle<()>,
}

impl Load {
    /// Starts to read; `seed` chooses the order of the keys.
    pub(super) fn start(clients: &Clients, cluster: &Cluster, seed: u64) -> Self {
        let meters = Arc::clone(&clients.reads);
        let pacer = Pacer {
            clients: clients.both.clone(),
            keys: cluster.keys.iter().map(|key| key.as_str().into()).collect(),
            meters: Arc::clone(&meters),
            random: fastrand::Rng::with_seed(seed),
        };
        Self {
            meters,
            pacer: tokio::spawn(pacer.run()),
        }
    }

    /// Lets every read come to its end.
    pub(super) async fn stop(self) {
        self.meters.stop();
        // It panics only if a read has, which the panic's own message tells.
        let _ = self.pacer.await;
    }
}

struct Pacer {
    clients: Both<Client>,
    keys: Vec<Arc<str>>,
    meters: Arc<Meters>,
    random: fastrand::Rng,
}

impl Pacer {
    async fn run(mut self) {
        let mut reads = JoinSet::new();
        let mut ticks = tokio::time::interval(PACE);
        // What a busy machine has held up is left out, or reads would wait for each other.
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        while !self.meters.is_stopped() {
            ticks.tick().await;
            let at = self.random.usize(..self.keys.len());
            for (meter, client) in self.clients.each().into_iter().enumerate() {
                let read = Read {
                    client: client.clone(),
                    at,
                    key: Arc::clone(&self.keys[at]),
                    meters: Arc::clone(&self.meters),
                    meter,
                };
                reads.spawn(read.run());
            }
            while reads.try_join_next().is_some() {}
            while reads.len() >= MOST_AT_A_TIME {
                reads.join_next().await;
            }
        }
        while reads.join_next().await.is_some() {}
    }
}

/// One read by one client.
struct Read {
    client: Client,
    at: usize,
    key: Arc<str>,
    meters: Arc<Meters>,
    meter: usize,
}

impl Read {
    async fn run(self) {
        let key = &*self.key;
        let started = Instant::now();
        let answer = self.client.get(key).await;
        let took = started.elapsed();
        self.meters
            .note(self.meter, |seen| seen.read((self.at, key), &answer, took));
    }
}
