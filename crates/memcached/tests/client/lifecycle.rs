//! Building, becoming ready, changing members, closing, and the runtimes that a client lives on.

use std::time::Duration;

use steersman_memcached::{Backoff, Client, ErrorKind, Event, Scheme};
use tokio::time::Instant;

use crate::network::{self, client, network, settle};

#[test]
fn every_invalid_option_is_named() {
    let builder = || Client::builder().node("h");
    let cases = [
        (Client::builder(), "node"),
        (builder().node("h"), "node"),
        (builder().node("h:0"), "node"),
        (builder().node("x=h*0"), "node"),
        (
            builder().max_connections(0).min_connections(0),
            "max_connections",
        ),
        (builder().min_connections(3), "min_connections"),
        (builder().timeout(Duration::ZERO), "timeout"),
        (
            builder().connection_timeout(Duration::ZERO),
            "connection_timeout",
        ),
        (
            builder().purge_unused_connections_after(Duration::ZERO),
            "purge_unused_connections_after",
        ),
        (builder().stalled_after(Duration::ZERO), "stalled_after"),
        (builder().autobatching_max_keys(0), "autobatching_max_keys"),
        (builder().max_in_flight(0), "max_in_flight"),
        (
            builder().resolve_interval(Duration::ZERO),
            "resolve_interval",
        ),
        (
            builder().discovery_timeout(Duration::ZERO),
            "discovery_timeout",
        ),
        (
            builder().discovery_interval(Duration::ZERO),
            "discovery_interval",
        ),
        (builder().max_value_size(0), "max_value_size"),
        (builder().unhealthy_after(0), "unhealthy_after"),
        (
            builder().backoff(Backoff {
                jitter: 2.0,
                ..Backoff::default()
            }),
            "backoff",
        ),
        (builder().placement(Scheme::Emcache).node("w=h2*2"), "node"),
    ];
    for (builder, option) in cases {
        let error = builder.build().unwrap_err();
        assert_eq!(
            (error.kind(), error.option()),
            (ErrorKind::Config, Some(option)),
            "{error}"
        );
        assert!(error.to_string().contains(option), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn ready_waits_for_every_node_and_says_which_is_not() {
    let (network, mut attempts) = network();
    let client = Client::builder()
        .nodes(["a=a:1", "b=b:1"])
        .connector(network)
        .min_connections(0)
        .build()
        .unwrap();
    let ready = tokio::spawn({
        let client = client.clone();
        async move {
            let any = client.ready_any(Duration::from_secs(1)).await;
            (any, client.ready(Duration::from_secs(2)).await)
        }
    });
    let mut peers = Vec::new();
    for _ in 0..2 {
        let attempt = attempts.next().await;
        if attempt.endpoint == "a:1" {
            peers.push(attempt.accept());
        } else {
            attempt.refuse();
        }
    }
    let (any, all) = ready.await.unwrap();
    any.unwrap();
    let error = all.unwrap_err();
    assert_eq!(error.node(), Some("b"));
    assert!(error.to_string().contains("refused"), "{error}");
    let b = loop {
        match attempts.next().await {
            attempt if attempt.endpoint == "b:1" => break attempt.accept(),
            attempt => attempt.refuse(),
        }
    };
    client.ready(Duration::from_secs(1)).await.unwrap();
    drop((b, peers));
}

#[tokio::test(start_paused = true)]
async fn close_answers_what_was_sent_and_refuses_the_rest() {
    let (client, mut attempts) = client(|builder| builder);
    let mut peer = attempts.next().await.accept();
    settle().await;
    let sent = tokio::spawn(client.get("k").into_future());
    peer.expect("get k\r\n").await;
    let closing = tokio::spawn({
        let client = client.clone();
        async move { client.close().await }
    });
    settle().await;
    assert!(client.is_closed() && !closing.is_finished());
    let error = client.get("k").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Closed);
    assert_eq!(
        client.get_many(["k"]).await.failed[0].1.kind(),
        ErrorKind::Closed
    );
    assert_eq!(client.add_node("h2").unwrap_err().kind(), ErrorKind::Closed);
    peer.reply("END\r\n").await;
    assert_eq!(sent.await.unwrap().unwrap(), None);
    closing.await.unwrap();
    peer.closed().await;
    client.close().await;
    assert!(client.events().recv().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn close_fails_what_is_not_answered_in_time() {
    let (client, mut attempts) =
        client(|builder| builder.timeout(None).max_connections(1).max_in_flight(1));
    let mut peer = attempts.next().await.accept();
    settle().await;
    let sent = tokio::spawn(client.get("k").into_future());
    peer.expect("get k\r\n").await;
    let waiting = tokio::spawn(client.get("k").into_future());
    settle().await;
    let start = Instant::now();
    client.close_within(Duration::from_millis(200)).await;
    assert_eq!(start.elapsed(), Duration::from_millis(200));
    let error = sent.await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Closed);
    assert!(error.maybe_executed());
    let error = waiting.await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Closed);
    assert!(!error.maybe_executed());
    peer.closed().await;
}

#[tokio::test(start_paused = true)]
async fn close_does_not_wait_for_a_node_that_cannot_be_reached() {
    let (client, mut attempts) = client(|builder| builder);
    let hanging = attempts.next().await;
    let start = Instant::now();
    client.close().await;
    assert_eq!(start.elapsed(), Duration::ZERO);
    drop(hanging);
}

#[tokio::test(start_paused = true)]
async fn dropping_the_last_handle_closes_after_what_was_sent() {
    let (client, mut attempts) = client(|builder| builder);
    let mut peer = attempts.next().await.accept();
    settle().await;
    client.set("k", "v").noreply().await.unwrap();
    drop(client);
    peer.exchange("set k 0 0 1\r\nv\r\n", "STORED\r\n").await;
    peer.closed().await;
}

#[tokio::test(start_paused = true)]
async fn members_change_while_requests_are_in_flight() {
    let (client, mut attempts) = client(|builder| builder.timeout(None));
    let mut events = client.events();
    let mut old = attempts.next().await.accept();
    settle().await;
    let sent = tokio::spawn(client.get("k").into_future());
    old.expect("get k\r\n").await;
    client.add_node("m=other:2").unwrap();
    assert_eq!(
        client.add_node("m=other:3").unwrap_err().option(),
        Some("node")
    );
    client.remove_node("n").unwrap();
    assert_eq!(
        client.remove_node("n").unwrap_err().kind(),
        ErrorKind::UnknownNode
    );
    assert_eq!(client.nodes().len(), 1);
    let attempt = attempts.next().await;
    assert_eq!(attempt.endpoint, "other:2");
    let mut new = attempt.accept();
    let read = tokio::spawn(client.get("k").into_future());
    new.exchange("get k\r\n", "END\r\n").await;
    read.await.unwrap().unwrap();
    old.reply("END\r\n").await;
    sent.await.unwrap().unwrap();
    old.closed().await;
    assert_eq!(
        events.recv().await,
        Some(Event::NodeAdded { node: "m".into() })
    );
    assert_eq!(
        events.recv().await,
        Some(Event::NodeRemoved { node: "n".into() })
    );
    client.remove_node("m").unwrap();
    let error = client.get("k").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoNodeReachable);
    assert!(
        error.to_string().contains("the cluster has no nodes"),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn what_waits_for_a_removed_node_is_served_or_told() {
    let (client, mut attempts) = client(|builder| {
        builder
            .min_connections(2)
            .max_connections(2)
            .max_in_flight(1)
            .timeout(None)
    });
    let mut first = attempts.next().await.accept();
    let mut second = attempts.next().await.accept();
    settle().await;
    let read = tokio::spawn(client.get("k").into_future());
    first.exchange("get k\r\n", "END\r\n").await;
    read.await.unwrap().unwrap();
    // The write keeps everything on its connection, so the other one is idle.
    client.set("k", "v").noreply().await.unwrap();
    let served = tokio::spawn(client.get("a").into_future());
    let told = tokio::spawn(client.get("b").into_future());
    settle().await;
    client.remove_node("n").unwrap();
    first.exchange("set k 0 0 1\r\nv\r\n", "STORED\r\n").await;
    // Both wait no longer: one on each connection.
    first.expect("get a\r\n").await;
    second.exchange("get b\r\n", "END\r\n").await;
    told.await.unwrap().unwrap();
    second.closed().await;
    drop(first);
    assert_eq!(
        served.await.unwrap().unwrap_err().kind(),
        ErrorKind::ConnectionLost
    );
}

#[tokio::test(start_paused = true)]
async fn what_waits_for_a_removed_node_whose_connection_dies_goes_to_the_new_owner() {
    let (client, mut attempts) =
        client(|builder| builder.max_connections(1).max_in_flight(1).timeout(None));
    let mut peer = attempts.next().await.accept();
    settle().await;
    let lost = tokio::spawn(client.get("a").into_future());
    settle().await;
    let waiting = tokio::spawn(client.get("b").into_future());
    let many = tokio::spawn(client.get_many(["c", "d"]).into_future());
    let write = tokio::spawn(client.set("e", "v").noreply().into_future());
    let told = tokio::spawn(client.node("n").unwrap().version().into_future());
    peer.expect("get a\r\n").await;
    client.add_node("m=other:1").unwrap();
    client.remove_node("n").unwrap();
    drop(peer);
    assert_eq!(
        lost.await.unwrap().unwrap_err().kind(),
        ErrorKind::ConnectionLost
    );
    // What is asked of the node has nowhere to go.
    let error = told.await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnknownNode);
    assert!(
        error.to_string().contains("removed from the cluster"),
        "{error}"
    );
    assert!(!error.maybe_executed());

    let mut other = attempts.next().await.accept();
    for _ in 0..3 {
        let asked = other.read_some().await;
        let answer = match asked.as_str() {
            "set e 0 0 1\r\nv\r\n" => "STORED\r\n",
            "get b\r\n" | "get c d\r\n" => "END\r\n",
            asked => panic!("{asked:?}"),
        };
        other.reply(answer).await;
    }
    assert_eq!(waiting.await.unwrap().unwrap(), None);
    assert_eq!(many.await.unwrap().missing, ["c", "d"]);
    write.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn who_goes_to_a_new_owner_keeps_the_time() {
    let second = Duration::from_secs(1);
    let (client, mut attempts) = client(|builder| builder.timeout(second));
    // Neither address answers.
    let _hangs = attempts.next().await;
    let begun = Instant::now();
    let read = tokio::spawn(client.get("b").into_future());
    let write = tokio::spawn(client.set("b", "v").noreply().into_future());
    let many = tokio::spawn(client.get_many(["c"]).into_future());
    tokio::time::sleep(second / 2).await;
    client.add_node("m=other:1").unwrap();
    client.remove_node("n").unwrap();
    let late = [
        read.await.unwrap().map(drop),
        write.await.unwrap(),
        many.await.unwrap().into_result().map(drop),
    ];
    for late in late {
        let error = late.unwrap_err();
        assert_eq!(
            (error.kind(), error.node()),
            (ErrorKind::Timeout, Some("m"))
        );
    }
    assert_eq!(begun.elapsed(), second);
}

#[tokio::test(start_paused = true)]
async fn a_closed_client_says_so_even_without_nodes() {
    let (client, mut attempts) = client(|builder| builder);
    let peer = attempts.next().await.accept();
    client.remove_node("n").unwrap();
    client.close().await;
    assert_eq!(client.get("k").await.unwrap_err().kind(), ErrorKind::Closed);
    assert_eq!(
        client.get_many(["k"]).await.failed[0].1.kind(),
        ErrorKind::Closed
    );
    drop(peer);
}

struct PanicsOnce(std::sync::atomic::AtomicBool, network::Network);

impl steersman_memcached::Connector for PanicsOnce {
    fn connect<'a>(
        &'a self,
        endpoint: &'a steersman_memcached::Endpoint,
    ) -> steersman_memcached::Connecting<'a> {
        assert!(
            self.0.swap(true, std::sync::atomic::Ordering::Relaxed),
            "the first time"
        );
        self.1.connect(endpoint)
    }
}

#[tokio::test(start_paused = true)]
async fn a_connector_that_panics_ends_one_attempt_only() {
    let (network, mut attempts) = network();
    let client = Client::builder()
        .node("n=host:1")
        .connector(PanicsOnce(false.into(), network))
        .build()
        .unwrap();
    let error = client.get("k").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoNodeReachable, "{error}");
    let mut peer = attempts.next().await.accept();
    settle().await;
    let read = tokio::spawn(client.get("k").into_future());
    peer.exchange("get k\r\n", "END\r\n").await;
    read.await.unwrap().unwrap();
}

#[test]
fn a_client_built_outside_a_runtime_lives_on_the_first_that_uses_it() {
    let server_runtime = tokio::runtime::Runtime::new().unwrap();
    let server = server_runtime
        .block_on(steersman_testkit::Server::start())
        .unwrap();
    let client = Client::builder().node(server.node()).build().unwrap();
    let error = futures_executor::block_on(client.get("k").into_future()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Runtime);
    assert!(
        error.to_string().contains("there is no Tokio runtime here"),
        "{error}"
    );

    let first = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    first
        .block_on(async { client.set("k", "v").await })
        .unwrap();
    let second = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    assert_eq!(
        second
            .block_on(async { client.get("k").await })
            .unwrap()
            .unwrap()
            .data,
        "v"
    );
    let outside = futures_executor::block_on(client.get("k").into_future());
    assert_eq!(outside.unwrap().unwrap().data, "v");

    drop(first);
    for _ in 0..2 {
        let error = second
            .block_on(async { client.get("k").await })
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Runtime, "{error}");
        assert!(error.to_string().contains("runtime"), "{error}");
        let error = futures_executor::block_on(client.get("k").into_future()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Runtime, "{error}");
    }
    futures_executor::block_on(client.close());
}

/// A server that answers nothing, and the runtime that it runs on.
fn silent_server() -> (tokio::runtime::Runtime, steersman_testkit::Server) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let server = runtime
        .block_on(steersman_testkit::Server::start())
        .unwrap();
    server.faults().set_black_hole(true);
    (runtime, server)
}

#[test]
fn a_call_outside_a_runtime_keeps_its_time_out() {
    let (runtime, server) = silent_server();
    let client = Client::builder()
        .node(server.node())
        .runtime(runtime.handle().clone())
        .timeout(Duration::from_millis(50))
        .build()
        .unwrap();
    let error = futures_executor::block_on(client.get("k").into_future()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    let keys = (0..100).map(|n| format!("k{n}"));
    let many = futures_executor::block_on(client.get_many(keys).into_future());
    assert_eq!(many.failed.len(), 100);
    assert!(
        many.failed
            .iter()
            .all(|(_, error)| error.kind() == ErrorKind::Timeout)
    );
}

#[test]
fn a_call_on_a_runtime_without_timers_keeps_its_time_out() {
    let (runtime, server) = silent_server();
    let client = Client::builder()
        .node(server.node())
        .runtime(runtime.handle().clone())
        .max_in_flight(1)
        .max_connections(1)
        .min_connections(1)
        .timeout(Duration::from_millis(50))
        .build()
        .unwrap();
    let plain = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    // One is on the connection, or waits for it, and one waits for a place.
    let calls = [client.get("a").into_future(), client.get("b").into_future()];
    for outcome in plain.block_on(futures_util::future::join_all(calls)) {
        assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Timeout);
    }
}

/// A runtime of one thread stands still outside of its `block_on`.
#[test]
fn becoming_ready_and_closing_end_in_time_where_the_runtime_does_not_run() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let client = Client::builder()
        .node("localhost:1")
        .runtime(runtime.handle().clone())
        .timeout(Duration::from_millis(50))
        .build()
        .unwrap();
    let error = futures_executor::block_on(client.ready(Duration::from_millis(50))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
    futures_executor::block_on(client.close());
    let error = runtime.block_on(client.get("k").into_future()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Closed);
}

#[test]
fn a_runtime_without_timers_is_refused() {
    let plain = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .build()
        .unwrap();
    let builder = || Client::builder().node("localhost:1");
    let elsewhere = builder().build().unwrap();
    let errors = [
        builder()
            .runtime(plain.handle().clone())
            .build()
            .unwrap_err(),
        plain.block_on(async { builder().build().unwrap_err() }),
        plain.block_on(async { elsewhere.get("k").await.unwrap_err() }),
    ];
    for error in errors {
        assert_eq!(error.kind(), ErrorKind::Runtime);
        assert!(error.to_string().contains("enable_all"), "{error}");
    }
    // It has done nothing there, and lives on the first that it can live on.
    let whole = tokio::runtime::Runtime::new().unwrap();
    let error = whole.block_on(async { elsewhere.get("k").await.unwrap_err() });
    assert_eq!(error.kind(), ErrorKind::NoNodeReachable, "{error}");
}

#[test]
fn a_runtime_without_sockets_is_named_where_they_are_needed() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_time()
        .build()
        .unwrap();
    let client = Client::builder()
        .node("127.0.0.1:1")
        .runtime(runtime.handle().clone())
        .build()
        .unwrap();
    let error = runtime.block_on(async { client.get("k").await.unwrap_err() });
    assert!(error.to_string().contains("enable_io"), "{error}");
}

#[test]
fn calls_are_send_and_may_borrow_their_key() {
    fn send<T: Send>(value: T) -> T {
        value
    }
    let client = Client::builder().node("h").build().unwrap();
    let key = String::from("k");
    drop(send(client.get(&key).into_future()));
    drop(send(client.get_many([&key]).into_future()));
    drop(send(
        client.set(key.as_bytes(), "v").noreply().into_future(),
    ));
    let inner = client.clone();
    drop(send(async move { inner.flush_all().await }));
    drop(send(async move { client.close().await }));
}
