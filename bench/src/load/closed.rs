//! Tasks that issue one operation after the other, as all peers do.

use bytes::Bytes;
use steersman_bench_contract::Peer;
use steersman_memcached::Client;

/// The client as anyone builds it; only the number of connections is set.
#[derive(Clone)]
pub(crate) struct Steersman(Client);

impl Peer for Steersman {
    async fn connect(server: String, connections: usize) -> Result<Self, String> {
        super::connect(&server, connections).await.map(Self)
    }

    async fn get(&self, key: &str) -> Option<usize> {
        let value = self.0.get(key).await.ok()?;
        Some(value?.data.len())
    }

    async fn set(&self, key: &str, value: &Bytes) -> bool {
        self.0.set(key, value.clone()).await.is_ok()
    }
}
