//! What a call costs in the client, from the caller to the bytes and back, without a network.
//!
//! `cargo bench -p steersman-memcached`. Nodes are in memory and answer at once, on the one thread of the
//! runtime; what that takes is part of the result. The time of one iteration is that of one call, or of
//! one call of each task.

mod echo;

use std::future::poll_fn;
use std::hint::black_box;
use std::pin::pin;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use steersman_memcached::{Builder, Bytes, Client};
use tokio::runtime::{self, Runtime};

use crate::echo::Echoes;

const TASKS: u64 = 64;

fn runtime() -> Runtime {
    let runtime = runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("the system has a clock and a poller")
}

fn builder(nodes: usize, replicas: usize) -> Builder {
    let names = (1..=nodes).map(|node| format!("node-{node}"));
    Client::builder()
        .nodes(names.collect::<Vec<_>>())
        .replicas(replicas)
        .connector(Echoes)
}

/// A client of nodes in memory; connected, so that no measurement begins with that.
async fn client(nodes: usize, replicas: usize) -> Client {
    let client = builder(nodes, replicas).build();
    let client = client.expect("the options are valid");
    let ready = client.ready(Duration::from_secs(5)).await;
    ready.expect("nodes in memory can be reached");
    client
}

fn keys(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("user:{n:08}:profile")).collect()
}

/// Times one call after the other.
fn calls(
    c: &mut Criterion,
    name: &str,
    (nodes, replicas): (usize, usize),
    call: &impl AsyncFn(&Client, &str),
) {
    let runtime = runtime();
    let client = runtime.block_on(client(nodes, replicas));
    let keys = keys(64);
    c.bench_function(&format!("client/{name}"), |b| {
        b.iter_custom(|rounds| {
            runtime.block_on(async {
                let mut keys = keys.iter().cycle();
                let began = Instant::now();
                for _ in 0..rounds {
                    if let Some(key) = keys.next() {
                        call(&client, key).await;
                    }
                }
                began.elapsed()
            })
        });
    });
}

fn alone(c: &mut Criterion) {
    let get = async |client: &Client, key: &str| {
        black_box(client.get(key).await.expect("all keys are there"));
    };
    calls(c, "get, 1 node", (1, 1), &get);
    calls(c, "get, 3 nodes", (3, 1), &get);
    calls(c, "get, 3 nodes, 2 replicas", (3, 2), &get);
    let value = Bytes::from_static(&[b'v'; 100]);
    let set = async |client: &Client, key: &str| {
        let stored = client.set(key, value.clone()).await;
        stored.expect("all values are stored");
    };
    calls(c, "set of 100 bytes, 1 node", (1, 1), &set);
    calls(c, "set of 100 bytes, 3 nodes, 2 replicas", (3, 2), &set);
    let many = keys(32);
    let get_many = async |client: &Client, _: &str| {
        let found = client.get_many(&many).await.found;
        assert_eq!(found.len(), many.len());
    };
    calls(c, "get_many of 32 keys, 3 nodes", (3, 1), &get_many);
}

fn together(c: &mut Criterion) {
    let runtime = runtime();
    let client = runtime.block_on(client(1, 1));
    let mut group = c.benchmark_group("client");
    group.throughput(Throughput::Elements(TASKS));
    group.bench_function("get, 64 tasks", |b| {
        b.iter_custom(|rounds| {
            runtime.block_on(async {
                let began = Instant::now();
                let tasks: Vec<_> = keys(64)
                    .into_iter()
                    .map(|key| {
                        let client = client.clone();
                        tokio::spawn(async move {
                            for _ in 0..rounds {
                                black_box(client.get(&key).await.expect("all keys are there"));
                            }
                        })
                    })
                    .collect();
                for task in tasks {
                    task.await.expect("no task panics");
                }
                began.elapsed()
            })
        });
    });
    group.finish();
}

/// How long others wait for their turn while the first read of many keys looks for their owners.
fn first(c: &mut Criterion) {
    const MANY: usize = 10_000;
    let runtime = runtime();
    let keys = keys(MANY);
    let mut group = c.benchmark_group("client");
    group.sample_size(10);
    let name = "longest turn of a first get_many, 10,000 keys, 10,000 nodes";
    group.bench_function(name, |b| {
        b.iter_custom(|rounds| {
            let turns = (0..rounds).map(|_| {
                runtime.block_on(async {
                    let client = builder(MANY, 1).min_connections(0).timeout(None).build();
                    let client = client.expect("the options are valid");
                    longest_turn(client.get_many(&keys).into_future()).await
                })
            });
            turns.sum()
        });
    });
    group.finish();
}

/// Runs a future to its end; the time of the longest poll of it.
async fn longest_turn(future: impl Future) -> Duration {
    let mut future = pin!(future);
    let mut longest = Duration::ZERO;
    poll_fn(|cx| {
        let began = Instant::now();
        let polled = future.as_mut().poll(cx);
        longest = longest.max(began.elapsed());
        polled
    })
    .await;
    longest
}

criterion_group!(benches, alone, together, first);
criterion_main!(benches);
