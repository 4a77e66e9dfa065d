//! mtop-client: connections out of its pool, which by itself would open one for each task, so the
//! tasks queue for so many of them, each task always for the same.

mod dealt;

use std::net::SocketAddr;
use std::process::ExitCode;

use bytes::Bytes;
use mtop_client::{
    Key, Memcached, MemcachedClient, MemcachedClientConfig, PooledClient, RendezvousSelector,
    Server, ServerID, TcpClientFactory,
};
use steersman_bench_contract::{Peer, run};
use tokio::runtime::Handle;

use self::dealt::Dealt;

#[derive(Clone)]
struct Mtop(Dealt<PooledClient<Server, Memcached>>);

impl Peer for Mtop {
    async fn connect(server: String, connections: usize) -> Result<Self, String> {
        let addr: SocketAddr = server
            .parse()
            .map_err(|error| format!("{server}: {error}"))?;
        let server = Server::without_name(ServerID::Socket(addr));
        let client = MemcachedClient::new(
            MemcachedClientConfig::default(),
            Handle::current(),
            RendezvousSelector::new(vec![server.clone()]),
            TcpClientFactory,
        );
        let mut open = Vec::new();
        for _ in 0..connections {
            let connection = client.raw_open(&server).await;
            open.push(connection.map_err(|error| error.to_string())?);
        }
        Ok(Self(Dealt::new(open)))
    }

    fn for_task(&self, number: usize) -> Self {
        Self(self.0.for_task(number))
    }

    async fn get(&self, key: &str) -> Option<usize> {
        let keys = [Key::try_from(key).ok()?];
        let values = self.0.own.lock().await.get(&keys).await.ok()?;
        Some(values.get(key)?.data.len())
    }

    async fn set(&self, key: &str, value: &Bytes) -> bool {
        let Ok(key) = Key::try_from(key) else {
            return false;
        };
        let mut connection = self.0.own.lock().await;
        connection.set(&key, 0, 0, value).await.is_ok()
    }
}

fn main() -> ExitCode {
    run::<Mtop>(std::env::args().skip(1))
}
