//! Three memcached servers, each behind a proxy.

use std::io;
use std::time::Duration;

use steersman_memcached::{Client, Replication};
use steersman_selection::Replicas;
use steersman_simulator::PolicyKind;
use steersman_testkit::FaultProxy;

use super::load::Reader;
use super::{NEAR, Subject};
use crate::memcached::{RealMemcached, three_behind_proxies};

const KEYS: u64 = 1_000;
const PATIENCE: Duration = Duration::from_secs(10);

/// Three real memcached servers that hold the same keys.
#[derive(Debug)]
pub struct Caches {
    servers: [RealMemcached; 3],
    proxies: [FaultProxy; 3],
}

impl Caches {
    /// Starts and fills them. Fails if memcached is not installed.
    ///
    /// # Panics
    ///
    /// If they cannot be filled.
    pub async fn start() -> io::Result<Self> {
        let (servers, proxies) = three_behind_proxies().await?;
        let caches = Self { servers, proxies };
        let client = caches.client(PolicyKind::RoundRobin, 0).await;
        for number in 0..KEYS {
            let stored = client.0.set(key(number), "value").await;
            stored.expect("the servers run");
        }
        client.0.close().await;
        for node in 0..3 {
            caches.set_distance(node, NEAR);
        }
        Ok(caches)
    }
}

/// A client of them.
#[derive(Debug)]
pub struct CacheClient(Client);

fn key(number: u64) -> String {
    format!("key-{}", number % KEYS)
}

impl Reader for CacheClient {
    async fn read(&self, number: u64) -> bool {
        matches!(self.0.get(key(number)).await, Ok(Some(_)))
    }
}

impl Subject for Caches {
    type Client = CacheClient;

    const NAME: &'static str = "memcached";
    const DATACENTER: Option<&'static str> = None;

    async fn client(&self, policy: PolicyKind, seed: u64) -> CacheClient {
        // As in the scenario: one attempt, and a time-out of a second.
        let replication = Replication::new(3)
            .policy(policy.over(Replicas::shuffled(seed), seed))
            .hedge(None)
            .attempt_timeout(Duration::from_secs(1));
        let client = Client::builder()
            .nodes(self.proxies.each_ref().map(FaultProxy::node))
            .timeout(Duration::from_secs(1))
            .replicas(replication)
            .build()
            .expect("the options are valid");
        client.ready(PATIENCE).await.expect("the servers run");
        CacheClient(client)
    }

    fn set_distance(&self, node: usize, distance: Duration) {
        self.proxies[node].faults().set_latency(distance);
    }

    fn set_still(&self, node: usize, is_still: bool) {
        let server = &self.servers[node];
        let done = if is_still {
            server.pause()
        } else {
            server.resume()
        };
        done.expect("the server runs");
    }
}
