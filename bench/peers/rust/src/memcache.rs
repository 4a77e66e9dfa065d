//! memcache: its asynchronous client, which speaks the meta protocol, with its own pool.

use std::process::ExitCode;

use bytes::Bytes;
use memcache::exp::{AsyncMemcache, Ttl};
use steersman_bench_contract::{Peer, run};

#[derive(Clone)]
struct Memcache(AsyncMemcache);

impl Peer for Memcache {
    async fn connect(server: String, connections: usize) -> Result<Self, String> {
        AsyncMemcache::builder()
            .max_connections(connections)
            .max_idle(connections)
            .connect_async([server])
            .await
            .map(Self)
            .map_err(|error| error.to_string())
    }

    async fn get(&self, key: &str) -> Option<usize> {
        let value: Option<Vec<u8>> = self.0.get(key).await.ok()?;
        Some(value?.len())
    }

    async fn set(&self, key: &str, value: &Bytes) -> bool {
        self.0.set(key, &value[..], Ttl::secs(3600)).await.is_ok()
    }
}

fn main() -> ExitCode {
    run::<Memcache>(std::env::args().skip(1))
}
