//! The demo's cluster: embedded nodes, a client of them, and the keys that live there.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream;
use steersman_memcached::{Backoff, Client};
use steersman_testkit::Server;

use super::data;
use crate::answer::Failure;
use crate::args;
use crate::context::Settings;

/// How many writes are under way at a time while keys are loaded.
const WRITES: usize = 256;

/// How many keys a sweep asks for at a time.
const SWEEP: usize = 1000;

/// Short, so that a node that is back is noticed before anybody has to wait.
const BACKOFF: Backoff = Backoff {
    initial: Duration::from_millis(20),
    max: Duration::from_millis(100),
    jitter: 0.5,
};

pub(super) struct Cluster {
    pub(super) servers: Vec<Server>,
    pub(super) names: Vec<String>,
    pub(super) client: Client,
    pub(super) keys: Vec<String>,
    /// The node that owns each key while all nodes are well.
    pub(super) home: Vec<usize>,
}

/// What became of reading every key once.
#[derive(Debug, Default)]
pub(super) struct Sweep {
    pub(super) right: usize,
    pub(super) wrong: usize,
    pub(super) missing: Vec<usize>,
    pub(super) failed: Vec<usize>,
}

impl Cluster {
    /// Starts the nodes and connects to them. They are named, so that placement does not depend
    /// on which ports are free.
    pub(super) async fn start(args: &args::Demo, settings: &Settings) -> Result<Self, Failure> {
        let mut servers = Vec::new();
        for _ in 0..args.nodes {
            let server = Server::start().await.map_err(|error| {
                Failure::told(format!("cannot start a node on 127.0.0.1: {error}"))
            })?;
            servers.push(server);
        }
        let names: Vec<String> = (1..=servers.len()).map(|n| format!("node-{n}")).collect();
        let nodes = names.iter().zip(&servers);
        let client = Client::builder()
            .nodes(nodes.map(|(name, server)| format!("{name}={}", server.node())))
            .placement(settings.scheme)
            .timeout(settings.timeout)
            .purge_unhealthy_nodes(true)
            .backoff(BACKOFF)
            .build()?;
        client.ready(Duration::from_secs(10)).await?;
        let mut cluster = Self {
            servers,
            names,
            client,
            keys: (0..args.keys).map(data::key).collect(),
            home: Vec::new(),
        };
        cluster.home = cluster.owners()?;
        Ok(cluster)
    }

    /// The node that owns each key at the moment.
    pub(super) fn owners(&self) -> Result<Vec<usize>, Failure> {
        let names = self.names.iter().enumerate();
        let index: HashMap<&str, usize> = names.map(|(at, name)| (name.as_str(), at)).collect();
        let owner = |key: &String| Ok(index[self.client.node_for_key(key)?.name()]);
        self.keys.iter().map(owner).collect()
    }

    /// Stores these keys' values; returns how many could not be stored.
    pub(super) async fn fill(&self, keys: impl IntoIterator<Item = usize>) -> usize {
        store(&self.client, keys.into_iter().map(|at| &self.keys[at])).await
    }

    /// Reads every key once and looks at what came.
    pub(super) async fn sweep(&self) -> Sweep {
        let mut sweep = Sweep::default();
        let numbers: Vec<usize> = (0..self.keys.len()).collect();
        for chunk in numbers.chunks(SWEEP) {
            let many = self.client.get_many(chunk.iter().map(|&at| &self.keys[at]));
            let many = many.await;
            let missing: HashSet<&String> = many.missing.into_iter().collect();
            for &at in chunk {
                let key = &self.keys[at];
                match many.found.get(key) {
                    Some(value) if data::is_right(key, &value.data) => sweep.right += 1,
                    Some(_) => sweep.wrong += 1,
                    None if missing.contains(key) => sweep.missing.push(at),
                    None => sweep.failed.push(at),
                }
            }
        }
        sweep
    }

    /// How many items each node says it holds.
    pub(super) async fn items(&self) -> Result<Vec<usize>, Failure> {
        let stats = self.client.stats("").await.into_result()?;
        let items = stats.iter().map(|(_, stats)| {
            let items = stats.iter().find(|(name, _)| name == "curr_items");
            items.and_then(|(_, value)| value.parse().ok()).unwrap_or(0)
        });
        Ok(items.collect())
    }
}

/// Stores the values of these keys; returns how many could not be stored.
pub(super) async fn store(client: &Client, keys: impl IntoIterator<Item = &String>) -> usize {
    let writes = stream::iter(keys).map(async |key| client.set(key, data::value(key)).await);
    let written = writes.buffer_unordered(WRITES);
    written
        .fold(0, async |failed, written| {
            failed + usize::from(written.is_err())
        })
        .await
}
