//! Tasks that issue one operation after the other, as all peers do.

use bytes::Bytes;
use steersman_bench_contract::Peer;
use steersman_memcached::{Client, Tls};

use crate::certificate;

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

/// The same over TLS, the server's certificate verified.
#[derive(Clone)]
pub(crate) struct Encrypted(Steersman);

impl Peer for Encrypted {
    async fn connect(server: String, connections: usize) -> Result<Self, String> {
        let trusted = certificate::trusted().map_err(|error| error.to_string())?;
        let builder = Client::builder().tls(Tls::new().roots(trusted));
        let client = super::build(builder, &server, connections).await?;
        Ok(Self(Steersman(client)))
    }

    async fn get(&self, key: &str) -> Option<usize> {
        self.0.get(key).await
    }

    async fn set(&self, key: &str, value: &Bytes) -> bool {
        self.0.set(key, value).await
    }
}
