//! What the client's parts hold in memory, by an allocator that counts.
//!
//! `steersman-bench-memory ADDRESS,ADDRESS...` prints bytes of the heap for each idle connection,
//! each request that waits for its reply, and each node. The addresses are those of empty servers.

use std::alloc::System;
use std::net::TcpListener;
use std::process::ExitCode;
use std::time::Duration;

use cap::Cap;
use serde_json::json;
use steersman_bench_contract::printed;
use steersman_memcached::Client;
use tokio::runtime::{Builder, Runtime};

#[global_allocator]
static HEAP: Cap<System> = Cap::new(System, usize::MAX);

const CONNECTIONS: usize = 256;

const REQUESTS: usize = 10_000;

fn main() -> ExitCode {
    match std::env::args()
        .nth(1)
        .ok_or("usage: ADDRESS,ADDRESS...".to_owned())
    {
        Ok(addresses) => printed(measure(&addresses)),
        Err(usage) => {
            eprintln!("{usage}");
            ExitCode::from(2)
        }
    }
}

fn measure(addresses: &str) -> Result<serde_json::Value, String> {
    let addresses: Vec<_> = addresses.split(',').collect();
    Ok(json!({
        "connection_bytes": connection(addresses[0])?,
        "request_bytes": request()?,
        "nodes": addresses.len(),
        "node_bytes": node(&addresses)?,
    }))
}

/// A runtime for one measurement; with it ends what its tasks hold.
fn runtime() -> Result<Runtime, String> {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("no runtime: {error}"))
}

/// What a client of those nodes with so many connections to each holds.
fn held(nodes: &[&str], connections: usize) -> Result<f64, String> {
    let runtime = runtime()?;
    let before = HEAP.allocated();
    let client = client(&runtime, nodes, connections)?;
    let grown = HEAP.allocated().saturating_sub(before);
    drop(client);
    Ok(grown as f64)
}

fn client(runtime: &Runtime, nodes: &[&str], connections: usize) -> Result<Client, String> {
    runtime.block_on(async {
        let client = Client::builder()
            .nodes(nodes.iter().copied())
            .min_connections(connections)
            .max_connections(connections)
            .build()
            .map_err(|error| error.to_string())?;
        let ready = client.ready(Duration::from_secs(30)).await;
        ready.map_err(|error| error.to_string())?;
        wait_until(|| {
            let metrics = client.connection_pool_metrics();
            metrics
                .values()
                .all(|pool| pool.cur_connections == connections)
        })
        .await?;
        settle().await;
        Ok(client)
    })
}

/// Lets other tasks run until it is so.
async fn wait_until(mut is_so: impl FnMut() -> bool) -> Result<(), String> {
    for _ in 0..30_000 {
        if is_so() {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    Err("waited too long".to_owned())
}

/// Lets tasks run until none of them allocates any more.
async fn settle() {
    let mut before = 0;
    while before != HEAP.allocated() {
        before = HEAP.allocated();
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// An idle connection: what a client with many has more than one with a single one.
fn connection(server: &str) -> Result<f64, String> {
    let one = held(&[server], 1)?;
    let many = held(&[server], CONNECTIONS)?;
    Ok((many - one) / (CONNECTIONS - 1) as f64)
}

/// A `get` that waits for its reply, with its key of eight bytes and the task that makes it.
fn request() -> Result<f64, String> {
    let runtime = runtime()?;
    let silent = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
    let addr = silent
        .local_addr()
        .map_err(|error| error.to_string())?
        .to_string();
    runtime.block_on(async {
        let client = Client::builder()
            .node(addr.as_str())
            .timeout(None)
            .stalled_after(None)
            .build()
            .map_err(|error| error.to_string())?;
        let waiting = || {
            let metrics = client.connection_pool_metrics();
            metrics
                .values()
                .map(|pool| pool.in_flight + pool.waiting)
                .sum::<usize>()
        };
        // What the connections themselves take is not counted.
        let first: Vec<_> = (0..64).map(|number| read(&client, number)).collect();
        wait_until(|| waiting() == first.len()).await?;
        let before = HEAP.allocated();
        let more: Vec<_> = (0..REQUESTS).map(|number| read(&client, number)).collect();
        wait_until(|| waiting() == first.len() + more.len()).await?;
        let grown = HEAP.allocated().saturating_sub(before);
        for task in first.iter().chain(&more) {
            task.abort();
        }
        Ok(grown as f64 / REQUESTS as f64)
    })
}

fn read(client: &Client, number: usize) -> tokio::task::JoinHandle<()> {
    let call = client.get(format!("key{number:05}"));
    tokio::spawn(async move {
        let _ = call.await;
    })
}

/// A node with one connection.
fn node(addresses: &[&str]) -> Result<f64, String> {
    Ok(held(addresses, 1)? / addresses.len() as f64)
}
