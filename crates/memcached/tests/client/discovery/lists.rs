//! What a list does to the members and to the requests under way.

use std::time::Duration;

use steersman_memcached::{Client, Event, Scheme};

use super::{client_with, list, names, news, told};
use crate::network::{Peer, network, settle};

const MINUTE: Duration = Duration::from_secs(60);

/// A key that lives on the node of that name.
fn key_of(client: &Client, node: &str) -> String {
    let mut keys = (0..).map(|n| format!("key-{n}"));
    let is_there = |key: &String| client.node_for_key(key).unwrap().name() == node;
    keys.find(is_there).expect("every node owns some key")
}

#[tokio::test(start_paused = true)]
async fn ready_waits_for_the_first_list_and_for_its_nodes() {
    let (client, mut attempts, mut questions, mut events) =
        client_with(|builder| builder.min_connections(0));
    let error = client.ready(Duration::from_millis(1)).await.unwrap_err();
    assert!(error.to_string().contains("no list of nodes"), "{error}");

    questions.answer_with(Err("the source is dry".into())).await;
    assert_eq!(news(&mut events).await, Err("the source is dry".to_owned()));
    let ready = tokio::spawn({
        let client = client.clone();
        async move { client.ready(MINUTE).await }
    });
    questions.answer(&["a=a:1", "b=b:1"]).await;
    let peers = (
        attempts.next().await.accept(),
        attempts.next().await.accept(),
    );
    ready.await.unwrap().unwrap();
    for node in ["a", "b"] {
        let node = node.into();
        assert_eq!(events.recv().await, Some(Event::NodeAdded { node }));
    }
    let taken = Event::ListTaken {
        nodes: 2,
        version: None,
    };
    assert_eq!(events.recv().await, Some(taken));
    drop(peers);
}

#[tokio::test(start_paused = true)]
async fn nodes_come_and_go_without_losing_a_request() {
    let (client, mut attempts, mut questions, mut events) =
        client_with(|builder| builder.timeout(None).stalled_after(None).max_connections(1));
    questions.answer(&["a=a:1", "b=b:1"]).await;
    assert_eq!(news(&mut events).await, Ok(2));
    let mut first = attempts.next().await;
    let mut second = attempts.next().await;
    if first.endpoint != "a:1" {
        std::mem::swap(&mut first, &mut second);
    }
    let (mut a, mut b) = (first.accept(), second.accept());
    settle().await;
    let (on_a, on_b) = (key_of(&client, "a"), key_of(&client, "b"));
    let stays = tokio::spawn(client.get(on_a.clone()).into_future());
    let leaves = tokio::spawn(client.get(on_b.clone()).into_future());
    settle().await;

    questions.answer(&["c=c:1", "a=a:1"]).await;
    assert_eq!(news(&mut events).await, Ok(2));
    let attempt = attempts.next().await;
    assert_eq!(attempt.endpoint, "c:1");
    let mut c = attempt.accept();
    assert_eq!(names(&client), ["a", "c"]);
    a.exchange(&format!("get {on_a}\r\n"), "END\r\n").await;
    b.exchange(&format!("get {on_b}\r\n"), "END\r\n").await;
    assert_eq!(stays.await.unwrap().unwrap(), None);
    assert_eq!(leaves.await.unwrap().unwrap(), None);
    b.closed().await;

    let on_c = key_of(&client, "c");
    let read = tokio::spawn(client.get(on_c.clone()).into_future());
    c.exchange(&format!("get {on_c}\r\n"), "END\r\n").await;
    assert_eq!(read.await.unwrap().unwrap(), None);
    assert!(a.is_silent(), "a node that stays keeps its connection");
}

#[tokio::test(start_paused = true)]
async fn a_node_with_another_address_keeps_its_name_its_keys_and_what_is_in_flight() {
    let (client, mut attempts, mut questions, mut events) =
        client_with(|builder| builder.timeout(None).stalled_after(None).max_connections(1));
    questions.answer(&["a=old:1"]).await;
    let mut old = attempts.next().await.accept();
    settle().await;
    let sent = tokio::spawn(client.get("k").into_future());
    old.expect("get k\r\n").await;

    questions.answer(&["a=new:1"]).await;
    assert_eq!(news(&mut events).await, Ok(1));
    assert_eq!(news(&mut events).await, Ok(1));
    let attempt = attempts.next().await;
    assert_eq!(attempt.endpoint, "new:1");
    let mut new = attempt.accept();
    let later = tokio::spawn(client.get("k").into_future());
    new.exchange("get k\r\n", "END\r\n").await;
    assert_eq!(later.await.unwrap().unwrap(), None);
    old.reply("END\r\n").await;
    assert_eq!(sent.await.unwrap().unwrap(), None);
    old.closed().await;
    assert_eq!(names(&client), ["a"]);
}

#[tokio::test(start_paused = true)]
async fn weights_change_with_the_list() {
    let (client, attempts, mut questions, mut events) = client_with(|builder| builder);
    drop(attempts);
    questions.answer(&["a", "b"]).await;
    assert_eq!(news(&mut events).await, Ok(2));
    questions.answer(&["a*9", "b"]).await;
    assert_eq!(news(&mut events).await, Ok(2));
    let keys = (0..1000).map(|n| client.node_for_key(format!("key-{n}")).unwrap());
    let on_a = keys.filter(|node| node.name() == "a").count();
    assert!((800..1000).contains(&on_a), "{on_a} of 1,000 keys on a");
}

#[tokio::test(start_paused = true)]
async fn a_list_that_makes_no_sense_never_removes_the_last_good_one() {
    let (client, attempts, mut questions, mut events) =
        client_with(|builder| builder.placement(Scheme::Emcache));
    drop(attempts);
    questions
        .answer_with(Ok(list(&["a", "b"]).version(5)))
        .await;
    assert_eq!(news(&mut events).await, Ok(2));
    let refused = [
        (list(&[]).version(6), "empty"),
        (list(&["n=x", "n=y"]).version(7), "twice"),
        (list(&["x"]).version(4), "older than 5"),
        // emcache's placement knows no weights.
        (list(&["x", "y*2"]).version(8), "cannot be taken"),
    ];
    for (list, why) in refused {
        questions.answer_with(Ok(list)).await;
        let reason = news(&mut events).await.unwrap_err();
        assert!(reason.contains(why), "{reason}");
        assert_eq!(names(&client), ["a", "b"]);
    }
    // The same reason again is told once.
    for _ in 0..2 {
        questions.answer_with(Err("down".into())).await;
    }
    questions.answer_with(Ok(list(&["x"]).version(5))).await;
    questions
        .answer_with(Ok(list(&["a", "c"]).version(6)))
        .await;
    assert_eq!(news(&mut events).await, Err("down".to_owned()));
    assert_eq!(news(&mut events).await, Ok(2));
    assert_eq!(names(&client), ["a", "c"]);
}

#[tokio::test(start_paused = true)]
async fn given_nodes_serve_until_the_first_list_and_hands_may_change_members_in_between() {
    let (network, _attempts) = network();
    let (told, mut questions) = told();
    let client = Client::builder()
        .nodes(["a", "b"])
        .discovery(told)
        .connector(network)
        .build()
        .unwrap();
    let mut events = client.events();
    assert_eq!(names(&client), ["a", "b"]);
    let error = client.ready(Duration::from_millis(1)).await.unwrap_err();
    assert!(error.to_string().contains("no list of nodes"), "{error}");
    questions.answer(&["b", "c"]).await;
    assert_eq!(news(&mut events).await, Ok(2));
    assert_eq!(names(&client), ["b", "c"]);
    client.add_node("d").unwrap();
    client.remove_node("b").unwrap();
    questions.answer(&["b", "c"]).await;
    drop(questions.next().await);
    assert_eq!(names(&client), ["c", "d"]);
    questions.answer(&["c", "b", "e"]).await;
    assert!(news(&mut events).await.is_err(), "the dropped question");
    assert_eq!(news(&mut events).await, Ok(3));
    assert_eq!(names(&client), ["b", "c", "e"]);
}

#[tokio::test(start_paused = true)]
async fn a_purged_node_that_gets_another_address_is_back_in_the_hashing() {
    let (client, mut attempts, mut questions, mut events) =
        client_with(|builder| builder.purge_unhealthy_nodes(true).unhealthy_after(1));
    questions.answer(&["a=old:1", "b=b:1"]).await;
    assert_eq!(news(&mut events).await, Ok(2));
    let mut b: Option<Peer> = None;
    for _ in 0..2 {
        let attempt = attempts.next().await;
        if attempt.endpoint == "old:1" {
            attempt.refuse();
        } else {
            b = Some(attempt.accept());
        }
    }
    settle().await;
    let owners = |client: &Client| {
        let keys = (0..100).map(|n| client.node_for_key(format!("key-{n}")).unwrap());
        keys.filter(|node| node.name() == "a").count()
    };
    assert_eq!(owners(&client), 0);
    questions.answer(&["a=new:1", "b=b:1"]).await;
    assert_eq!(news(&mut events).await, Ok(2));
    assert!(owners(&client) > 0);
    drop(b);
}
