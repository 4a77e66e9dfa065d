//! A reply reaches the request that it answers and no other, whatever is dropped, late or broken.

use std::time::Duration;

use steersman_memcached::{CasOutcome, ErrorKind, StoreOutcome};

use crate::network::{client, hit, settle};

#[tokio::test(start_paused = true)]
async fn a_dropped_future_leaves_its_reply_to_nobody() {
    let (client, mut attempts) = client(|builder| builder.autobatching(false));
    let mut peer = attempts.next().await.accept();
    settle().await;
    let dropped = tokio::spawn(client.get("secret").into_future());
    peer.expect("get secret\r\n").await;
    dropped.abort();
    let read = tokio::spawn(client.get("mine").into_future());
    peer.expect("get mine\r\n").await;
    peer.reply(hit("secret", "not yours")).await;
    peer.reply(hit("mine", "yours")).await;
    assert_eq!(read.await.unwrap().unwrap().unwrap().data, "yours");
    let metrics = client.node("n").unwrap().metrics();
    assert_eq!(
        (metrics.connections_created, metrics.connections_closed),
        (1, 0)
    );
    assert_eq!(
        (metrics.operations_cancelled, metrics.operations_executed),
        (1, 1)
    );
    assert_eq!(metrics.in_flight, 0);
}

#[tokio::test(start_paused = true)]
async fn a_timed_out_request_does_not_close_its_connection() {
    let (client, mut attempts) = client(|builder| builder.autobatching(false));
    let mut peer = attempts.next().await.accept();
    let error = client
        .get("late")
        .timeout(Duration::from_millis(10))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert!(error.maybe_executed());
    assert!(
        error.to_string().contains("no reply within 10ms"),
        "{error}"
    );
    let read = tokio::spawn(client.get("next").into_future());
    peer.expect("get late\r\nget next\r\n").await;
    peer.reply(hit("late", "1")).await;
    peer.reply("END\r\n").await;
    assert_eq!(read.await.unwrap().unwrap(), None);
    assert_eq!(client.node("n").unwrap().metrics().connections_closed, 0);
}

#[tokio::test(start_paused = true)]
async fn a_value_of_another_key_is_never_handed_out() {
    let (client, mut attempts) = client(|builder| builder);
    let mut peer = attempts.next().await.accept();
    let read = tokio::spawn(client.get("mine").into_future());
    peer.exchange("get mine\r\n", &hit("secret", "not yours"))
        .await;
    let error = read.await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Protocol);
    peer.closed().await;
}

#[tokio::test(start_paused = true)]
async fn an_error_line_fails_its_request_at_once_and_keeps_the_connection() {
    let (client, mut attempts) = client(|builder| builder);
    let mut peer = attempts.next().await.accept();
    for (line, retryable) in [
        ("SERVER_ERROR out of memory writing get response", true),
        ("SERVER_ERROR something else", false),
        ("ERROR", false),
        ("CLIENT_ERROR bad command line format", false),
    ] {
        let read = tokio::spawn(client.get("k").into_future());
        peer.exchange("get k\r\n", &format!("{line}\r\n")).await;
        let error = read.await.unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Server);
        assert!(error.to_string().contains(line), "{error}");
        assert_eq!(error.is_retryable(), retryable, "{line}");
        assert!(!error.maybe_executed());
    }
    assert_eq!(client.node("n").unwrap().metrics().connections_closed, 0);
}

#[tokio::test(start_paused = true)]
async fn a_late_error_to_a_noreply_write_is_nobodys_reply() {
    let (client, mut attempts) = client(|builder| builder);
    let mut peer = attempts.next().await.accept();
    client.set("big", "x").noreply().await.unwrap();
    let read = tokio::spawn(client.get("k").into_future());
    peer.expect("set big 0 0 1\r\nx\r\nget k\r\n").await;
    peer.reply("SERVER_ERROR out of memory storing object\r\n")
        .await;
    peer.reply(hit("k", "v")).await;
    assert_eq!(read.await.unwrap().unwrap().unwrap().data, "v");
}

#[tokio::test(start_paused = true)]
async fn what_follows_a_noreply_write_takes_the_same_connection() {
    let (client, mut attempts) = client(|builder| {
        builder
            .min_connections(2)
            .max_connections(2)
            .open_connection_above(1)
            .autobatching(false)
    });
    let mut first = attempts.next().await.accept();
    let mut second = attempts.next().await.accept();
    settle().await;
    client.set("k", "1").noreply().await.unwrap();
    let reads: Vec<_> = (0..20)
        .map(|_| tokio::spawn(client.get("k").into_future()))
        .collect();
    settle().await;
    first.expect("set k 0 0 1\r\n1\r\n").await;
    first.expect(&"get k\r\n".repeat(20)).await;
    first.reply("STORED\r\n").await;
    first.reply(hit("k", "1").repeat(20)).await;
    for read in reads {
        assert_eq!(read.await.unwrap().unwrap().unwrap().data, "1");
    }
    // Once the write is known to be done, requests spread again.
    let mut reads = Vec::new();
    for _ in 0..2 {
        reads.push(tokio::spawn(client.get("k").into_future()));
        settle().await;
    }
    first.exchange("get k\r\n", &hit("k", "1")).await;
    second.exchange("get k\r\n", &hit("k", "1")).await;
    for read in reads {
        read.await.unwrap().unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn noreply_writes_that_waited_for_a_place_all_take_one_connection() {
    let (client, mut attempts) = client(|builder| {
        builder
            .min_connections(2)
            .max_connections(2)
            .max_in_flight(2)
            .timeout(None)
    });
    let mut first = attempts.next().await.accept();
    let mut second = attempts.next().await.accept();
    settle().await;
    let busy: Vec<_> = (0..4)
        .map(|n| tokio::spawn(client.delete(format!("busy-{n}")).into_future()))
        .collect();
    settle().await;
    let writers: Vec<_> = (0..2)
        .map(|n| {
            let client = client.clone();
            tokio::spawn(async move {
                client.set(format!("k{n}"), "1").noreply().await.unwrap();
                client.increment(format!("k{n}"), 1).await.unwrap()
            })
        })
        .collect();
    settle().await;
    first.expect("delete busy-0\r\ndelete busy-1\r\n").await;
    second.expect("delete busy-2\r\ndelete busy-3\r\n").await;
    // Places come free on both connections, but both writes and what follows take one.
    first.reply("DELETED\r\n".repeat(2)).await;
    second.reply("DELETED\r\n".repeat(2)).await;
    first
        .expect("set k0 0 0 1\r\n1\r\nset k1 0 0 1\r\n1\r\n")
        .await;
    for delete in busy {
        assert!(delete.await.unwrap().unwrap());
    }
    let strayed = tokio::time::timeout(Duration::from_millis(1), second.read_some()).await;
    assert!(strayed.is_err(), "the other connection got {strayed:?}");
    first.exchange("", "STORED\r\n").await;
    first.expect("incr k0 1\r\n").await;
    drop(writers);
}

#[tokio::test(start_paused = true)]
async fn what_waits_for_the_connection_of_a_noreply_write_survives_its_loss() {
    let (client, mut attempts) = client(|builder| {
        builder
            .min_connections(2)
            .max_connections(2)
            .max_in_flight(2)
            .timeout(None)
    });
    let mut first = attempts.next().await.accept();
    let mut second = attempts.next().await.accept();
    settle().await;
    let read = tokio::spawn(client.get("k").into_future());
    first.exchange("get k\r\n", "END\r\n").await;
    read.await.unwrap().unwrap();
    for _ in 0..2 {
        client.set("k", "1").noreply().await.unwrap();
    }
    let waiting = tokio::spawn(client.get("k").into_future());
    settle().await;
    first.expect("set k 0 0 1\r\n1\r\n").await;
    drop(first);
    second.exchange("get k\r\n", "END\r\n").await;
    assert_eq!(waiting.await.unwrap().unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn a_connection_lost_inside_a_value_gives_an_error_and_no_part_of_it() {
    let (client, mut attempts) = client(|builder| builder);
    let mut peer = attempts.next().await.accept();
    let read = tokio::spawn(client.get("k").into_future());
    peer.exchange("get k\r\n", "VALUE k 0 10\r\nhalf").await;
    drop(peer);
    assert_eq!(
        read.await.unwrap().unwrap_err().kind(),
        ErrorKind::ConnectionLost
    );
}

#[tokio::test(start_paused = true)]
async fn a_lost_connection_says_what_may_have_been_executed() {
    let (client, mut attempts) = client(|builder| builder.timeout(None));
    let mut peer = attempts.next().await.accept();
    // Larger than what the network holds, so that the second write is never begun.
    let first = tokio::spawn(client.set("a", vec![b'x'; 1024 * 1024]).into_future());
    peer.expect("set a 0 0 1048576\r\n").await;
    let second = tokio::spawn(client.set("b", "y").into_future());
    settle().await;
    drop(peer);
    let (first, second) = (
        first.await.unwrap().unwrap_err(),
        second.await.unwrap().unwrap_err(),
    );
    assert_eq!(
        (first.kind(), second.kind()),
        (ErrorKind::ConnectionLost, ErrorKind::ConnectionLost)
    );
    assert!(first.maybe_executed());
    assert!(!second.maybe_executed());
}

#[tokio::test(start_paused = true)]
async fn values_are_framed_by_their_length_alone() {
    let (client, mut attempts) = client(|builder| builder);
    let mut peer = attempts.next().await.accept();
    for value in [
        "END\r\n",
        "",
        " trailing \r\n",
        "VALUE k 0 3\r\nabc\r\nEND\r\n",
        "\0\u{1}\n",
    ] {
        let read = tokio::spawn(client.get("k").into_future());
        peer.expect("get k\r\n").await;
        for byte in hit("k", value).as_bytes() {
            peer.reply([*byte]).await;
            settle().await;
        }
        assert_eq!(read.await.unwrap().unwrap().unwrap().data, value);
    }
}

#[tokio::test(start_paused = true)]
async fn a_value_longer_than_allowed_is_refused_before_it_is_read() {
    let (client, mut attempts) = client(|builder| builder.max_value_size(1000));
    let mut peer = attempts.next().await.accept();
    let read = tokio::spawn(client.get("k").into_future());
    peer.exchange("get k\r\n", "VALUE k 0 1001\r\n").await;
    assert_eq!(read.await.unwrap().unwrap_err().kind(), ErrorKind::Protocol);
    let error = client.set("k", vec![0; 1001]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(!error.maybe_executed());
}

#[tokio::test(start_paused = true)]
async fn nothing_that_a_caller_gives_becomes_a_command() {
    let (client, mut attempts) = client(|builder| builder);
    let mut peer = attempts.next().await.accept();
    for key in [
        "",
        "a b",
        "a\r\nflush_all",
        "a\nb",
        "\0",
        "\u{7f}",
        &"k".repeat(251),
    ] {
        let error = client.set(key, "v").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidKey, "{key:?}");
        let many = client.get_many([key]).await;
        assert_eq!(many.failed[0].1.kind(), ErrorKind::InvalidKey, "{key:?}");
    }
    let node = client.node("n").unwrap();
    for args in ["items\r\nflush_all", "a\nb", "\0"] {
        let error = node.stats(args).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{args:?}");
    }
    let read = tokio::spawn(client.get("größe").into_future());
    peer.exchange("get größe\r\n", "END\r\n").await;
    assert_eq!(read.await.unwrap().unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn conditions_that_do_not_hold_are_results_not_errors() {
    let (client, mut attempts) = client(|builder| builder);
    let mut peer = attempts.next().await.accept();
    let add = tokio::spawn(client.add("k", "v").flags(3).into_future());
    peer.exchange("add k 3 0 1\r\nv\r\n", "NOT_STORED\r\n")
        .await;
    assert_eq!(add.await.unwrap().unwrap(), StoreOutcome::NotStored);
    for (reply, outcome) in [
        ("STORED", CasOutcome::Stored),
        ("EXISTS", CasOutcome::Exists),
        ("NOT_FOUND", CasOutcome::NotFound),
    ] {
        let cas = tokio::spawn(client.cas("k", "v", u64::MAX).into_future());
        peer.exchange(
            "cas k 0 0 1 18446744073709551615\r\nv\r\n",
            &format!("{reply}\r\n"),
        )
        .await;
        assert_eq!(cas.await.unwrap().unwrap(), outcome);
    }
    let decrement = tokio::spawn(client.decrement("n", 1).into_future());
    peer.exchange("decr n 1\r\n", "9 \r\n").await;
    assert_eq!(decrement.await.unwrap().unwrap(), Some(9));
    let touch = tokio::spawn(client.touch("k", Duration::from_millis(1)).into_future());
    peer.exchange("touch k 1\r\n", "NOT_FOUND\r\n").await;
    assert!(!touch.await.unwrap().unwrap());
}
