//! async-memcached: a client is one connection and takes one operation at a time, so the tasks
//! queue for so many of them, each task always for the same.

mod dealt;

use std::process::ExitCode;

use async_memcached::{AsciiProtocol, Client};
use bytes::Bytes;
use steersman_bench_contract::{Peer, run};

use self::dealt::Dealt;

#[derive(Clone)]
struct AsyncMemcached(Dealt<Client>);

impl Peer for AsyncMemcached {
    async fn connect(server: String, connections: usize) -> Result<Self, String> {
        let mut clients = Vec::new();
        for _ in 0..connections {
            let client = Client::new(format!("tcp://{server}")).await;
            clients.push(client.map_err(|error| error.to_string())?);
        }
        Ok(Self(Dealt::new(clients)))
    }

    fn for_task(&self, number: usize) -> Self {
        Self(self.0.for_task(number))
    }

    async fn get(&self, key: &str) -> Option<usize> {
        let value = self.0.own.lock().await.get(key).await;
        Some(value.ok()??.data?.len())
    }

    async fn set(&self, key: &str, value: &Bytes) -> bool {
        let mut client = self.0.own.lock().await;
        client.set(key, &value[..], None, None).await.is_ok()
    }
}

fn main() -> ExitCode {
    run::<AsyncMemcached>(std::env::args().skip(1))
}
