//! The meta commands: the server's version is asked before them, and what it lacks is not sent.

use std::convert::Infallible;
use std::time::Duration;

use steersman_memcached::meta::{Get, Status};
use steersman_memcached::{ErrorKind, Expires, FillError, Stage};

#[cfg(feature = "long-keys")]
use crate::network::hit;
use crate::network::{client, settle};

#[tokio::test(start_paused = true)]
async fn a_connections_server_is_asked_for_its_version_once() {
    let (client, mut attempts) = client(|builder| builder);
    let mut peer = attempts.next().await.accept();
    let asker = client.clone();
    let first =
        tokio::spawn(async move { asker.meta_get("k", |get| get.value().cas().no_bump()).await });
    peer.exchange("version\r\n", "VERSION 1.6.18\r\n").await;
    peer.exchange("mg k c k u v\r\n", "VA 1 c7 kk\r\nx\r\n")
        .await;
    let reply = first.await.unwrap().unwrap();
    assert_eq!((reply.status, reply.cas), (Status::Value, Some(7)));
    assert_eq!(reply.value.unwrap(), "x");

    // A key that only base64 can carry, and what has no key.
    let asker = client.clone();
    let second = tokio::spawn(async move { asker.meta_delete(b"\0\n", |delete| delete).await });
    peer.exchange("md AAo= b\r\n", "NF\r\n").await;
    assert_eq!(second.await.unwrap().unwrap().status, Status::NotFound);
    let node = client.node("n").unwrap();
    let noop = tokio::spawn(node.meta_noop().into_future());
    peer.exchange("mn\r\n", "MN\r\n").await;
    noop.await.unwrap().unwrap();

    // The next connection is asked as soon as it stands.
    drop(peer);
    let mut peer = attempts.next().await.accept();
    peer.exchange("version\r\n", "VERSION 1.6.27\r\n").await;
    let asker = client.clone();
    let third = tokio::spawn(async move { asker.meta_get("k", |get| get.new_cas(1)).await });
    peer.exchange("mg k E1\r\n", "EN\r\n").await;
    assert_eq!(third.await.unwrap().unwrap().status, Status::Miss);
}

#[tokio::test(start_paused = true)]
async fn what_the_server_lacks_is_not_sent() {
    let (client, mut attempts) = client(|builder| builder);
    let mut peer = attempts.next().await.accept();
    let asker = client.clone();
    let asked = tokio::spawn(async move {
        let in_the_queue = asker.meta_get("k", |get| get.new_cas(1)).await;
        let at_once = asker
            .meta_delete("k", |delete| delete.remove_value().return_key())
            .await;
        (in_the_queue, at_once)
    });
    peer.exchange("version\r\n", "VERSION 1.6.18\r\n").await;
    let (in_the_queue, at_once) = asked.await.unwrap();
    for (error, lacks) in [
        (in_the_queue.unwrap_err(), "meta_get at n: the flag E of mg"),
        (at_once.unwrap_err(), "meta_delete at n: the flag x of md"),
    ] {
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert_eq!(error.stage(), Stage::Validation);
        assert!(!error.maybe_executed() && !error.is_retryable());
        assert_eq!(error.node(), Some("n"));
        let expected = format!("{lacks} needs memcached 1.6.27, but the server is 1.6.18");
        assert!(error.to_string().contains(&expected), "{error}");
    }
    settle().await;
    assert!(peer.is_silent());
}

#[tokio::test(start_paused = true)]
async fn a_server_without_meta_commands_gets_the_classic_ones_of_the_same_effect() {
    let (client, mut attempts) = client(|builder| builder);
    let mut peer = attempts.next().await.accept();
    let minute = Expires::In(Duration::from_secs(60));
    let asker = client.clone();
    let asked = tokio::spawn(async move {
        let read = asker.meta_get("k", |get| get.value().client_flags()).await;
        let stored = asker.meta_set("k", "v", |set| set.expires(minute)).await;
        let added = asker
            .meta_increment("n", 2, |add| add.return_value().return_key())
            .await;
        let lease = asker.meta_get("k", |get| get.value().vivify(minute)).await;
        let noop = asker.node("n").unwrap().meta_noop().await;
        (read, stored, added, lease, noop)
    });
    peer.exchange("version\r\n", "VERSION 1.5.22\r\n").await;
    peer.exchange("get k\r\n", "VALUE k 3 1\r\nx\r\nEND\r\n")
        .await;
    peer.exchange("set k 0 60 1\r\nv\r\n", "STORED\r\n").await;
    peer.exchange("incr n 2\r\n", "7\r\n").await;
    peer.exchange("version\r\n", "VERSION 1.5.22\r\n").await;
    let (read, stored, added, lease, noop) = asked.await.unwrap();
    let read = read.unwrap();
    assert_eq!((read.status, read.client_flags), (Status::Value, Some(3)));
    assert_eq!(stored.unwrap().status, Status::Done);
    assert_eq!(added.unwrap().number(), Some(7));
    let error = lease.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(
        error
            .to_string()
            .contains("the command mg needs memcached 1.6.0")
    );
    noop.unwrap();
}

/// What is sent for a key decides whether there is a classic command: here a digest, for which there
/// is one, and a key that only base64 can carry.
#[cfg(feature = "long-keys")]
#[tokio::test(start_paused = true)]
async fn a_key_that_is_too_long_or_has_a_prefix_falls_back_as_others_do() {
    let (client, mut attempts) = client(|builder| builder.key_prefix("app:").hash_long_keys(true));
    let mut peer = attempts.next().await.accept();
    let long = "k".repeat(300);
    let key = long.clone();
    let asked = tokio::spawn(async move {
        let read = client.meta_get(&key, |get| get.value().return_key()).await;
        let short = client.meta_delete("k", |delete| delete).await;
        (
            read,
            short,
            client.meta_delete(b"\0", |delete| delete).await,
        )
    });
    peer.exchange("version\r\n", "VERSION 1.5.22\r\n").await;
    let request = peer.read_some().await;
    let sent = request.strip_prefix("get app:kkk").unwrap();
    assert!(
        sent.contains("k:sha256:") && request.len() == 4 + 250 + 2,
        "{request}"
    );
    let sent = request["get ".len()..].trim_end();
    peer.reply(hit(sent, "x")).await;
    peer.exchange("delete app:k\r\n", "DELETED\r\n").await;
    let (read, short, binary) = asked.await.unwrap();
    let read = read.unwrap();
    assert_eq!(read.value.unwrap(), "x");
    assert!(read.key.is_none_or(|key| key == long));
    assert_eq!(short.unwrap().status, Status::Done);
    assert_eq!(binary.unwrap_err().kind(), ErrorKind::Unsupported);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_tell_its_version_is_asked_for_nothing_new() {
    let (client, mut attempts) = client(|builder| builder);
    let mut peer = attempts.next().await.accept();
    let asker = client.clone();
    let asked = tokio::spawn(async move { asker.meta_inspect("k").await });
    peer.exchange("version\r\n", "VERSION unknown\r\n").await;
    let error = asked.await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("\"unknown\""), "{error}");

    drop(peer);
    let mut peer = attempts.next().await.accept();
    peer.exchange("version\r\n", "CLIENT_ERROR unauthenticated\r\n")
        .await;
    let error = client.meta_inspect("k").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Authentication);
    settle().await;
    assert!(peer.is_silent());
}

#[tokio::test(start_paused = true)]
async fn what_waits_for_the_version_can_time_out_or_be_dropped() {
    let (client, mut attempts) = client(|builder| builder);
    let mut peer = attempts.next().await.accept();
    let late = client
        .meta_get("k", |get| get)
        .timeout(Duration::from_millis(20))
        .await
        .unwrap_err();
    assert_eq!(
        (late.kind(), late.stage()),
        (ErrorKind::Timeout, Stage::Waiting)
    );
    assert!(!late.maybe_executed());
    {
        let call = client.meta_get("k", |get| get).into_future();
        tokio::time::timeout(Duration::from_millis(20), call)
            .await
            .unwrap_err();
    }
    // Others that came behind it go on, in their order.
    let (first, second) = tokio::join!(async { client.meta_get("a", |get| get).await }, async {
        let write = client.set("b", "c").into_future();
        peer.exchange("version\r\n", "VERSION 1.6.18\r\n").await;
        let answers = async {
            peer.expect("mg a\r\n").await;
            peer.reply("HD\r\n").await;
            peer.exchange("set b 0 0 1\r\nc\r\n", "STORED\r\n").await;
        };
        tokio::join!(write, answers).0
    });
    assert_eq!(first.unwrap().status, Status::Done);
    second.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_ends_before_it_has_told_leaves_nobody_behind() {
    let (client, mut attempts) = client(|builder| builder);
    let mut peer = attempts.next().await.accept();
    let (served, ()) = tokio::join!(
        client.get("k").into_future(),
        peer.exchange("get k\r\n", "END\r\n")
    );
    served.unwrap();
    let asker = client.clone();
    let asked = tokio::spawn(async move { asker.meta_get("k", |get| get).await });
    peer.expect("version\r\n").await;
    drop(peer);
    let mut peer = attempts.next().await.accept();
    peer.exchange("version\r\n", "VERSION 1.6.18\r\n").await;
    peer.exchange("mg k\r\n", "HD\r\n").await;
    assert_eq!(asked.await.unwrap().unwrap().status, Status::Done);
}

#[tokio::test(start_paused = true)]
async fn a_command_that_was_made_for_another_key_is_refused() {
    let (client, _attempts) = client(|builder| builder);
    let other = steersman_memcached_protocol::Key::new(b"other").unwrap();
    let error = client
        .meta_get("k", |_: Get<'_>| Get::new(other))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    let error = client.meta_get("", |get| get).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidKey);
    let error = client.meta_get([0; 187], |get| get).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidKey);
}

#[tokio::test(start_paused = true)]
async fn a_value_of_another_key_is_nobodys() {
    let binary = "mg AAo= b v O125208591\r\n";
    for (key, asked, answer) in [
        (&b"k"[..], "mg k k v\r\n", "VA 1 kother\r\nx\r\n"),
        (b"k", "mg k k v\r\n", "VA 1\r\nx\r\n"),
        (b"\0\n", binary, "VA 1 O1\r\nx\r\n"),
        (b"\0\n", binary, "VA 1\r\nx\r\n"),
    ] {
        let (client, mut attempts) = client(|builder| builder);
        let mut peer = attempts.next().await.accept();
        let (read, ()) = tokio::join!(
            client
                .meta_get(key, |get: Get<'_>| get.value())
                .into_future(),
            async {
                peer.exchange("version\r\n", "VERSION 1.6.18\r\n").await;
                peer.exchange(asked, answer).await;
            }
        );
        assert_eq!(read.unwrap_err().kind(), ErrorKind::Protocol, "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_filled_value_of_another_key_is_nobodys() {
    let asked = "mg k N10 c f k v\r\n";
    for (answer, kind) in [
        ("VA 1 c1 f0 kother\r\nx\r\n", ErrorKind::Protocol),
        ("VA 1 c1 f0\r\nx\r\n", ErrorKind::Protocol),
        // The key alone: no message repeats the value.
        ("VA 6 kk\r\nsecret\r\n", ErrorKind::Server),
    ] {
        let (client, mut attempts) = client(|builder| builder);
        let mut peer = attempts.next().await.accept();
        let read = client
            .get_or_fill("k")
            .load(|| async { Ok::<_, Infallible>("loaded") });
        let (read, ()) = tokio::join!(read, async {
            peer.exchange("version\r\n", "VERSION 1.6.18\r\n").await;
            peer.exchange(asked, answer).await;
        });
        let Err(FillError::Cache(error)) = read else {
            panic!("{read:?}");
        };
        assert_eq!(error.kind(), kind, "{answer}");
        assert!(!error.to_string().contains("115, 101"), "{error}");
        assert!(!error.to_string().contains("secret"), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_comes_too_late_is_given_back() {
    let (client, mut attempts) = client(|builder| builder.stalled_after(None));
    let mut peer = attempts.next().await.accept();
    let fill = client.get_or_fill("k").timeout(Duration::from_secs(1));
    let read = fill.load(|| async { Ok::<_, Infallible>("loaded") });
    let (read, ()) = tokio::join!(read, async {
        peer.exchange("version\r\n", "VERSION 1.6.18\r\n").await;
        peer.expect("mg k N10 c f k v\r\n").await;
    });
    let Err(FillError::Cache(error)) = read else {
        panic!("{read:?}");
    };
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert_eq!((error.node(), error.maybe_executed()), (Some("n"), true));
    assert!(error.to_string().contains("no reply within 1s"), "{error}");
    tokio::time::sleep(Duration::from_secs(5)).await;
    peer.reply("VA 0 c7 f0 kk W\r\n\r\n").await;
    peer.exchange("md k C7\r\n", "HD\r\n").await;
}
