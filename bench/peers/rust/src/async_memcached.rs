//! async-memcached: a client is one connection and takes one operation at a time, so the tasks
//! queue for so many of them, each task always for the same.

use std::process::ExitCode;
use std::sync::Arc;

use async_memcached::{AsciiProtocol, Client};
use bytes::Bytes;
use steersman_bench_contract::{Peer, run};
use tokio::sync::Mutex;

#[derive(Clone)]
struct AsyncMemcached {
    clients: Arc<Vec<Arc<Mutex<Client>>>>,
    client: Arc<Mutex<Client>>,
}

impl Peer for AsyncMemcached {
    async fn connect(server: String, connections: usize) -> Result<Self, String> {
        let mut clients = Vec::new();
        for _ in 0..connections {
            let client = Client::new(format!("tcp://{server}")).await;
            let client = client.map_err(|error| error.to_string())?;
            clients.push(Arc::new(Mutex::new(client)));
        }
        Ok(Self {
            client: clients[0].clone(),
            clients: Arc::new(clients),
        })
    }

    fn for_task(&self, number: usize) -> Self {
        Self {
            clients: self.clients.clone(),
            client: self.clients[number % self.clients.len()].clone(),
        }
    }

    async fn get(&self, key: &str) -> Option<usize> {
        let value = self.client.lock().await.get(key).await;
        Some(value.ok()??.data?.len())
    }

    async fn set(&self, key: &str, value: &Bytes) -> bool {
        let mut client = self.client.lock().await;
        client.set(key, &value[..], None, None).await.is_ok()
    }
}

fn main() -> ExitCode {
    run::<AsyncMemcached>(std::env::args().skip(1))
}
