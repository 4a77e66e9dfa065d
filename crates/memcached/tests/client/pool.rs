//! Connections come as load needs them and go when it does not; their places are kept and given back.

use std::time::Duration;

use steersman_memcached::{ErrorKind, Stage};

use crate::network::{client, settle};

const MINUTE: Duration = Duration::from_secs(60);

#[tokio::test(start_paused = true)]
async fn another_connection_opens_under_load_and_is_purged_when_idle() {
    let (client, mut attempts) = client(|builder| {
        builder
            .open_connection_above(4)
            .max_connections(2)
            .autobatching(false)
            .timeout(None)
    });
    let metrics = || client.node("n").unwrap().metrics();
    let mut first = attempts.next().await.accept();
    let reads: Vec<_> = (0..4)
        .map(|_| tokio::spawn(client.get("k").into_future()))
        .collect();
    assert!(
        attempts
            .next_within(Duration::from_millis(10))
            .await
            .is_none()
    );
    let more: Vec<_> = (0..4)
        .map(|_| tokio::spawn(client.get("k").into_future()))
        .collect();
    let mut second = attempts.next().await.accept();
    settle().await;
    let least_busy = tokio::spawn(client.get("k").into_future());
    second.exchange("get k\r\n", "END\r\n").await;
    least_busy.await.unwrap().unwrap();
    first.expect(&"get k\r\n".repeat(8)).await;
    first.reply("END\r\n".repeat(8)).await;
    for read in reads.into_iter().chain(more) {
        assert_eq!(read.await.unwrap().unwrap(), None);
    }

    assert_eq!(metrics().cur_connections, 2);
    tokio::time::sleep(MINUTE + Duration::from_secs(1)).await;
    let after = metrics();
    assert_eq!(
        (
            after.cur_connections,
            after.connections_purged,
            after.connections_closed
        ),
        (1, 1, 1)
    );
    second.closed().await;
    // The last one stays, however long nothing happens.
    tokio::time::sleep(100 * MINUTE).await;
    assert_eq!(metrics().cur_connections, 1);
}

#[tokio::test(start_paused = true)]
async fn a_connection_with_requests_in_flight_is_never_purged() {
    let (client, mut attempts) = client(|builder| {
        let spread = builder.min_connections(2).open_connection_above(1);
        spread.timeout(None).stalled_after(None)
    });
    let mut first = attempts.next().await.accept();
    let mut second = attempts.next().await.accept();
    settle().await;
    let reads = [(); 2].map(|()| tokio::spawn(client.get("k").into_future()));
    tokio::time::sleep(10 * MINUTE).await;
    first.exchange("get k\r\n", "END\r\n").await;
    second.exchange("get k\r\n", "END\r\n").await;
    for read in reads {
        read.await.unwrap().unwrap();
    }
    tokio::time::sleep(10 * MINUTE).await;
    assert_eq!(
        client.node("n").unwrap().metrics().cur_connections,
        2,
        "min_connections stay"
    );
}

#[tokio::test(start_paused = true)]
async fn a_connection_is_filled_up_before_the_next_one_is_used() {
    let (client, mut attempts) = client(|builder| {
        builder
            .min_connections(2)
            .open_connection_above(4)
            .timeout(None)
    });
    let mut first = attempts.next().await.accept();
    let mut second = attempts.next().await.accept();
    settle().await;
    let reads: Vec<_> = (0..8)
        .map(|number| tokio::spawn(client.get(format!("k{number}")).into_future()))
        .collect();
    settle().await;
    first.exchange("get k0 k1 k2 k3\r\n", "END\r\n").await;
    second.exchange("get k4 k5 k6 k7\r\n", "END\r\n").await;
    for read in reads {
        assert_eq!(read.await.unwrap().unwrap(), None);
    }
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_is_stuck_gets_no_more_while_there_are_others() {
    let (client, mut attempts) = client(|builder| {
        let builder = builder.min_connections(2).max_connections(2);
        builder.stalled_after(None).timeout(None)
    });
    let mut first = attempts.next().await.accept();
    let mut second = attempts.next().await.accept();
    settle().await;
    let stuck = tokio::spawn(client.get("stuck").into_future());
    first.expect("get stuck\r\n").await;
    tokio::time::sleep(Duration::from_millis(11)).await;
    for _ in 0..100 {
        let read = tokio::spawn(client.get("k").into_future());
        second.exchange("get k\r\n", "END\r\n").await;
        read.await.unwrap().unwrap();
    }
    // More than one connection should have is still better there than on the stuck one.
    let many: Vec<_> = (0..100)
        .map(|_| tokio::spawn(client.get("k").into_future()))
        .collect();
    second.exchange("get k\r\n", "END\r\n").await;
    for read in many {
        read.await.unwrap().unwrap();
    }
    // It answers: it is the first one again.
    first.reply("END\r\n").await;
    stuck.await.unwrap().unwrap();
    let read = tokio::spawn(client.get("k").into_future());
    first.exchange("get k\r\n", "END\r\n").await;
    read.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn with_no_connections_kept_ahead_the_first_request_connects() {
    let (client, mut attempts) = client(|builder| builder.min_connections(0));
    assert!(attempts.next_within(MINUTE).await.is_none());
    let read = tokio::spawn(client.get("k").into_future());
    let mut peer = attempts.next().await.accept();
    peer.exchange("get k\r\n", "END\r\n").await;
    read.await.unwrap().unwrap();
    tokio::time::sleep(10 * MINUTE).await;
    assert_eq!(client.node("n").unwrap().metrics().cur_connections, 1);
}

#[tokio::test(start_paused = true)]
async fn nothing_ahead_and_nobody_waiting_still_connects() {
    let (client, mut attempts) = client(|builder| builder.min_connections(0).max_waiting(0));
    let error = client.get("k").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Overloaded);
    let mut peer = attempts.next().await.accept();
    settle().await;
    let read = tokio::spawn(client.get("k").into_future());
    peer.exchange("get k\r\n", "END\r\n").await;
    read.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_line_of_keys_keeps_its_place_until_its_last_answer() {
    let (client, mut attempts) = client(|builder| builder.max_connections(1).timeout(None));
    let mut peer = attempts.next().await.accept();
    settle().await;
    let first = tokio::spawn(client.get("z").into_future());
    // Joins the line of z, which is then answered first although it was asked last.
    let many = tokio::spawn(client.get_many(["a", "b", "z"]).into_future());
    peer.expect("get z a b\r\n").await;
    peer.reply("VALUE z 0 1\r\n1\r\n").await;
    first.await.unwrap().unwrap();
    settle().await;
    assert_eq!(client.node("n").unwrap().metrics().in_flight, 1);
    peer.reply("END\r\n").await;
    assert_eq!(many.await.unwrap().missing, ["a", "b"]);
    settle().await;
    assert_eq!(client.node("n").unwrap().metrics().in_flight, 0);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_get_many_is_counted_wherever_it_is() {
    let (client, mut attempts) =
        client(|builder| builder.max_connections(1).max_in_flight(1).timeout(None));
    let mut peer = attempts.next().await.accept();
    settle().await;
    let busy = tokio::spawn(client.get("a").into_future());
    peer.expect("get a\r\n").await;
    let waiting = tokio::spawn(client.get_many(["b", "c"]).into_future());
    settle().await;
    waiting.abort();
    settle().await;
    peer.reply("END\r\n").await;
    busy.await.unwrap().unwrap();
    let metrics = client.node("n").unwrap().metrics();
    let ended = (metrics.operations_executed, metrics.operations_cancelled);
    assert_eq!((metrics.operations_waited, ended), (1, (1, 1)));
}

#[tokio::test(start_paused = true)]
async fn abandoned_requests_keep_their_place_until_the_reply_came() {
    let (client, mut attempts) = client(|builder| {
        builder
            .max_connections(1)
            .max_in_flight(1)
            .autobatching(false)
    });
    let mut peer = attempts.next().await.accept();
    settle().await;
    let error = client
        .get("a")
        .timeout(Duration::from_millis(10))
        .await
        .unwrap_err();
    assert_eq!(error.stage(), Stage::Exchange);
    let error = client
        .get("b")
        .timeout(Duration::from_millis(10))
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.stage()),
        (ErrorKind::Timeout, Stage::Waiting)
    );
    assert!(!error.maybe_executed());
    peer.exchange("get a\r\n", "END\r\n").await;
    let read = tokio::spawn(client.get("c").into_future());
    peer.exchange("get c\r\n", "END\r\n").await;
    read.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_connection_full_of_abandoned_requests_is_closed() {
    let (client, mut attempts) = client(|builder| {
        builder
            .max_connections(1)
            .max_in_flight(2)
            .stalled_after(None)
            .autobatching(false)
    });
    let mut peer = attempts.next().await.accept();
    settle().await;
    for key in ["a", "b"] {
        client
            .get(key)
            .timeout(Duration::from_millis(10))
            .await
            .unwrap_err();
    }
    peer.expect("get a\r\nget b\r\n").await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    peer.closed().await;
    let mut next = attempts.next().await.accept();
    next.exchange("version\r\n", "VERSION 1\r\n").await;
    settle().await;
    let read = tokio::spawn(client.get("c").into_future());
    next.exchange("get c\r\n", "END\r\n").await;
    read.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_answers_is_never_given_up_for_being_full() {
    for noreply in [true, false] {
        let (client, mut attempts) = client(|builder| {
            let builder = builder.max_connections(1).max_in_flight(2);
            builder.stalled_after(Duration::from_millis(400))
        });
        let mut peer = attempts.next().await.accept();
        settle().await;
        // All places are always taken, by writes without a reply or by calls that were given up, and
        // one of them comes free every 50 ms.
        let caller = tokio::spawn({
            let client = client.clone();
            async move {
                loop {
                    if noreply {
                        client.set("k", "v").noreply().await.unwrap();
                    } else {
                        let read = client.get("k").timeout(Duration::from_millis(10));
                        assert_eq!(read.await.unwrap_err().kind(), ErrorKind::Timeout);
                    }
                }
            }
        });
        let (request, reply) = if noreply {
            ("set k 0 0 1\r\nv\r\n", "STORED\r\n")
        } else {
            ("get k\r\n", "END\r\n")
        };
        for _ in 0..100 {
            tokio::time::sleep(Duration::from_millis(50)).await;
            peer.expect(request).await;
            peer.reply(reply).await;
        }
        caller.abort();
        assert_eq!(client.node("n").unwrap().metrics().connections_closed, 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_pool_whose_connections_are_full_grows_however_few_they_take() {
    let (client, mut attempts) = client(|builder| {
        let builder = builder.max_in_flight(2).max_connections(3);
        builder.timeout(None).autobatching(false)
    });
    let reads: Vec<_> = (0..6)
        .map(|_| tokio::spawn(client.get("k").into_future()))
        .collect();
    let mut peers = Vec::new();
    for _ in 0..3 {
        peers.push(attempts.next().await.accept());
    }
    settle().await;
    for peer in &mut peers {
        let replies = "END\r\nEND\r\n";
        peer.exchange("get k\r\nget k\r\n", replies).await;
    }
    for read in reads {
        read.await.unwrap().unwrap();
    }
}
