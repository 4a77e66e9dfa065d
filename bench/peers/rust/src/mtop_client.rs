//! mtop-client: connections out of its pool, which by itself would open one for each task, so the
//! tasks queue for so many of them, each task always for the same.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

use bytes::Bytes;
use mtop_client::{
    Key, Memcached, MemcachedClient, MemcachedClientConfig, PooledClient, RendezvousSelector,
    Server, ServerID, TcpClientFactory,
};
use steersman_bench_contract::{Peer, run};
use tokio::runtime::Handle;
use tokio::sync::Mutex;

type Connection = Arc<Mutex<PooledClient<Server, Memcached>>>;

#[derive(Clone)]
struct Mtop {
    connections: Arc<Vec<Connection>>,
    connection: Connection,
}

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
            let connection = connection.map_err(|error| error.to_string())?;
            open.push(Arc::new(Mutex::new(connection)));
        }
        Ok(Self {
            connection: open[0].clone(),
            connections: Arc::new(open),
        })
    }

    fn for_task(&self, number: usize) -> Self {
        Self {
            connections: self.connections.clone(),
            connection: self.connections[number % self.connections.len()].clone(),
        }
    }

    async fn get(&self, key: &str) -> Option<usize> {
        let keys = [Key::try_from(key).ok()?];
        let values = self.connection.lock().await.get(&keys).await.ok()?;
        Some(values.get(key)?.data.len())
    }

    async fn set(&self, key: &str, value: &Bytes) -> bool {
        let Ok(key) = Key::try_from(key) else {
            return false;
        };
        let mut connection = self.connection.lock().await;
        connection.set(&key, 0, 0, value).await.is_ok()
    }
}

fn main() -> ExitCode {
    run::<Mtop>(std::env::args().skip(1))
}
