//! Concurrent requests travel together; a lone one is never held back.

use std::time::Duration;

use steersman_memcached::ErrorKind;
use tokio::time::Instant;

use crate::network::{client, hit, settle};

#[tokio::test(start_paused = true)]
async fn concurrent_reads_share_a_line_and_a_key_is_asked_once() {
    let (client, mut attempts) = client(|builder| builder);
    let mut peer = attempts.next().await.accept();
    settle().await;
    let reads: Vec<_> = ["a", "b", "a", "c"]
        .map(|key| tokio::spawn(client.get(key).into_future()))
        .into();
    peer.expect("get a b c\r\n").await;
    peer.reply("VALUE a 7 1\r\n1\r\nVALUE c 0 1\r\n3\r\nEND\r\n")
        .await;
    let mut values = Vec::new();
    for read in reads {
        values.push(
            read.await
                .unwrap()
                .unwrap()
                .map(|value| (value.data, value.flags)),
        );
    }
    let value = |text: &'static str, flags| Some((text.into(), flags));
    assert_eq!(values, [value("1", 7), None, value("1", 7), value("3", 0)]);
}

#[tokio::test(start_paused = true)]
async fn reads_that_start_while_a_line_is_under_way_join_the_next_one() {
    let (client, mut attempts) = client(|builder| builder.max_connections(1));
    let mut peer = attempts.next().await.accept();
    settle().await;
    let first = tokio::spawn(client.get("first").into_future());
    peer.expect("get first\r\n").await;
    let others: Vec<_> = (0..50)
        .map(|n| tokio::spawn(client.get(format!("k{n:02}")).into_future()))
        .collect();
    settle().await;
    let line = |range: std::ops::Range<usize>| {
        range.fold("get".to_owned(), |line, n| format!("{line} k{n:02}")) + "\r\n"
    };
    peer.expect(&(line(0..32) + &line(32..50))).await;
    peer.reply("END\r\n".repeat(3)).await;
    assert_eq!(first.await.unwrap().unwrap(), None);
    for read in others {
        assert_eq!(read.await.unwrap().unwrap(), None);
    }
}

#[tokio::test(start_paused = true)]
async fn plain_reads_and_reads_with_cas_have_lines_of_their_own() {
    let (client, mut attempts) = client(|builder| builder.autobatching_max_keys(2));
    let mut peer = attempts.next().await.accept();
    settle().await;
    let plain: Vec<_> = ["a", "b"]
        .map(|key| tokio::spawn(client.get(key).into_future()))
        .into();
    let with_cas: Vec<_> = ["a", "b", "c"]
        .map(|key| tokio::spawn(client.gets(key).into_future()))
        .into();
    peer.expect("get a b\r\ngets a b\r\ngets c\r\n").await;
    peer.reply("END\r\nVALUE b 1 1 42\r\nx\r\nEND\r\nEND\r\n")
        .await;
    for read in plain {
        assert_eq!(read.await.unwrap().unwrap(), None);
    }
    let mut cas = Vec::new();
    for read in with_cas {
        cas.push(read.await.unwrap().unwrap().and_then(|value| value.cas));
    }
    assert_eq!(cas, [None, Some(42), None]);
}

#[tokio::test(start_paused = true)]
async fn without_autobatching_each_read_is_a_line_but_they_are_written_together() {
    let (client, mut attempts) = client(|builder| builder.autobatching(false));
    let mut peer = attempts.next().await.accept();
    settle().await;
    let reads: Vec<_> = (0..3)
        .map(|_| tokio::spawn(client.get("k").into_future()))
        .collect();
    settle().await;
    assert_eq!(peer.read_some().await, "get k\r\nget k\r\nget k\r\n");
    peer.reply(hit("k", "v").repeat(3)).await;
    for read in reads {
        assert_eq!(read.await.unwrap().unwrap().unwrap().data, "v");
    }
}

#[tokio::test(start_paused = true)]
async fn a_lone_request_leaves_without_waiting() {
    let (client, mut attempts) = client(|builder| builder);
    let mut peer = attempts.next().await.accept();
    settle().await;
    let start = Instant::now();
    for _ in 0..100 {
        let read = tokio::spawn(client.get("k").into_future());
        peer.exchange("get k\r\n", "END\r\n").await;
        read.await.unwrap().unwrap();
    }
    assert_eq!(start.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn one_caller_that_leaves_a_shared_line_does_not_hurt_the_others() {
    let (client, mut attempts) = client(|builder| builder);
    let mut peer = attempts.next().await.accept();
    settle().await;
    let reads: Vec<_> = ["a", "b", "a"]
        .map(|key| tokio::spawn(client.get(key).into_future()))
        .into();
    peer.expect("get a b\r\n").await;
    reads[0].abort();
    peer.reply(format!("VALUE a 0 1\r\n1\r\n{}", hit("b", "2")))
        .await;
    let mut reads = reads.into_iter().skip(1);
    assert_eq!(
        reads.next().unwrap().await.unwrap().unwrap().unwrap().data,
        "2"
    );
    assert_eq!(
        reads.next().unwrap().await.unwrap().unwrap().unwrap().data,
        "1"
    );
}

#[tokio::test(start_paused = true)]
async fn an_error_in_the_middle_of_a_shared_line_reaches_everyone_not_yet_answered() {
    let (client, mut attempts) = client(|builder| builder);
    let mut peer = attempts.next().await.accept();
    settle().await;
    let reads: Vec<_> = ["a", "b", "c"]
        .map(|key| tokio::spawn(client.get(key).into_future()))
        .into();
    peer.expect("get a b c\r\n").await;
    peer.reply("VALUE a 0 1\r\n1\r\nSERVER_ERROR out of memory\r\n")
        .await;
    let mut outcomes = Vec::new();
    for read in reads {
        outcomes.push(read.await.unwrap().map_err(|error| error.kind()));
    }
    assert_eq!(outcomes[0].as_ref().unwrap().as_ref().unwrap().data, "1");
    assert_eq!(outcomes[1], Err(ErrorKind::Server));
    assert_eq!(outcomes[2], Err(ErrorKind::Server));
}

#[tokio::test(start_paused = true)]
async fn get_many_asks_in_lines_and_sorts_the_answers() {
    let (client, mut attempts) = client(|builder| builder.autobatching_max_keys(3));
    let mut peer = attempts.next().await.accept();
    settle().await;
    let many = tokio::spawn(
        client
            .get_many(["a", "b", "c", "a", "d", "e f"])
            .into_future(),
    );
    peer.expect("get a b c\r\nget d\r\n").await;
    peer.reply(format!("{}{}", hit("b", "2"), hit("d", "4")))
        .await;
    let many = many.await.unwrap();
    assert_eq!(many.found.len(), 2);
    assert_eq!(
        (&many.found["b"].data[..], &many.found["d"].data[..]),
        (&b"2"[..], &b"4"[..])
    );
    assert_eq!(many.missing, ["a", "c"]);
    assert_eq!(many.failed.len(), 1);
    assert_eq!(
        (many.failed[0].0, many.failed[0].1.kind()),
        ("e f", ErrorKind::InvalidKey)
    );
}

#[tokio::test(start_paused = true)]
async fn get_many_keeps_what_came_in_time() {
    let (client, mut attempts) = client(|builder| builder.autobatching_max_keys(2));
    let mut peer = attempts.next().await.accept();
    settle().await;
    let many = client.gats_many(["a", "b", "c"], Duration::from_secs(60));
    let many = tokio::spawn(many.timeout(Duration::from_millis(100)).into_future());
    peer.expect("gats 60 a b\r\ngats 60 c\r\n").await;
    peer.reply("VALUE a 0 1 9\r\n1\r\n").await;
    let many = many.await.unwrap();
    assert_eq!(many.found["a"].cas, Some(9));
    let mut failed: Vec<_> = many
        .failed
        .iter()
        .map(|(key, error)| (*key, error.kind()))
        .collect();
    failed.sort_by_key(|(key, _)| *key);
    assert_eq!(
        failed,
        [("b", ErrorKind::Timeout), ("c", ErrorKind::Timeout)]
    );
    assert!(many.failed.iter().all(|(_, error)| error.maybe_executed()));
    assert!(many.into_result().is_err());
}
