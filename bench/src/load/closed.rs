//! Tasks that issue one operation after the other, as all peers do.

use std::time::Duration;

use bytes::Bytes;
use steersman_bench_contract::Peer;
use steersman_memcached::Client;

/// The client as anyone builds it; only the number of connections is set.
#[derive(Clone)]
pub(crate) struct Steersman(Client);

impl Peer for Steersman {
    async fn connect(server: String, connections: usize) -> Result<Self, String> {
        let client = Client::builder()
            .node(server.as_str())
            .min_connections(connections)
            .max_connections(connections)
            .build()
            .map_err(|error| error.to_string())?;
        let ready = client.ready(Duration::from_secs(5)).await;
        ready.map_err(|error| error.to_string())?;
        Ok(Self(client))
    }

    async fn get(&self, key: &str) -> Option<usize> {
        let value = self.0.get(key).await.ok()?;
        Some(value?.data.len())
    }

    async fn set(&self, key: &str, value: &Bytes) -> bool {
        self.0.set(key, value.clone()).await.is_ok()
    }
}
