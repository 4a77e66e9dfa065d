//! The client's listing of keys, beside its other calls.

use std::collections::HashSet;
use std::time::Duration;

use steersman_memcached::{Client, ErrorKind};

use super::keys::fill;
use super::{say, started};

const KEYS: usize = 100_000;

fn client(server: &steersman_e2e::memcached::RealMemcached, timeout: Duration) -> Client {
    let node = format!("n={}", server.node());
    Client::builder()
        .node(&*node)
        .timeout(timeout)
        .build()
        .unwrap()
}

#[tokio::test]
async fn a_listing_that_nobody_goes_on_with_holds_up_no_other_call() {
    let server = started(&["-m", "256"]);
    fill(&server, KEYS);
    let client = client(&server, Duration::from_secs(20));
    let mut keys = client.node("n").unwrap().keys().await.unwrap();
    let first = keys.next().await.unwrap().unwrap();
    // The rest waits at the server.
    for number in 0..1_000 {
        let key = format!("key:{number}");
        assert!(client.get(key).await.unwrap().is_some());
    }
    assert!(client.set("other", "value").await.is_ok());
    let mut seen = HashSet::from([first.key]);
    while let Some(item) = keys.next().await.unwrap() {
        seen.insert(item.key);
    }
    assert!(
        keys.next().await.unwrap().is_none(),
        "the end stays the end"
    );
    let stored = (0..KEYS).filter(|number| seen.contains(format!("key:{number}").as_bytes()));
    // The server moves items between its queues meanwhile, and so misses a few.
    let listed = stored.count();
    assert!(listed > KEYS * 99 / 100, "{listed}");
    assert!(
        seen.len() <= KEYS + 1,
        "nothing was listed that is not there"
    );
}

#[tokio::test]
async fn a_server_that_lists_its_keys_for_another_is_busy_until_that_ends() {
    let server = started(&["-m", "256"]);
    fill(&server, KEYS);
    let impatient = client(&server, Duration::from_millis(300));
    let patient = client(&server, Duration::from_secs(20));
    let mut first = patient.node("n").unwrap().keys().await.unwrap();
    let error = impatient.node("n").unwrap().keys().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
    let said = error.to_string();
    assert!(said.starts_with("keys at n: another listing"), "{said}");
    // Nobody else has noticed.
    for number in 0..100 {
        let key = format!("key:{number}");
        let value = impatient.get(key).timeout(Duration::from_secs(20)).await;
        assert!(value.unwrap().is_some());
    }

    let handle = patient.node("n").unwrap();
    let (second, ()) = tokio::join!(handle.keys(), async {
        while first.next().await.unwrap().is_some() {}
    });
    assert!(second.unwrap().next().await.unwrap().is_some());
    // Dropping one ends it, too, sooner or later.
    let third = handle.keys().await;
    assert!(third.is_ok(), "{third:?}");
}

#[tokio::test]
async fn an_empty_server_has_no_keys_and_a_stopped_one_does_not_say() {
    let server = started(&[]);
    let client = client(&server, Duration::from_millis(500));
    let node = client.node("n").unwrap();
    let mut keys = node.keys().await.unwrap();
    assert!(keys.next().await.unwrap().is_none());
    assert_eq!(say(&server, "set k 0 0 1\r\nv"), "STORED\r\n");
    server.pause().unwrap();
    let error = node.keys().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
    server.resume().unwrap();
    client.close().await;
    assert_eq!(node.keys().await.unwrap_err().kind(), ErrorKind::Closed);
}
