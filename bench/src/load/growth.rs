//! What a read takes as nodes are added.
//!
//! The nodes are embedded servers of `steersman-testkit`, all in one process of their own, since so
//! many real ones are more than a small machine can hold.

use std::hint::black_box;
use std::io::{self, BufRead};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use steersman_bench_contract::{Phase, key, key_count, keys, runtime, value, within};
use steersman_memcached::Client;
use steersman_testkit::Server;
use tokio::runtime::Runtime;

use super::{argument, read_one};
use crate::plan::VALUE;

/// Tasks that read at once.
const TASKS: usize = 256;

/// How many keys are routed to see what routing takes.
const ROUTED: u32 = 1_000_000;

/// What a read takes with so many nodes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Growth {
    pub(crate) nodes: usize,
    /// Nanoseconds to find the node of a key.
    pub(crate) route_ns: f64,
    /// Nanoseconds of a read by one task alone.
    pub(crate) alone_ns: f64,
    /// Nanoseconds for each read of 256 tasks.
    pub(crate) crowd_ns: f64,
}

/// Starts so many nodes, prints their addresses, separated by commas, and waits for the end of the
/// input.
pub(crate) fn nodes(count: usize) -> Result<(), String> {
    let runtime = runtime(None)?;
    let servers = runtime.block_on(async {
        let mut servers = Vec::new();
        for _ in 0..count {
            servers.push(Server::start().await?);
        }
        Ok::<_, io::Error>(servers)
    });
    let servers = servers.map_err(|error| format!("nodes: {error}"))?;
    let addresses: Vec<_> = servers
        .iter()
        .map(|server| server.addr().to_string())
        .collect();
    println!("{}", addresses.join(","));
    let mut line = String::new();
    io::stdin()
        .lock()
        .read_line(&mut line)
        .map(drop)
        .map_err(|error| format!("input: {error}"))
}

/// `ADDRESS,ADDRESS... SECONDS`
pub(super) fn run(args: &[String]) -> Result<Growth, String> {
    let addresses: String = argument(args, 0, "ADDRESSES")?;
    let span = Duration::from_secs_f64(argument(args, 1, "SECONDS")?);
    let runtime = runtime(None)?;
    let client = within(&runtime, prepare(addresses.clone()))?;
    Ok(Growth {
        nodes: addresses.split(',').count(),
        route_ns: route(&client)?,
        alone_ns: reads(&runtime, &client, 1, span)?,
        crowd_ns: reads(&runtime, &client, TASKS, span)?,
    })
}

/// A client that is connected with all nodes, which have all values.
async fn prepare(addresses: String) -> Result<Client, String> {
    let client = Client::builder()
        .nodes(addresses.split(','))
        .build()
        .map_err(|error| error.to_string())?;
    let ready = client.ready(Duration::from_secs(30)).await;
    ready.map_err(|error| error.to_string())?;
    let value = value(VALUE);
    for number in 0..key_count(VALUE) {
        let set = client.set(key(number, VALUE), value.clone()).await;
        set.map_err(|error| error.to_string())?;
    }
    Ok(client)
}

fn route(client: &Client) -> Result<f64, String> {
    let keys = keys(0, 1024, VALUE);
    let began = Instant::now();
    for key in keys.iter().cycle().take(ROUTED as usize) {
        let node = client
            .node_for_key(key)
            .map_err(|error| error.to_string())?;
        black_box(node);
    }
    Ok(began.elapsed().as_nanos() as f64 / f64::from(ROUTED))
}

fn reads(runtime: &Runtime, client: &Client, tasks: usize, span: Duration) -> Result<f64, String> {
    let phase = Phase::default();
    let handles: Vec<_> = (0..tasks)
        .map(|number| runtime.spawn(read(client.clone(), number, phase.clone())))
        .collect();
    let seconds = phase.conduct(span);
    let mut reads = 0;
    for handle in handles {
        reads += runtime
            .block_on(handle)
            .map_err(|error| error.to_string())??;
    }
    Ok(seconds * 1e9 / reads as f64)
}

async fn read(client: Client, number: usize, phase: Phase) -> Result<u64, String> {
    let keys = keys(number, 64, VALUE);
    let mut reads = 0;
    for key in keys.iter().cycle() {
        let counts = phase.is_counting();
        if !counts && !phase.is_warming() {
            break;
        }
        read_one(&client, key).await?;
        reads += u64::from(counts);
    }
    Ok(reads)
}
