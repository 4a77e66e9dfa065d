//! What a slow or paused server among three does to the latency of replicated reads.
//!
//! `cargo run --release -p steersman-e2e --example slow_replica [TASKS [REPLICAS]]` reads from three embedded
//! servers one of which becomes slow, from three real ones one of which becomes slow behind a
//! proxy, and from three real ones one of which is paused. For each it prints the latencies of the
//! seconds before the fault and of those from 2 s after it on, for a client without replicas too.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use steersman_e2e::memcached::{RealMemcached, three_behind_proxies};
use steersman_memcached::Client;
use steersman_testkit::{FaultProxy, Server};

const KEYS: usize = 3_000;
const SPAN: Duration = Duration::from_secs(3);
/// How long the cluster has to notice the fault.
const NOTICE: Duration = Duration::from_secs(2);
const SLOW: Duration = Duration::from_millis(50);

/// What the readers do with what they measure.
const IGNORE: u8 = 0;
const BEFORE: u8 = 1;
const AFTER: u8 = 2;
const STOP: u8 = 3;

#[derive(Default)]
struct Measured {
    before: Vec<Duration>,
    after: Vec<Duration>,
    errors: usize,
}

async fn read(client: Client, keys: Arc<[String]>, seed: u64, phase: Arc<AtomicU8>) -> Measured {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut measured = Measured::default();
    loop {
        let begun_in = phase.load(Ordering::Relaxed);
        let key = &keys[random.usize(..keys.len())];
        let begin = Instant::now();
        let answer = client.get(key).await;
        let took = begin.elapsed();
        match begun_in {
            STOP => return measured,
            BEFORE => measured.before.push(took),
            AFTER => measured.after.push(took),
            _ => {}
        }
        match answer {
            Ok(Some(value)) => assert_eq!(value.data, *key, "the value of another key"),
            Ok(None) => panic!("a miss of {key}, which was stored"),
            Err(_) => measured.errors += 1,
        }
        // A task that thinks between its reads, so that the processors are not what is measured.
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

fn percentile(latencies: &mut [Duration], share: f64) -> Duration {
    latencies.sort_unstable();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "an index into a list"
    )]
    let rank = (latencies.len() as f64 * share) as usize;
    latencies.get(rank).copied().unwrap_or_default()
}

async fn measure(
    what: &str,
    nodes: &[String],
    replicas: usize,
    tasks: usize,
    fault: impl Fn(bool),
) {
    let client = Client::builder()
        .nodes(nodes.iter().map(String::as_str))
        .replicas(replicas)
        .build()
        .expect("the options are valid");
    client
        .ready(Duration::from_secs(10))
        .await
        .expect("the servers run");
    let keys: Arc<[String]> = (0..KEYS).map(|n| format!("key-{n}")).collect();
    for key in &*keys {
        client.set(key, key).await.expect("the servers run");
    }
    let phase = Arc::new(AtomicU8::new(IGNORE));
    let tasks: Vec<_> = (0..tasks)
        .map(|seed| {
            tokio::spawn(read(
                client.clone(),
                Arc::clone(&keys),
                seed as u64,
                Arc::clone(&phase),
            ))
        })
        .collect();
    tokio::time::sleep(Duration::from_secs(1)).await;
    phase.store(BEFORE, Ordering::Relaxed);
    tokio::time::sleep(SPAN).await;
    phase.store(IGNORE, Ordering::Relaxed);
    fault(true);
    tokio::time::sleep(NOTICE).await;
    phase.store(AFTER, Ordering::Relaxed);
    tokio::time::sleep(SPAN).await;
    phase.store(STOP, Ordering::Relaxed);
    let mut all = Measured::default();
    for task in tasks {
        let measured = task.await.expect("readers do not panic");
        all.before.extend(measured.before);
        all.after.extend(measured.after);
        all.errors += measured.errors;
    }
    let conditions = client.nodes();
    let conditions = conditions.iter().map(|node| {
        let report = client.node(node.name()).ok()?.latency_report()?;
        Some(format!("{:?}", report.condition))
    });
    let conditions: Vec<String> = conditions.flatten().collect();
    fault(false);
    let metrics = client.replication_metrics();
    println!("{what}, {replicas} replicas");
    let mut p99 = [Duration::ZERO; 2];
    for (index, (name, latencies)) in [("before", &mut all.before), ("after", &mut all.after)]
        .into_iter()
        .enumerate()
    {
        p99[index] = percentile(latencies, 0.99);
        println!(
            "  {name:6}  {:>7} reads  p50 {:>9.1?}  p99 {:>9.1?}  p99.9 {:>9.1?}",
            latencies.len(),
            percentile(latencies, 0.5),
            p99[index],
            percentile(latencies, 0.999),
        );
    }
    println!(
        "  p99 ratio {:.2}; {} errors; {} hedges, {} denied, {} failovers",
        p99[1].as_secs_f64() / p99[0].as_secs_f64(),
        all.errors,
        metrics.hedges,
        metrics.hedges_denied,
        metrics.failovers
    );
    if !conditions.is_empty() {
        println!("  the nodes at the end: {}", conditions.join(", "));
    }
    client.close().await;
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let number = |index| std::env::args().nth(index)?.parse().ok();
    let tasks: usize = number(1).unwrap_or(32);
    let only: Option<usize> = number(2);
    for replicas in (1..=3).filter(|replicas| only.is_none_or(|only| only == *replicas)) {
        let servers = [
            Server::start().await?,
            Server::start().await?,
            Server::start().await?,
        ];
        let nodes = servers.each_ref().map(Server::node);
        measure("embedded, one slow", &nodes, replicas, tasks, |on| {
            let latency = if on { SLOW } else { Duration::ZERO };
            servers[0].faults().set_latency(latency);
        })
        .await;

        let (servers, proxies) = three_behind_proxies().await?;
        let nodes = proxies.each_ref().map(FaultProxy::node);
        measure("real, one behind a delay", &nodes, replicas, tasks, |on| {
            let latency = if on { SLOW } else { Duration::ZERO };
            proxies[0].faults().set_latency(latency);
        })
        .await;

        let nodes = servers.each_ref().map(RealMemcached::node);
        measure("real, one paused", &nodes, replicas, tasks, |on| {
            let done = if on {
                servers[0].pause()
            } else {
                servers[0].resume()
            };
            done.expect("the server runs");
        })
        .await;
    }
    Ok(())
}
