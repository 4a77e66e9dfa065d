//! Real servers that are killed, paused and started again.

use std::time::Duration;

use steersman_e2e::memcached::RealMemcached;
use steersman_memcached::{ErrorKind, Event, EventStream};

use super::{LONG, client, memcached, quick};

async fn next_health(events: &mut EventStream) -> bool {
    let next = async {
        loop {
            match events.recv().await.expect("the client is open") {
                Event::NodeHealthy { .. } => return true,
                Event::NodeUnhealthy { .. } => return false,
                _ => {}
            }
        }
    };
    tokio::time::timeout(LONG, next)
        .await
        .expect("the change is noticed")
}

#[tokio::test]
async fn an_idle_server_that_dies_is_noticed_without_an_operation_and_taken_back() {
    let mut server = memcached();
    let client = client(&server);
    client.ready(LONG).await.unwrap();
    let mut events = client.events();
    server.kill().unwrap();
    assert!(!next_health(&mut events).await);
    let error = client.get("k").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoNodeReachable);
    assert!(error.to_string().contains("refused"), "{error}");
    server.restart().unwrap();
    assert!(next_health(&mut events).await);
    client.set("k", "v").await.unwrap();
    assert_eq!(client.get("k").await.unwrap().unwrap().data, "v");
}

#[tokio::test]
async fn a_server_killed_with_requests_in_flight_fails_them_at_once() {
    let mut server = memcached();
    // Nothing but the death of the server can end these calls.
    let client = quick([server.node()])
        .timeout(None)
        .stalled_after(None)
        .build()
        .unwrap();
    client.set("k", "v").await.unwrap();
    server.pause().unwrap();
    let reads: Vec<_> = (0..100)
        .map(|n| tokio::spawn(client.get(format!("key-{n}")).into_future()))
        .collect();
    let write = tokio::spawn(client.set("k", "w").into_future());
    let many = tokio::spawn(client.get_many(["a", "b"]).into_future());
    while client
        .connection_pool_metrics()
        .values()
        .any(|node| node.in_flight < 102)
    {
        tokio::task::yield_now().await;
    }
    server.kill().unwrap();
    let outcome = async {
        for read in reads {
            let error = read.await.unwrap().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ConnectionLost, "{error}");
        }
        let error = write.await.unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionLost, "{error}");
        for (_, error) in many.await.unwrap().failed {
            assert_eq!(error.kind(), ErrorKind::ConnectionLost, "{error}");
        }
    };
    tokio::time::timeout(LONG, outcome)
        .await
        .expect("nothing hangs");
}

#[tokio::test]
async fn a_paused_server_is_given_up_and_taken_back_when_it_goes_on() {
    let server = memcached();
    let client = quick([server.node()])
        .stalled_after(Duration::from_secs(2))
        .timeout(Duration::from_secs(1))
        .build()
        .unwrap();
    client.set("k", "v").await.unwrap();
    let mut events = client.events();
    server.pause().unwrap();
    let error = client.get("k").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    // The kernel accepts for it all the while.
    assert!(std::net::TcpStream::connect(server.addr()).is_ok());
    assert!(!next_health(&mut events).await);
    let error = client.get("k").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoNodeReachable, "{error}");
    server.resume().unwrap();
    assert!(next_health(&mut events).await);
    assert_eq!(client.get("k").await.unwrap().unwrap().data, "v");
}

#[tokio::test]
async fn dropped_and_late_requests_cost_neither_connection_nor_order() {
    let server = memcached();
    let client = quick([server.node()])
        .max_connections(1)
        .stalled_after(None)
        .build()
        .unwrap();
    for n in 0..100 {
        client
            .set(format!("key-{n}"), format!("value-{n}"))
            .await
            .unwrap();
    }
    for _ in 0..5 {
        server.pause().unwrap();
        for n in 0..100 {
            let read = client.get(format!("key-{n}"));
            if n % 2 == 0 {
                let error = read.timeout(Duration::from_millis(1)).await.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Timeout);
            } else {
                let read = tokio::spawn(read.into_future());
                tokio::task::yield_now().await;
                read.abort();
            }
        }
        server.resume().unwrap();
        for n in (0..100).rev() {
            let value = client.get(format!("key-{n}")).await.unwrap().unwrap();
            assert_eq!(value.data, format!("value-{n}"));
        }
    }
    let metrics = client.node(&server.node()).unwrap().metrics();
    assert_eq!(
        (metrics.connections_closed, metrics.in_flight),
        (0, 0),
        "{metrics:?}"
    );
}

#[tokio::test]
async fn one_dead_node_of_a_cluster_loses_its_own_keys_and_no_others() {
    let mut servers = [memcached(), memcached(), memcached()];
    let client = quick(servers.iter().map(RealMemcached::node))
        .build()
        .unwrap();
    let keys: Vec<String> = (0..600).map(|n| format!("key-{n}")).collect();
    for key in &keys {
        client.set(key, key.clone()).await.unwrap();
    }
    let mut events = client.events();
    let dead = servers[1].node();
    servers[1].kill().unwrap();
    assert!(!next_health(&mut events).await);
    let many = client.get_many(&keys).await;
    assert!(many.missing.is_empty(), "an outage is not a miss");
    let owner = |key: &str| client.node_for_key(key).unwrap().name().to_owned();
    assert!(many.found.keys().all(|key| owner(key) != dead));
    assert!(!many.failed.is_empty());
    for (key, error) in &many.failed {
        assert_eq!((owner(key), error.node()), (dead.clone(), Some(&*dead)));
        assert_eq!(error.kind(), ErrorKind::Unreachable);
        let error = client.get(key).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unreachable);
    }
    assert_eq!(many.found.len() + many.failed.len(), keys.len());
    servers[1].restart().unwrap();
    assert!(next_health(&mut events).await);
    let back = client.get_many(&keys).await;
    assert!(back.failed.is_empty());
    assert_eq!(back.missing.len(), many.failed.len());
}

#[tokio::test]
async fn reads_recover_after_every_node_was_away() {
    let mut servers = [memcached(), memcached()];
    let client = quick(servers.iter().map(RealMemcached::node))
        .purge_unhealthy_nodes(true)
        .unhealthy_after(1)
        .build()
        .unwrap();
    client.ready(LONG).await.unwrap();
    for _ in 0..2 {
        let mut events = client.events();
        for server in &mut servers {
            server.kill().unwrap();
        }
        for _ in 0..2 {
            assert!(!next_health(&mut events).await);
        }
        let reads = (0..100).map(|n| tokio::spawn(client.get(format!("key-{n}")).into_future()));
        for read in reads.collect::<Vec<_>>() {
            let error = read.await.unwrap().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NoNodeReachable);
        }
        for server in &mut servers {
            server.restart().unwrap();
        }
        client.ready(LONG).await.unwrap();
        let reads = (0..100).map(|n| tokio::spawn(client.get(format!("key-{n}")).into_future()));
        for read in reads.collect::<Vec<_>>() {
            assert_eq!(read.await.unwrap().unwrap(), None);
        }
    }
}

#[tokio::test]
async fn repeating_a_failing_call_without_pause_does_not_keep_the_client_from_recovering() {
    let mut server = memcached();
    let client = client(&server);
    client.ready(LONG).await.unwrap();
    let mut events = client.events();
    server.kill().unwrap();
    assert!(!next_health(&mut events).await);
    server.restart().unwrap();
    // On a single thread, so that these loops could keep everything else from running.
    let recovered = async {
        while !client.get_many(["a", "b"]).await.failed.is_empty() {}
        while client.set("k", "v").noreply().await.is_err() {}
        while client.get("k").await.is_err() {}
    };
    tokio::time::timeout(LONG, recovered)
        .await
        .expect("the node comes back");
}

#[tokio::test]
async fn a_name_that_does_not_resolve_is_tried_again_and_again() {
    let client = quick(["nowhere=no-such-host.invalid:11211".to_owned()])
        .build()
        .unwrap();
    let mut events = client.events();
    assert!(!next_health(&mut events).await);
    let metrics = client.node("nowhere").unwrap().metrics();
    assert!(metrics.connections_created_with_error >= 3);
    let error = client.get("k").await.unwrap_err();
    assert!(error.to_string().contains("get at nowhere"), "{error}");
}
