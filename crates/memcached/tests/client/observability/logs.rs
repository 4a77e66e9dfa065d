//! The log is as the page says, and holds no value, no key and no password.

use std::time::Duration;

use steersman_memcached::{Client, ClusterEvents, Credentials, ErrorKind, Event, Spans};
use steersman_testkit::{Server, Times};

use super::capture::Capture;
use super::page;
use crate::discovery::told;
use crate::network::{network, settle};

const SECRETS: [&str; 3] = ["a-value", "a-key", "a-password"];

/// Expects that no secret was logged, that the page lists every event, and that these are among them.
fn check(capture: &Capture, expected: &[&str]) {
    let text = capture.text();
    for secret in SECRETS {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    let documented = page::events();
    let events = capture.events();
    let mut messages = Vec::new();
    for event in &events {
        let message = event.fields["message"].as_str();
        let row = documented.iter().find(|row| {
            (
                row.target.as_str(),
                row.level.as_str(),
                row.message.as_str(),
            ) == (event.target.as_str(), event.level.as_str(), message)
        });
        let row = row.unwrap_or_else(|| panic!("the page does not list {event:?}"));
        for field in event.fields.keys().filter(|field| *field != "message") {
            assert!(row.fields.contains(field), "{field} of {event:?}");
        }
        messages.push(message);
    }
    for message in expected {
        assert!(messages.contains(message), "no {message:?} in {text}");
    }
}

struct Panics;

impl ClusterEvents for Panics {
    async fn on_node_unhealthy(&self, _: std::sync::Arc<str>, reason: std::sync::Arc<str>) {
        panic!("on purpose: {reason}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_life_of_connections_and_nodes_is_logged_without_what_was_sent() {
    let (capture, _guard) = Capture::start();
    let (network, mut attempts) = network();
    let (told, mut questions) = told();
    let client = Client::builder()
        .discovery(told)
        .connector(network)
        .max_connections(1)
        .unhealthy_after(1)
        .auth(Credentials::new("a-user", "a-password"))
        .cluster_events(Panics)
        .spans(Spans::new())
        .build()
        .unwrap();
    questions.answer_with(Err("there is none".into())).await;
    questions.answer_with(Err("there is none".into())).await;
    questions.answer(&["n=host:1"]).await;
    let introduce = "set auth 0 0 17\r\na-user a-password\r\n";
    let mut peer = attempts.next().await.accept();
    peer.exchange(introduce, "STORED\r\n").await;
    client.ready(Duration::from_secs(1)).await.unwrap();

    // A noreply write that the server refuses, with words that it may have from anywhere.
    client.set("a-key", "a-value").noreply().await.unwrap();
    let write = "set a-key 0 0 7\r\na-value\r\n";
    peer.exchange(write, "SERVER_ERROR a-key a-value\r\n").await;
    settle().await;
    // One that is lost with its connection, which has served before.
    let (missed, ()) = tokio::join!(client.get("a-key").into_future(), async {
        peer.exchange("get a-key\r\n", "END\r\n").await;
    });
    assert!(missed.unwrap().is_none());
    client.set("a-key", "a-value").noreply().await.unwrap();
    peer.expect(write).await;
    drop(peer);
    let mut peer = attempts.next().await.accept();
    peer.exchange(introduce, "STORED\r\n").await;
    client.ready(Duration::from_secs(1)).await.unwrap();
    // A server that loses its place: the value stands where a reply should.
    let (broken, ()) = tokio::join!(client.get("a-key").into_future(), async {
        peer.exchange("get a-key\r\n", "a-value\r\n").await;
    });
    assert_eq!(broken.unwrap_err().kind(), ErrorKind::Protocol);
    settle().await;
    let mut peer = attempts.next().await.accept();
    peer.exchange(introduce, "STORED\r\n").await;
    client.ready(Duration::from_secs(1)).await.unwrap();
    client.close().await;
    settle().await;
    check(
        &capture,
        &[
            "connected",
            "connection lost",
            "connection closed",
            "node cannot be used",
            "node is healthy again",
            "a list of nodes was taken",
            "the list of nodes can be found again",
            "there is still no list of nodes to be taken",
            "the server refused a noreply request",
            "a noreply request was lost",
            "the cluster event handler panicked",
            "requests taken",
        ],
    );
}

#[tokio::test]
async fn all_commands_together_log_no_secret() {
    let (capture, _guard) = Capture::start();
    let server = Server::start().await.unwrap();
    let other = Server::start().await.unwrap();
    for replicas in [1, 2] {
        let client = Client::builder()
            .nodes([server.node(), other.node()])
            .replicas(replicas)
            .unhealthy_after(1)
            .spans(Spans::new())
            .build()
            .unwrap();
        let mut events = client.events();
        let (key, value) = ("a-key", "a-value");
        client.set(key, value).await.unwrap();
        let _ = client.add(key, value).await.unwrap();
        let _ = client.replace(key, value).await.unwrap();
        let _ = client.append(key, value).await.unwrap();
        let _ = client.prepend(key, value).await.unwrap();
        let cas = client.gets(key).await.unwrap().and_then(|value| value.cas);
        let _ = client.cas(key, value, cas.unwrap()).await.unwrap();
        let many = client.get_many([key, "a-key-that-is-not"]).await;
        assert_eq!(many.found.len(), 1);
        assert!(client.increment(key, 1).await.is_err());
        let _ = client.touch(key, Duration::from_secs(9)).await.unwrap();
        let _ = client.gat(key, Duration::from_secs(9)).await.unwrap();
        let garbage = format!("VALUE {key} 0 7\r\n{value}-garbage\r\n");
        for server in [&server, &other] {
            server.script().answer(Times::Next(1), garbage.clone());
        }
        assert!(client.set(key, value).await.is_err());
        for server in [&server, &other] {
            server.script().clear();
        }
        client.ready(Duration::from_secs(10)).await.unwrap();
        client.delete(key).noreply().await.unwrap();
        for server in [&server, &other] {
            server.stop().await;
        }
        while !matches!(events.recv().await, Some(Event::NodeUnhealthy { .. })) {}
        assert!(client.get(key).await.is_err());
        assert!(client.set(key, value).noreply().await.is_err());
        for server in [&server, &other] {
            server.restart().await.unwrap();
        }
    }
    check(
        &capture,
        &["connected", "node cannot be used", "requests taken"],
    );
}

/// What was logged at the level of warnings, with how often.
fn warnings(capture: &Capture) -> Vec<String> {
    let events = capture.events().into_iter();
    let warnings = events.filter(|event| event.level == "warn" || event.level == "error");
    warnings
        .map(|event| event.fields["message"].clone())
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_node_that_stays_away_is_told_of_once() {
    let (capture, _guard) = Capture::start();
    let (network, mut attempts) = network();
    let client = Client::builder()
        .node("n=host:1")
        .connector(network)
        .build()
        .unwrap();
    client.get("k").await.unwrap_err();
    let refused = async {
        for _ in 0..100 {
            attempts.next().await.refuse();
        }
    };
    refused.await;
    settle().await;
    // When it fails, and when that makes it unhealthy.
    assert_eq!(warnings(&capture), ["node cannot be used"; 2]);
    let peer = attempts.next().await.accept();
    client.ready(Duration::from_secs(1)).await.unwrap();
    drop(peer);
    settle().await;
    assert_eq!(warnings(&capture).len(), 3, "it is news again");
    check(
        &capture,
        &["node still cannot be used", "node is healthy again"],
    );
}

#[tokio::test(start_paused = true)]
async fn a_server_that_says_something_else_each_time_does_not_fill_the_log() {
    let (capture, _guard) = Capture::start();
    let (client, mut attempts) = crate::network::client(|builder| builder);
    let mut peer = attempts.next().await.accept();
    settle().await;
    let (broken, ()) = tokio::join!(client.get("a-key").into_future(), async {
        peer.exchange("get a-key\r\n", "a-value\r\n").await;
    });
    assert_eq!(broken.unwrap_err().kind(), ErrorKind::Protocol);
    // From now on it has to answer before it is used.
    for turn in 0..50 {
        let mut peer = attempts.next().await.accept();
        let said = match turn % 3 {
            0 => format!("a-value {turn}\r\n"),
            1 => format!("SERVER_ERROR a-value {turn}\r\n"),
            _ => format!("STAT a-value {turn}\r\nEND\r\n"),
        };
        peer.exchange("version\r\n", &said).await;
    }
    settle().await;
    let error = client.get("a-key").await.unwrap_err().to_string();
    assert!(error.contains("a-value"), "the caller is told: {error}");
    // That it broke the protocol, that it says something else, and that it is unhealthy.
    assert_eq!(warnings(&capture), ["node cannot be used"; 3]);
    check(&capture, &["node still cannot be used"]);
}

#[tokio::test(start_paused = true)]
async fn a_source_that_stays_away_is_told_of_once() {
    let (capture, _guard) = Capture::start();
    let (network, _attempts) = network();
    let (told, mut questions) = told();
    let client = Client::builder()
        .discovery(told)
        .connector(network)
        .build()
        .unwrap();
    let mut events = client.events();
    for _ in 0..100 {
        questions.answer_with(Err("there is none".into())).await;
    }
    settle().await;
    assert_eq!(warnings(&capture).len(), 1);
    assert!(matches!(
        events.recv().await,
        Some(Event::ListRefused { .. })
    ));
    client.close().await;
    assert_eq!(events.recv().await, None);
}
