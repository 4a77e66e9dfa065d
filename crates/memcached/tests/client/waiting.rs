//! Requests that wait: in their order, for as long as their callers do.

use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use steersman_memcached::{ErrorKind, PoolMetrics, Stage};
use tokio::time::Instant;

use crate::network::{client, settle};

#[tokio::test(start_paused = true)]
async fn waiting_requests_are_served_in_order_and_too_many_are_refused() {
    let (client, mut attempts) = client(|builder| {
        builder
            .max_connections(1)
            .max_in_flight(2)
            .max_waiting(3)
            .autobatching(false)
            .timeout(None)
    });
    let mut peer = attempts.next().await.accept();
    settle().await;
    let reads: Vec<_> = ["a", "b", "c", "d", "e"]
        .map(|key| tokio::spawn(client.get(key).into_future()))
        .into();
    peer.expect("get a\r\nget b\r\n").await;
    let before = Instant::now();
    let error = client.get("f").await.unwrap_err();
    assert_eq!(
        (error.kind(), error.stage()),
        (ErrorKind::Overloaded, Stage::Waiting)
    );
    assert!(error.is_retryable() && !error.maybe_executed());
    assert_eq!(before.elapsed(), Duration::ZERO);
    let PoolMetrics {
        in_flight,
        waiting,
        operations_waited,
        ..
    } = client.node("n").unwrap().metrics();
    assert_eq!((in_flight, waiting, operations_waited), (2, 3, 3));

    // One that leaves the queue makes room for another at its end.
    reads[3].abort();
    settle().await;
    let last = tokio::spawn(client.get("g").into_future());
    settle().await;
    peer.reply("END\r\nEND\r\n").await;
    peer.exchange("get c\r\nget e\r\n", "END\r\nEND\r\n").await;
    peer.exchange("get g\r\n", "END\r\n").await;
    last.await.unwrap().unwrap();
    let metrics = client.node("n").unwrap().metrics();
    assert_eq!((metrics.in_flight, metrics.waiting), (0, 0));
}

async fn poll_once<F: Future>(mut future: Pin<&mut F>) -> Poll<F::Output> {
    std::future::poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await
}

#[tokio::test(start_paused = true)]
async fn a_request_takes_its_turn_even_if_its_caller_does_not_look() {
    let (client, mut attempts) = client(|builder| {
        builder
            .max_connections(1)
            .max_in_flight(2)
            .autobatching(false)
            .timeout(None)
    });
    let mut peer = attempts.next().await.accept();
    settle().await;
    let mut idle: Vec<_> = ["a", "b", "c", "d"]
        .map(|key| Box::pin(client.get(key).into_future()))
        .into();
    for call in &mut idle {
        assert!(poll_once(call.as_mut()).await.is_pending());
    }
    let busy = tokio::spawn(client.get("e").into_future());
    for line in ["get a\r\nget b\r\n", "get c\r\nget d\r\n"] {
        peer.exchange(line, "END\r\nEND\r\n").await;
    }
    peer.exchange("get e\r\n", "END\r\n").await;
    busy.await.unwrap().unwrap();
    for call in idle {
        assert_eq!(call.await.unwrap(), None);
    }
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_leaves_the_queue_is_not_served() {
    let (client, mut attempts) = client(|builder| {
        builder
            .max_connections(1)
            .max_in_flight(1)
            .autobatching(false)
            .timeout(None)
    });
    let mut peer = attempts.next().await.accept();
    settle().await;
    let first = tokio::spawn(client.get("a").into_future());
    peer.expect("get a\r\n").await;
    let mut leaving = Box::pin(client.get("b").into_future());
    assert!(poll_once(leaving.as_mut()).await.is_pending());
    let next = tokio::spawn(client.get("c").into_future());
    settle().await;
    drop(leaving);
    peer.reply("END\r\n").await;
    first.await.unwrap().unwrap();
    peer.exchange("get c\r\n", "END\r\n").await;
    next.await.unwrap().unwrap();
    let metrics = client.node("n").unwrap().metrics();
    assert_eq!((metrics.in_flight, metrics.operations_cancelled), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn many_calls_of_one_task_all_start_at_its_first_poll() {
    let (client, mut attempts) = client(|builder| builder.timeout(None));
    let _peer = attempts.next().await.accept();
    settle().await;
    let calls = (0..5_000).map(|n| client.get(format!("k{n}")).into_future());
    let mut all = Box::pin(futures_util::future::join_all(calls));
    assert!(poll_once(all.as_mut()).await.is_pending());
    let PoolMetrics {
        in_flight, waiting, ..
    } = client.node("n").unwrap().metrics();
    assert_eq!(in_flight + waiting, 5_000);
}

#[tokio::test(start_paused = true)]
async fn the_time_out_counts_from_the_first_poll() {
    let (client, mut attempts) = client(|builder| builder);
    let mut peer = attempts.next().await.accept();
    let call = client.get("k").into_future();
    tokio::time::sleep(Duration::from_secs(60)).await;
    let call = tokio::spawn(call);
    peer.exchange("get k\r\n", "END\r\n").await;
    assert_eq!(call.await.unwrap().unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn waiting_requests_move_to_the_connection_that_replaces_a_lost_one() {
    let (client, mut attempts) =
        client(|builder| builder.max_connections(1).max_in_flight(1).timeout(None));
    let mut peer = attempts.next().await.accept();
    settle().await;
    let lost = tokio::spawn(client.get("a").into_future());
    peer.exchange("get a\r\n", "END\r\n").await;
    lost.await.unwrap().unwrap();
    let lost = tokio::spawn(client.get("a").into_future());
    peer.expect("get a\r\n").await;
    let waiting = tokio::spawn(client.get("b").into_future());
    settle().await;
    drop(peer);
    assert_eq!(
        lost.await.unwrap().unwrap_err().kind(),
        ErrorKind::ConnectionLost
    );
    let mut peer = attempts.next().await.accept();
    peer.exchange("get b\r\n", "END\r\n").await;
    waiting.await.unwrap().unwrap();
}
