//! Time-outs cover the whole operation, and any call can have its own.

use std::time::Duration;

use steersman_memcached::{Client, ErrorKind, Stage};
use tokio::time::Instant;

use crate::network::{Peer, client};

#[tokio::test(start_paused = true)]
async fn the_time_out_covers_waiting_for_a_connection() {
    let (client, mut attempts) = client(|builder| builder);
    let start = Instant::now();
    let error = client.get("k").await.unwrap_err();
    assert_eq!(
        (error.kind(), error.stage()),
        (ErrorKind::Timeout, Stage::Waiting)
    );
    assert!(!error.maybe_executed());
    assert_eq!(start.elapsed(), Duration::from_secs(1));
    drop(attempts.next().await);
}

#[tokio::test(start_paused = true)]
async fn a_call_can_have_a_time_out_of_its_own_or_none() {
    let (client, mut attempts) = client(|builder| builder.stalled_after(None));
    let mut peer = attempts.next().await.accept();
    let start = Instant::now();
    let error = client
        .get("k")
        .timeout(Duration::from_millis(20))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert_eq!(start.elapsed(), Duration::from_millis(20));
    client
        .set("k", "v")
        .timeout(Duration::ZERO)
        .await
        .unwrap_err();

    let patient = tokio::spawn(client.get("k").timeout(None).into_future());
    let very = tokio::spawn(client.get("k").timeout(Duration::MAX).into_future());
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    peer.expect("get k\r\nset k 0 0 1\r\nv\r\nget k\r\n").await;
    peer.reply("END\r\nSTORED\r\nEND\r\n").await;
    assert_eq!(patient.await.unwrap().unwrap(), None);
    assert_eq!(very.await.unwrap().unwrap(), None);
}

/// Whatever shares a batch with it, and however long nothing was asked before.
#[tokio::test(start_paused = true)]
async fn a_call_has_its_whole_time_after_calls_without_one() {
    let (client, mut attempts) = client(|builder| builder);
    let mut peer = attempts.next().await.accept();
    tokio::spawn(async move {
        loop {
            let asked = peer.read_some().await;
            for line in asked.split("\r\n") {
                match line.split(' ').next() {
                    Some("get") => peer.reply("END\r\n").await,
                    Some("set") => peer.reply("STORED\r\n").await,
                    _ => {}
                }
            }
        }
    });
    for _ in 0..2 {
        client.get("warm").await.unwrap();
        tokio::time::sleep(Duration::from_secs(2)).await;
        client.set("k", "v").noreply().await.unwrap();
        assert_eq!(client.get("k").await.unwrap(), None);

        tokio::time::sleep(Duration::from_secs(2)).await;
        let untimed = client.get("a").timeout(None).into_future();
        let (untimed, timed) = tokio::join!(untimed, client.get("b").into_future());
        assert_eq!((untimed.unwrap(), timed.unwrap()), (None, None));

        tokio::time::sleep(Duration::from_secs(2)).await;
        let many = client.get_many(["a"]).into_future();
        let (many, timed) = tokio::join!(many, client.get("b").into_future());
        assert!(many.failed.is_empty());
        assert_eq!(timed.unwrap(), None);
    }
}

#[tokio::test(start_paused = true)]
async fn durations_are_said_as_memcached_needs_them() {
    let (client, mut attempts) = client(|builder| builder);
    let mut peer = attempts.next().await.accept();
    let month = Duration::from_secs(30 * 24 * 3600);
    for (expires, wire) in [
        (Duration::ZERO, -1),
        (Duration::from_nanos(1), 1),
        (Duration::from_millis(1_500), 2),
        (month, 2_592_000),
    ] {
        let set = tokio::spawn(client.set("k", "").expires_in(expires).into_future());
        peer.exchange(&format!("set k 0 {wire} 0\r\n\r\n"), "STORED\r\n")
            .await;
        set.await.unwrap().unwrap();
    }
    // Above 30 days the number is a point in time, so it depends on the clock.
    let before = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    let set = tokio::spawn(
        client
            .set("k", "")
            .expires_in(month + Duration::from_secs(1))
            .into_future(),
    );
    let line = peer.read_some().await;
    peer.reply("STORED\r\n").await;
    set.await.unwrap().unwrap();
    let wire: u64 = line.split(' ').nth(3).unwrap().parse().unwrap();
    let expected = before.as_secs() + 2_592_001;
    assert!((expected..expected + 60).contains(&wire), "{line}");
}

#[tokio::test(start_paused = true)]
async fn values_may_be_owned_or_borrowed_and_noreply_may_come_first() {
    let (client, mut attempts) = client(|builder| builder);
    let mut peer = attempts.next().await.accept();
    let text = String::from("v");
    let minute = Duration::from_secs(60);
    client
        .set("k", &text)
        .noreply()
        .expires_in(minute)
        .flags(2)
        .await
        .unwrap();
    client
        .set("k", text.as_bytes())
        .expires(None)
        .noreply()
        .await
        .unwrap();
    client.set("k", b"v").noreply().await.unwrap();
    client.set("k", [b'v']).noreply().await.unwrap();
    client.set("k", text).noreply().await.unwrap();
    peer.expect("set k 2 60 1\r\nv\r\n").await;
    peer.expect(&"set k 0 0 1\r\nv\r\n".repeat(4)).await;
}

/// A node whose only connection has one place, taken by a read that has all the time there is.
async fn busy_node() -> (Client, Peer) {
    let (client, mut attempts) = client(|builder| {
        builder
            .max_connections(1)
            .max_in_flight(1)
            .autobatching(false)
            .stalled_after(None)
    });
    let mut peer = attempts.next().await.accept();
    tokio::spawn(client.get("busy").timeout(None).into_future());
    peer.expect("get busy\r\n").await;
    (client, peer)
}

#[tokio::test(start_paused = true)]
async fn each_request_in_the_queue_has_its_own_time() {
    let (client, mut peer) = busy_node().await;
    let start = Instant::now();
    let read = |key: &'static str, limit: Option<u64>| {
        let call = client.get(key).timeout(limit.map(Duration::from_millis));
        tokio::spawn(async move {
            let error = call.await.unwrap_err();
            assert!(!error.maybe_executed());
            (error.kind(), error.stage(), start.elapsed().as_millis())
        })
    };
    let late = |millis| (ErrorKind::Timeout, Stage::Waiting, millis);
    let patient = tokio::spawn(client.get("patient").timeout(None).into_future());
    let (second, first) = (read("second", Some(300)), read("first", Some(100)));
    let at_once = read("none", Some(0));
    assert_eq!(at_once.await.unwrap(), late(0));
    assert_eq!(first.await.unwrap(), late(100));
    assert_eq!(second.await.unwrap(), late(300));

    let metrics = client.node("n").unwrap().metrics();
    let failed = metrics.operations_executed_with_error;
    assert_eq!((metrics.waiting, failed), (1, 3));
    peer.reply("END\r\n").await;
    peer.exchange("get patient\r\n", "END\r\n").await;
    assert_eq!(patient.await.unwrap().unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_waited_for_its_place_gets_no_more_time_by_that() {
    let (client, mut peer) = busy_node().await;
    let start = Instant::now();
    let write = tokio::spawn(
        client
            .set("k", "v")
            .timeout(Duration::from_millis(500))
            .into_future(),
    );
    tokio::time::sleep(Duration::from_millis(400)).await;
    peer.reply("END\r\n").await;
    peer.expect("set k 0 0 1\r\nv\r\n").await;
    let error = write.await.unwrap().unwrap_err();
    assert_eq!(
        (error.kind(), error.stage()),
        (ErrorKind::Timeout, Stage::Exchange)
    );
    assert!(error.maybe_executed());
    assert_eq!(start.elapsed(), Duration::from_millis(500));
}
