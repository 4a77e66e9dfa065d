//! Steersman's client, through its public interface: each task reads one key after the other.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use steersman_memcached::Client;
use tokio::runtime;

use crate::server::{VALUE, key};

/// Reads a second on a runtime of so many workers.
pub(crate) fn reads(
    addr: SocketAddr,
    connections: usize,
    tasks: usize,
    workers: usize,
    span: Duration,
) -> f64 {
    let runtime = runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        .enable_all()
        .build()
        .expect("there are threads");
    // Within a task: what is polled by `block_on` itself runs on a thread more than the workers.
    let reading = runtime.spawn(run(addr, connections, tasks, span));
    runtime.block_on(reading).expect("no panic")
}

async fn run(addr: SocketAddr, connections: usize, tasks: usize, span: Duration) -> f64 {
    let client = Client::builder()
        .node(addr.to_string().as_str())
        .min_connections(connections)
        .max_connections(connections)
        .build()
        .expect("the options are valid");
    client
        .ready(Duration::from_secs(5))
        .await
        .expect("the server runs");
    let began = Instant::now();
    let tasks: Vec<_> = (0..tasks)
        .map(|number| tokio::spawn(task(client.clone(), number, began, span)))
        .collect();
    let mut reads = 0;
    for task in tasks {
        reads += task.await.expect("no panic");
    }
    reads as f64 / began.elapsed().as_secs_f64()
}

/// Sixteen keys in turn: what callers do elsewhere with their memory is not what is measured.
async fn task(client: Client, number: usize, began: Instant, span: Duration) -> usize {
    let keys: Vec<_> = (0..16)
        .map(|index| key(number * 7919 + index * 31))
        .collect();
    let mut reads = 0;
    // Nor is the clock.
    while began.elapsed() < span {
        for key in &keys {
            let value = client.get(key).await.expect("the server runs");
            assert_eq!(value.map(|value| value.data.len()), Some(VALUE));
        }
        reads += keys.len();
    }
    reads
}
