//! Clusters of thousands of nodes: a change of many costs about as much as a change of one. If each
//! node cost as much, these tests would take minutes. And finding the owners of many keys keeps nobody from
//! running.

use std::collections::HashSet;
use std::future::IntoFuture;
use std::pin::pin;
use std::time::Duration;

use futures_util::FutureExt;
use steersman_memcached::{Client, Discovered, ErrorKind, NodeConfig, Replication, Stage};

use crate::discovery::told;
use crate::network::{Attempts, network, settle};

const NODES: usize = 10_000;

/// Nodes of these numbers, of which the first half have other addresses in each series.
fn nodes(numbers: impl Iterator<Item = usize>, series: usize) -> Discovered {
    Discovered::new(numbers.map(|number| {
        let host = if number < NODES / 2 { series } else { 0 };
        let node = format!("n{number}=host-{host}:{}", 1 + number);
        node.parse::<NodeConfig>().unwrap()
    }))
}

/// Lists of 10,000 nodes that come, move to other addresses, make way for others, and go.
async fn lists_come_and_go(replication: Replication) {
    let (network, _attempts) = network();
    let (told, mut questions) = told();
    let client = Client::builder()
        .discovery(told)
        // Policies tick for all nodes as long as the next list is waited for.
        .discovery_interval(Duration::from_secs(1))
        .connector(network)
        .min_connections(0)
        .replicas(replication)
        .build()
        .unwrap();
    let owners = |client: &Client| -> HashSet<String> {
        let owner = |key: usize| client.node_for_key(format!("key-{key}")).unwrap();
        (0..500).map(|key| owner(key).name().to_owned()).collect()
    };
    questions.answer_with(Ok(nodes(0..NODES, 0))).await;
    // The next question comes once the list is taken.
    let question = questions.next().await;
    assert_eq!(client.nodes().len(), NODES);
    let before = owners(&client);
    assert!(before.len() > 400, "keys are spread over {}", before.len());

    question.send(Ok(nodes(0..NODES, 1))).ok();
    let question = questions.next().await;
    assert_eq!(
        owners(&client),
        before,
        "a node keeps its keys when it moves"
    );

    question.send(Ok(nodes(NODES / 2..NODES * 3 / 2, 1))).ok();
    let question = questions.next().await;
    assert_eq!(client.nodes().len(), NODES);
    assert_ne!(owners(&client), before);

    question.send(Ok(nodes(7..8, 1))).ok();
    drop(questions.next().await);
    assert_eq!(owners(&client), HashSet::from(["n7".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn a_list_of_10_000_nodes_is_taken_at_once() {
    lists_come_and_go(Replication::new(1)).await;
}

#[tokio::test(start_paused = true)]
async fn a_list_of_10_000_nodes_is_taken_at_once_with_replicas() {
    lists_come_and_go(Replication::new(2)).await;
}

/// A network that fails takes all nodes but one away in the same moment, and brings them back.
#[tokio::test(start_paused = true)]
async fn thousands_of_nodes_leave_the_hashing_together_and_come_back() {
    const MANY: usize = 3_000;
    let (network, mut attempts) = network();
    let client = Client::builder()
        .nodes((0..MANY).map(|number| format!("n{number}=host:{}", 1 + number)))
        .connector(network)
        .purge_unhealthy_nodes(true)
        .unhealthy_after(1)
        .build()
        .unwrap();
    let owners = || -> Vec<String> {
        let owner = |key: usize| client.node_for_key(format!("key-{key}")).unwrap();
        (0..500).map(|key| owner(key).name().to_owned()).collect()
    };
    let before = owners();
    let mut peers = Vec::new();
    for _ in 0..MANY {
        let attempt = attempts.next().await;
        if attempt.endpoint == "host:1" {
            peers.push(attempt.accept());
        } else {
            attempt.refuse();
        }
    }
    while owners().iter().any(|owner| owner != "n0") {
        attempts.next().await.refuse();
    }
    while peers.len() < MANY {
        peers.push(attempts.next().await.accept());
    }
    settle().await;
    while owners() != before {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// A client of 3,000 nodes that has not yet looked for any key.
fn unused(replication: Replication) -> (Client, Attempts) {
    let (network, attempts) = network();
    let client = Client::builder()
        .nodes((0..3_000).map(|number| format!("n{number}=host:{}", 1 + number)))
        .connector(network)
        .min_connections(0)
        .replicas(replication)
        .build()
        .unwrap();
    (client, attempts)
}

fn many_keys() -> impl Iterator<Item = String> {
    (0..2_000).map(|number| format!("key-{number}"))
}

#[tokio::test(start_paused = true)]
async fn others_have_their_turn_while_owners_are_looked_for() {
    let (client, mut attempts) = unused(Replication::new(1));
    let mut call = pin!(client.get_many(many_keys()).into_future());
    let mut turns = 0;
    while attempts.next().now_or_never().is_none() {
        assert!(call.as_mut().now_or_never().is_none());
        turns += 1;
        // The attempt is made by a task of the client's.
        tokio::task::yield_now().await;
    }
    // The nodes are looked at 6,000,000 times.
    assert!(turns >= 20, "{turns}");
}

/// The time-out is looked at in each turn, be the owners asked or the replicas.
#[tokio::test(start_paused = true)]
async fn looking_for_owners_ends_with_the_time_out() {
    for replicas in [1, 2] {
        let (client, mut attempts) = unused(Replication::new(replicas));
        let mut call = pin!(client.get_many(many_keys()).into_future());
        assert!(call.as_mut().now_or_never().is_none());
        tokio::time::advance(Duration::from_secs(1)).await;
        let many = call.await;
        let in_time = many.failed.iter().filter(|(_, error)| {
            assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
            error.stage() != Stage::Routing
        });
        let in_time = in_time.count();
        assert_eq!(many.failed.len(), 2_000);
        settle().await;
        let mut asked = 0;
        while attempts.next().now_or_never().is_some() {
            asked += 1;
        }
        assert!(
            in_time < 200 && asked < 200,
            "{in_time} keys, {asked} nodes"
        );
    }
}
