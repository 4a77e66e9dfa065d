//! Lists of nodes and names that change all the time and lie, under load: no request is lost, no value
//! is another key's, and what follows a write of the same task sees it.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use steersman_e2e::memcached::RealMemcached;
use steersman_memcached::{
    Backoff, Client, Dialer, Discovered, Discovery, DiscoveryError, NodeConfig, Resolved, Resolver,
    Resolving, Sockets,
};

use super::{LONG, memcached, quick};

const TASKS: usize = 16;

/// Ends the load when it is dropped.
#[derive(Clone, Default)]
struct Running(Arc<AtomicBool>);

impl Running {
    fn goes_on(&self) -> bool {
        !self.0.load(Ordering::Relaxed)
    }

    fn end(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Lists that shrink, grow, come in another order, name nodes twice, are empty, contradict themselves,
/// fail or are of a hundred nodes.
struct Flapping {
    servers: Vec<String>,
    asked: Arc<AtomicU64>,
    running: Running,
}

impl Flapping {
    fn list(&self, at: u64) -> Vec<String> {
        let mut list = self.servers.clone();
        let count = list.len();
        list.rotate_left(fastrand::usize(..count));
        list.truncate(fastrand::usize(1..=count));
        match at % 16 {
            1 => list.clear(),
            2 => list.extend_from_within(..),
            3 => list.push(format!("{}*7", list[0])),
            4 => list[0] = format!("{}*{}", list[0], fastrand::u32(1..9)),
            5 => list[0] = format!("größer-\u{202e}={}", list[0]),
            // The same server by another name, and another server by its name.
            6 => list[0] = format!("{}={}", self.servers[0], self.servers[1]),
            7 if at < 32 => {
                let server = |n: usize| format!("n{n}={}", self.servers[n % count]);
                list = (0..100).map(server).collect();
            }
            _ => {}
        }
        list
    }
}

impl Discovery for Flapping {
    async fn discover(&mut self, _: &Dialer) -> Result<Discovered, DiscoveryError> {
        let at = self.asked.fetch_add(1, Ordering::Relaxed);
        if !self.running.goes_on() {
            let all = self.servers.iter().map(|node| node.parse::<NodeConfig>());
            return Ok(Discovered::new(all.collect::<Result<Vec<_>, _>>()?));
        }
        if at % 16 == 8 {
            return Err("none today".into());
        }
        assert_ne!(at % 16, 9, "a panic on purpose");
        let nodes = self.list(at).into_iter().map(|node| node.parse());
        Ok(Discovered::new(
            nodes.collect::<Result<Vec<NodeConfig>, _>>()?,
        ))
    }

    fn source(&self) -> String {
        "a liar".to_owned()
    }
}

/// One of many who use the client, with keys of its own.
async fn use_it(client: Client, task: usize, running: Running) -> u64 {
    let mut calls = 0;
    while running.goes_on() {
        let key = format!("{task}-{}", calls % 50);
        let value = format!("{key} is it");
        client.set(&key, value.clone()).await.unwrap();
        client.set(&key, value.clone()).noreply().await.unwrap();
        let check = |data: &[u8]| assert_eq!(data, value.as_bytes());
        if let Some(found) = client.get(&key).await.unwrap() {
            check(&found.data);
        }
        let reply = client
            .meta_get(&key, |get| get.value().ttl())
            .await
            .unwrap();
        if let Some(found) = reply.value {
            check(&found);
        }
        let keys = (0..50).map(|n| format!("{task}-{n}"));
        let many = client.get_many(keys).await;
        assert!(many.failed.is_empty(), "{:?}", many.failed);
        assert_eq!(many.found.len() + many.missing.len(), 50);
        for (key, found) in many.found {
            assert_eq!(found.data, format!("{key} is it"));
        }
        let loads = || async { Ok::<_, std::convert::Infallible>("loaded") };
        let fill = client.get_or_fill(format!("fill-{}", calls % 7));
        let filled = fill.load(loads).await.unwrap();
        assert_eq!(filled.data, "loaded");
        calls += 6;
    }
    calls
}

async fn flap(replicas: usize) {
    let servers = [memcached(), memcached(), memcached(), memcached()];
    let (asked, running) = (Arc::new(AtomicU64::new(0)), Running::default());
    let lists = Flapping {
        servers: servers.iter().map(RealMemcached::node).collect(),
        asked: Arc::clone(&asked),
        running: running.clone(),
    };
    let client = quick([])
        .discovery(lists)
        .replicas(replicas)
        .discovery_interval(Duration::from_millis(2))
        .backoff(Backoff {
            initial: Duration::from_millis(2),
            max: Duration::from_millis(2),
            jitter: 0.5,
        })
        .build()
        .unwrap();
    let tasks = (0..TASKS).map(|task| use_it(client.clone(), task, running.clone()));
    let tasks: Vec<_> = tasks.map(tokio::spawn).collect();
    let begun = Instant::now();
    while asked.load(Ordering::Relaxed) < 64 && begun.elapsed() < LONG {
        if tasks.iter().any(tokio::task::JoinHandle::is_finished) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    running.end();
    for calls in join_all(tasks).await {
        assert!(calls.expect("no request fails") > 0);
    }
    let lists = client.discovery_metrics();
    assert!(lists.taken > 20 && lists.failed > 8, "{lists:?}");
    // In the end the list is good.
    while client.nodes().len() != servers.len() {
        tokio::task::yield_now().await;
    }
    client.ready(LONG).await.unwrap();
    client.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_list_however_it_changes_loses_a_request() {
    flap(1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nor_one_to_several_replicas() {
    flap(2).await;
}

/// A name that stands for the one or the other address, both, neither, or cannot be looked up.
struct Moving {
    addresses: [SocketAddr; 2],
    asked: Arc<AtomicU64>,
}

impl Resolver for Moving {
    fn resolve<'a>(&'a self, _: &'a str, _: u16) -> Resolving<'a> {
        let [one, other] = self.addresses;
        let unused = SocketAddr::from(([127, 0, 0, 3], one.port()));
        let answer = match self.asked.fetch_add(1, Ordering::Relaxed) % 10 {
            0 => Ok(vec![one]),
            1 => Err(io::Error::other("no such name")),
            2 => Ok(vec![]),
            3 | 4 | 7 => Ok(vec![unused, other]),
            5 | 6 => Ok(vec![other, one]),
            _ => Ok(vec![one, unused]),
        };
        let answer = answer.map(|found| Resolved::new(found).valid_for(Duration::ZERO));
        Box::pin(async move { answer })
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_name_however_it_moves_loses_a_request_or_its_place() {
    let server = RealMemcached::start_with(&["-l", "127.0.0.2"]).unwrap();
    let here = server.addr();
    let asked = Arc::new(AtomicU64::new(0));
    let resolver = Moving {
        addresses: [here, SocketAddr::from(([127, 0, 0, 2], here.port()))],
        asked: Arc::clone(&asked),
    };
    let client = quick([format!("n=cache:{}", here.port())])
        .connector(Sockets::with_resolver(resolver))
        .build()
        .unwrap();
    let running = Running::default();
    let tasks = (0..TASKS).map(|task| {
        let (client, running) = (client.clone(), running.clone());
        tokio::spawn(async move {
            let (key, mut turn) = (format!("key-{task}"), 0_u64);
            while running.goes_on() {
                turn += 1;
                // More than one after the other, so that one of all tasks is always outstanding.
                for _ in 0..3 {
                    client.set(&key, turn.to_string()).noreply().await.unwrap();
                }
                let found = client.get(&key).await.unwrap().expect("it was written");
                assert_eq!(found.data, turn.to_string(), "the read overtook the write");
            }
            turn
        })
    });
    let tasks: Vec<_> = tasks.collect();
    let closed = || client.node("n").unwrap().metrics().connections_closed;
    let begun = Instant::now();
    while closed() < 1 && begun.elapsed() < LONG {
        if tasks.iter().any(tokio::task::JoinHandle::is_finished) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    running.end();
    for turns in join_all(tasks).await {
        assert!(turns.expect("no request fails") > 0);
    }
    assert!(
        closed() > 0,
        "it never moved, and was asked for {asked:?} times"
    );
    let metrics = client.node("n").unwrap().metrics();
    assert_eq!(metrics.operations_executed_with_error, 0);
}
