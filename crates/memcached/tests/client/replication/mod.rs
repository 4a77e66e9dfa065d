//! Replicated reads and writes on a simulated network, in virtual time.

mod embedded;
mod hedges;
mod latency;
mod members;
mod policies;
mod reads;
mod recorded;
mod writes;

use std::collections::HashMap;
use std::future::IntoFuture;

use steersman_memcached::{Builder, Client, ReadPolicy, Replication};
use tokio::task::JoinHandle;

use crate::network::{Attempts, Peer, network, settle};

/// The key of most tests.
const KEY: &str = "k";

/// Three connected nodes; the peers are the replicas of [`KEY`], the owner first, and then the
/// nodes that do not hold it.
struct Cluster {
    client: Client,
    peers: Vec<Peer>,
    names: Vec<String>,
    attempts: Attempts,
}

async fn cluster(replication: impl Into<Replication>) -> Cluster {
    cluster_with(replication, |builder| builder).await
}

async fn cluster_with(
    replication: impl Into<Replication>,
    options: impl FnOnce(Builder) -> Builder,
) -> Cluster {
    let (network, mut attempts) = network();
    let builder = Client::builder()
        .nodes(["a=host:1", "b=host:2", "c=host:3"])
        .connector(network)
        .max_connections(1)
        .stalled_after(None)
        .replicas(replication);
    let client = options(builder).build().unwrap();
    let mut by_name = HashMap::new();
    for _ in 0..3 {
        let attempt = attempts.next().await;
        let name = match &*attempt.endpoint {
            "host:1" => "a",
            "host:2" => "b",
            _ => "c",
        };
        by_name.insert(name.to_owned(), attempt.accept());
    }
    settle().await;
    let mut names: Vec<String> = client
        .replicas_for_key(KEY)
        .unwrap()
        .iter()
        .map(|node| node.name().to_owned())
        .collect();
    for name in ["a", "b", "c"] {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    let peers = names.iter().map(|name| by_name.remove(name).unwrap());
    Cluster {
        peers: peers.collect(),
        client,
        names,
        attempts,
    }
}

/// So many replicas, of which reads ask the owner first.
fn owner_first(replicas: usize) -> Replication {
    Replication::new(replicas).read_policy(ReadPolicy::LatencyAware)
}

/// Starts a call and lets it go as far as it can.
async fn start<C>(call: C) -> JoinHandle<C::Output>
where
    C: IntoFuture,
    C::IntoFuture: Send + 'static,
    C::Output: Send + 'static,
{
    let task = tokio::spawn(call.into_future());
    settle().await;
    task
}

impl Cluster {
    /// Expects that none of these peers has been asked anything.
    async fn unasked(&mut self, peers: impl IntoIterator<Item = usize>) {
        settle().await;
        for peer in peers {
            assert!(self.peers[peer].is_silent(), "peer {peer} was asked");
        }
    }
}
