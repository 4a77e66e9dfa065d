//! Healthy and unhealthy nodes: attempts, back-off, events and stalled servers, in virtual time.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use steersman_memcached::{Backoff, Client, ClusterEvents, ErrorKind, Event, Stage};
use tokio::time::Instant;

use crate::network::{Attempts, client, hit, network, settle};

fn exact() -> Backoff {
    Backoff {
        jitter: 0.0,
        ..Backoff::default()
    }
}

async fn refuse(attempts: &mut Attempts, times: usize) -> Vec<u64> {
    let start = Instant::now();
    let mut at = Vec::new();
    for _ in 0..times {
        attempts.next().await.refuse();
        at.push(start.elapsed().as_secs());
    }
    at
}

#[tokio::test(start_paused = true)]
async fn attempts_to_connect_back_off_and_never_end() {
    let (client, mut attempts) = client(|builder| builder.backoff(exact()));
    let at = refuse(&mut attempts, 10).await;
    assert_eq!(at, [0, 1, 3, 7, 15, 31, 63, 123, 183, 243]);
    for _ in 0..1_000 {
        attempts.next().await.refuse();
    }
    let metrics = client.node("n").unwrap().metrics();
    assert!(
        metrics.connections_created_with_error >= 1_009,
        "{metrics:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn jitter_spreads_the_attempts() {
    let (_client, mut attempts) = client(|builder| builder);
    let start = Instant::now();
    attempts.next().await.refuse();
    attempts.next().await.refuse();
    let first = start.elapsed();
    assert!(
        first >= Duration::from_millis(500) && first <= Duration::from_secs(1),
        "{first:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn three_failures_make_a_node_unhealthy_and_a_success_heals_it() {
    let (client, mut attempts) = client(|builder| builder.backoff(exact()));
    let mut events = client.events();
    refuse(&mut attempts, 2).await;
    settle().await;
    assert_eq!(client.healthy_nodes().len(), 1);
    refuse(&mut attempts, 1).await;
    let Some(Event::NodeUnhealthy { node, reason }) = events.recv().await else {
        panic!()
    };
    assert_eq!(&*node, "n");
    assert!(reason.contains("refused"), "{reason}");
    assert_eq!(client.unhealthy_nodes()[0].name(), "n");
    let _peer = attempts.next().await.accept();
    assert_eq!(
        events.recv().await,
        Some(Event::NodeHealthy { node: "n".into() })
    );
    assert_eq!(client.healthy_nodes().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_operation_waits_for_a_first_attempt_and_fails_at_once_in_back_off() {
    let (client, mut attempts) = client(|builder| builder.backoff(exact()));
    let waiting = tokio::spawn(client.get("k").into_future());
    let attempt = attempts.next().await;
    settle().await;
    assert!(!waiting.is_finished());
    attempt.refuse();
    let error = waiting.await.unwrap().unwrap_err();
    assert_eq!(
        (error.kind(), error.stage()),
        (ErrorKind::NoNodeReachable, Stage::Connecting)
    );
    assert!(!error.maybe_executed() && error.is_retryable());

    let before = Instant::now();
    let error = client.get("k").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoNodeReachable);
    assert!(
        error
            .to_string()
            .contains("get at n: the node is down: the connection was refused"),
        "{error}"
    );
    assert_eq!(before.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_takes_too_long_counts_as_a_failure() {
    let (client, mut attempts) = client(|builder| builder.timeout(None).backoff(exact()));
    let start = Instant::now();
    let hanging = attempts.next().await;
    let error = client.get("k").await.unwrap_err();
    assert_eq!(start.elapsed(), Duration::from_secs(5));
    assert!(
        error
            .to_string()
            .contains("no connection to host:1 within 5s"),
        "{error}"
    );
    drop(hanging);
}

#[tokio::test(start_paused = true)]
async fn a_lost_connection_is_replaced_at_once_and_requests_wait_for_it() {
    let (client, mut attempts) = client(|builder| builder);
    let mut peer = attempts.next().await.accept();
    let read = tokio::spawn(client.get("k").into_future());
    peer.exchange("get k\r\n", "END\r\n").await;
    assert_eq!(read.await.unwrap().unwrap(), None);

    let lost = tokio::spawn(client.get("k").into_future());
    peer.expect("get k\r\n").await;
    drop(peer);
    let error = lost.await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionLost);
    assert!(error.maybe_executed());

    let attempt = attempts
        .next_within(Duration::from_millis(1))
        .await
        .expect("no wait before the first");
    let waiting = tokio::spawn(client.get("k").into_future());
    settle().await;
    attempt.accept().exchange("get k\r\n", &hit("k", "v")).await;
    assert_eq!(waiting.await.unwrap().unwrap().unwrap().data, "v");
    assert_eq!(client.healthy_nodes().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn idle_death_is_noticed_at_once() {
    let (client, mut attempts) = client(|builder| builder);
    let mut peer = attempts.next().await.accept();
    let read = tokio::spawn(client.get("k").into_future());
    peer.exchange("get k\r\n", "END\r\n").await;
    read.await.unwrap().unwrap();
    drop(peer);
    assert!(
        attempts
            .next_within(Duration::from_millis(1))
            .await
            .is_some()
    );
}

#[tokio::test(start_paused = true)]
async fn a_stalled_server_is_given_up_and_taken_back_only_when_it_answers() {
    let (client, mut attempts) = client(|builder| builder.backoff(exact()).timeout(None));
    let mut events = client.events();
    let mut peer = attempts.next().await.accept();
    let start = Instant::now();
    let error = client.get("k").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Stalled);
    assert!(error.maybe_executed());
    let noticed = start.elapsed();
    assert!(
        noticed >= Duration::from_secs(3) && noticed < Duration::from_secs(4),
        "{noticed:?}"
    );
    peer.expect("get k\r\n").await;
    peer.closed().await;

    // The kernel goes on accepting, but that is no answer.
    let error = client.get("k").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoNodeReachable, "{error}");
    let mut silent = attempts.next().await.accept();
    silent.expect("version\r\n").await;
    silent.closed().await;
    let mut silent = attempts.next().await.accept();
    silent.expect("version\r\n").await;
    silent.closed().await;
    assert!(matches!(
        events.recv().await,
        Some(Event::NodeUnhealthy { .. })
    ));

    let mut awake = attempts.next().await.accept();
    awake.exchange("version\r\n", "VERSION 1.6.18\r\n").await;
    assert!(matches!(
        events.recv().await,
        Some(Event::NodeHealthy { .. })
    ));
    let read = tokio::spawn(client.get("k").into_future());
    awake.exchange("get k\r\n", "END\r\n").await;
    read.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_slow_server_that_sends_something_is_not_stalled() {
    let (client, mut attempts) = client(|builder| builder.timeout(None));
    let mut peer = attempts.next().await.accept();
    let read = tokio::spawn(client.get("k").into_future());
    peer.expect("get k\r\n").await;
    for byte in hit("k", "slow").as_bytes() {
        tokio::time::sleep(Duration::from_millis(2_900)).await;
        peer.reply([*byte]).await;
    }
    assert_eq!(read.await.unwrap().unwrap().unwrap().data, "slow");
}

#[tokio::test(start_paused = true)]
async fn a_long_upload_is_not_a_stall() {
    let (client, mut attempts) = client(|builder| builder.timeout(None));
    let mut peer = attempts.next().await.accept();
    let value = vec![b'x'; 1024 * 1024];
    let write = tokio::spawn(client.set("k", value).into_future());
    peer.expect("set k 0 0 1048576\r\n").await;
    let mut received = 0;
    while received < 1024 * 1024 + 2 {
        tokio::time::sleep(Duration::from_millis(2_500)).await;
        received += peer.read_some().await.len();
    }
    peer.reply("STORED\r\n").await;
    write.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_server_that_closes_every_connection_unused_is_backed_off_from() {
    let (client, mut attempts) = client(|builder| builder.backoff(exact()));
    let mut events = client.events();
    let start = Instant::now();
    drop(attempts.next().await.accept());
    for _ in 0..2 {
        // From the second on, a connection counts only when the server has answered.
        drop(attempts.next().await.accept());
    }
    assert!(matches!(
        events.recv().await,
        Some(Event::NodeUnhealthy { .. })
    ));
    assert_eq!(start.elapsed(), Duration::from_secs(3));
}

#[tokio::test(start_paused = true)]
async fn a_refusal_at_the_door_is_told_in_the_servers_words() {
    let (client, mut attempts) = client(|builder| builder.backoff(exact()));
    let mut peer = attempts.next().await.accept();
    peer.reply("ERROR Too many open connections\r\n").await;
    drop(peer);
    settle().await;
    let error = client.get("k").await.unwrap_err();
    assert!(
        error.to_string().contains("Too many open connections"),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_server_that_gives_nothing_but_error_lines_is_backed_off_from() {
    let (client, mut attempts) = client(|builder| builder.backoff(exact()));
    let mut peer = attempts.next().await.accept();
    settle().await;
    let read = tokio::spawn(client.get("k").into_future());
    peer.exchange("get k\r\n", "ERROR Too many open connections\r\n")
        .await;
    drop(peer);
    let error = read.await.unwrap().unwrap_err();
    assert!(
        error.to_string().contains("Too many open connections"),
        "{error}"
    );
    assert!(
        attempts
            .next_within(Duration::from_millis(900))
            .await
            .is_none()
    );
    attempts
        .next()
        .await
        .accept()
        .exchange("version\r\n", "VERSION 1\r\n")
        .await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_answers_version_and_nothing_else_is_backed_off_from() {
    let (client, mut attempts) = client(|builder| builder.backoff(exact()).timeout(None));
    let mut events = client.events();
    let start = Instant::now();
    for version in [false, true, true] {
        let mut peer = attempts.next().await.accept();
        if version {
            peer.exchange("version\r\n", "VERSION 1\r\n").await;
        }
        settle().await;
        let lost = tokio::spawn(client.get("k").into_future());
        peer.expect("get k\r\n").await;
        drop(peer);
        assert_eq!(
            lost.await.unwrap().unwrap_err().kind(),
            ErrorKind::ConnectionLost
        );
    }
    assert!(matches!(
        events.recv().await,
        Some(Event::NodeUnhealthy { .. })
    ));
    drop(attempts.next().await);
    // After 1, 2 and then 4 s.
    assert_eq!(start.elapsed(), Duration::from_secs(7));
}

struct Recorder {
    told: Arc<Mutex<Vec<String>>>,
}

impl ClusterEvents for Recorder {
    async fn on_node_healthy(&self, node: Arc<str>) {
        self.told.lock().unwrap().push(format!("healthy {node}"));
        panic!("a handler may panic");
    }

    async fn on_node_unhealthy(&self, node: Arc<str>, _reason: Arc<str>) {
        self.told.lock().unwrap().push(format!("unhealthy {node}"));
        tokio::time::sleep(Duration::from_secs(3_600)).await;
        self.told.lock().unwrap().push(format!("slept {node}"));
    }
}

#[tokio::test(start_paused = true)]
async fn handlers_are_told_in_order_and_neither_slowness_nor_panics_harm() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let (client, mut attempts) = client(|builder| {
        builder.backoff(exact()).cluster_events(Recorder {
            told: Arc::clone(&told),
        })
    });
    let mut standing = None;
    for _ in 0..2 {
        drop(standing.take());
        refuse(&mut attempts, 3).await;
        let mut peer = attempts.next().await.accept();
        settle().await;
        // The handler sleeps and panics meanwhile, and requests go on.
        let read = tokio::spawn(client.get("k").into_future());
        peer.exchange("get k\r\n", "END\r\n").await;
        assert_eq!(read.await.unwrap().unwrap(), None);
        standing = Some(peer);
    }
    tokio::time::sleep(Duration::from_secs(10_000)).await;
    let once = ["unhealthy n", "slept n", "healthy n"];
    assert_eq!(*told.lock().unwrap(), [once, once].concat());
}

#[tokio::test(start_paused = true)]
async fn purged_nodes_leave_the_hashing_and_come_back() {
    let (network, mut attempts) = network();
    let client = Client::builder()
        .nodes(["a=a:1", "b=b:1"])
        .connector(network)
        .purge_unhealthy_nodes(true)
        .backoff(exact())
        .build()
        .unwrap();
    let owner = |key: &str| client.node_for_key(key).map(|node| node.name().to_owned());
    let keys: Vec<String> = (0..100).map(|n| format!("key-{n}")).collect();
    let before: Vec<_> = keys.iter().map(|key| owner(key).unwrap()).collect();
    let mut events = client.events();

    let mut peers = Vec::new();
    let mut refused = 0;
    while refused < 3 {
        let attempt = attempts.next().await;
        if attempt.endpoint == "b:1" {
            attempt.refuse();
            refused += 1;
        } else {
            peers.push(attempt.accept());
        }
    }
    assert!(matches!(
        events.recv().await,
        Some(Event::NodeUnhealthy { .. })
    ));
    assert!(keys.iter().all(|key| owner(key).unwrap() == "a"));

    peers.clear();
    refused = 0;
    while refused < 4 {
        attempts.next().await.refuse();
        refused += 1;
    }
    let error = loop {
        match client.get("key-1").await {
            Err(error) if client.unhealthy_nodes().len() == 2 => break error,
            _ => attempts.next().await.refuse(),
        }
    };
    assert_eq!(error.kind(), ErrorKind::NoNodeReachable);
    assert!(
        error.to_string().contains("no node is reachable"),
        "{error}"
    );

    while client.healthy_nodes().len() < 2 {
        let attempt = attempts.next().await;
        let mut peer = attempt.accept();
        tokio::spawn(async move {
            if peer.read_some().await == "version\r\n" {
                peer.reply("VERSION 1\r\n").await;
            }
            peer.read_some().await;
        });
        settle().await;
    }
    let after: Vec<_> = keys.iter().map(|key| owner(key).unwrap()).collect();
    assert_eq!(before, after);
}

/// Nodes that come back within moments of each other return to the hashing together; who waits until
/// all are connected finds them there.
#[tokio::test(start_paused = true)]
async fn a_ready_client_has_its_nodes_in_the_hashing() {
    let (network, mut attempts) = network();
    let client = Client::builder()
        .nodes(["a=a:1", "b=b:1", "c=c:1"])
        .connector(network)
        .purge_unhealthy_nodes(true)
        .unhealthy_after(1)
        .backoff(exact())
        .build()
        .unwrap();
    let owners = || -> Vec<_> {
        let owner = |key: usize| client.node_for_key(format!("key-{key}"));
        let name = |key| owner(key).ok().map(|node| node.name().to_owned());
        (0..100).map(name).collect()
    };
    let before = owners();
    let mut events = client.events();
    let ready = client.ready(Duration::from_secs(60));
    let serve = async {
        for _ in 0..3 {
            attempts.next().await.refuse();
        }
        for _ in 0..3 {
            assert!(matches!(
                events.recv().await,
                Some(Event::NodeUnhealthy { .. })
            ));
        }
        let mut peers = Vec::new();
        for _ in 0..3 {
            peers.push(attempts.next().await.accept());
        }
        peers
    };
    let (ready, _peers) = tokio::join!(ready, serve);
    ready.unwrap();
    assert_eq!(owners(), before);
}

/// Only a server that has sent nothing at all may be one that waits for TLS.
#[tokio::test(start_paused = true)]
async fn a_connection_that_breaks_within_a_value_says_nothing_of_tls() {
    for (sent, suspected) in [("", true), ("VALUE k 0 5\r\nab", false), ("VAL", false)] {
        let (client, mut attempts) = client(|builder| builder);
        let mut peer = attempts.next().await.accept();
        let (read, ()) = tokio::join!(client.get("k").into_future(), async {
            peer.exchange("get k\r\n", sent).await;
            drop(peer);
        });
        let error = read.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionLost);
        assert_eq!(error.to_string().contains("TLS"), suspected, "{error}");
    }
}
