//! What has gone wrong with other clients, against the real server.

use std::net::TcpStream;
use std::time::Duration;

use steersman_e2e::memcached::RealMemcached;
use steersman_memcached::{Client, ErrorKind};

use super::{LONG, client, memcached, quick};

/// How many connections the client has closed, or seen closed.
fn closed(client: &Client) -> u64 {
    client
        .connection_pool_metrics()
        .values()
        .map(|node| node.connections_closed)
        .sum()
}

#[tokio::test]
async fn a_refused_value_leaves_the_connection_in_order() {
    let server = memcached();
    let client = client(&server);
    client.set("k", "v").await.unwrap();
    for _ in 0..3 {
        let error = client
            .set("big", vec![b'x'; 2 * 1024 * 1024])
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Server);
        assert!(
            error.to_string().contains("object too large for cache"),
            "{error}"
        );
        assert!(!error.maybe_executed() && !error.is_retryable());
        assert_eq!(client.get("k").await.unwrap().unwrap().data, "v");
        client
            .set("big", vec![b'x'; 2 * 1024 * 1024])
            .noreply()
            .await
            .unwrap();
        assert_eq!(client.get("k").await.unwrap().unwrap().data, "v");
    }
    assert_eq!(closed(&client), 0);
}

#[tokio::test]
async fn a_server_out_of_memory_keeps_its_connections() {
    // No eviction, and as little memory as memcached takes.
    let server = RealMemcached::start_with(&["-M", "-m", "2"]).unwrap();
    let client = client(&server);
    let mut refused = 0;
    for n in 0..2_000 {
        match client.set(format!("key-{n}"), vec![b'x'; 100_000]).await {
            Ok(()) => {}
            Err(error) => {
                assert!(
                    error.to_string().contains("SERVER_ERROR out of memory"),
                    "{error}"
                );
                assert!(error.is_retryable());
                refused += 1;
            }
        }
        if refused == 20 {
            break;
        }
    }
    assert_eq!(refused, 20);
    assert_eq!(client.get("none").await.unwrap(), None);
    assert_eq!(closed(&client), 0);
}

#[tokio::test]
async fn a_server_without_free_connections_is_unreachable_until_it_has_some() {
    let server =
        RealMemcached::start_with(&["-t", "1", "-c", "64", "-o", "maxconns_fast"]).unwrap();
    let mut hogs = Vec::new();
    let client = quick([server.node()]).min_connections(0).build().unwrap();
    for _ in 0..128 {
        hogs.push(TcpStream::connect(server.addr()).unwrap());
    }
    let refused = async {
        loop {
            if let Err(error) = client.get("k").await
                && error.to_string().contains("Too many open connections")
            {
                return;
            }
        }
    };
    tokio::time::timeout(LONG, refused)
        .await
        .expect("the reason is told");
    drop(hogs);
    let back = async { while client.get("k").await.is_err() {} };
    tokio::time::timeout(LONG, back)
        .await
        .expect("the node comes back");
}

#[tokio::test]
async fn writes_without_reply_are_seen_by_what_follows_them() {
    let server = memcached();
    let client = quick([server.node()])
        .min_connections(4)
        .max_connections(4)
        .max_in_flight(8)
        .build()
        .unwrap();
    client.ready(LONG).await.unwrap();
    let tasks: Vec<_> = (0..16)
        .map(|task| {
            let client = client.clone();
            tokio::spawn(async move {
                let key = format!("key-{task}");
                for n in 0..300 {
                    let value = format!("{n}");
                    client.set(&key, value.clone()).noreply().await.unwrap();
                    assert_eq!(client.get(&key).await.unwrap().unwrap().data, value);
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
}

#[tokio::test]
async fn reconnecting_forgets_the_requests_of_the_old_connection() {
    let mut server = memcached();
    let client = client(&server);
    for round in 0..5 {
        client.set("k", format!("{round}")).await.unwrap();
        server.pause().unwrap();
        let orphans: Vec<_> = (0..10)
            .map(|_| tokio::spawn(client.get("orphan").into_future()))
            .collect();
        while client
            .connection_pool_metrics()
            .values()
            .any(|node| node.in_flight < 10)
        {
            tokio::task::yield_now().await;
        }
        server.restart().unwrap();
        for orphan in orphans {
            assert!(orphan.await.unwrap().is_err());
        }
        client.ready(LONG).await.unwrap();
        assert_eq!(client.get("k").await.unwrap(), None);
        client.set("k", format!("{round}")).await.unwrap();
        assert_eq!(
            client.get("k").await.unwrap().unwrap().data,
            format!("{round}")
        );
    }
}

#[tokio::test]
async fn lines_of_the_longest_keys_fit_what_the_server_takes() {
    let server = memcached();
    let client = quick([server.node()])
        .autobatching_max_keys(1_000)
        .build()
        .unwrap();
    let keys: Vec<String> = (0..1_000).map(|n| format!("{n:0>250}")).collect();
    for key in &keys {
        client.set(key, "x").noreply().await.unwrap();
    }
    assert_eq!(
        client.get_many(&keys).await.into_result().unwrap().len(),
        1_000
    );
    let touched = client.gats_many(&keys, Duration::from_secs(60)).await;
    assert_eq!(touched.into_result().unwrap().len(), 1_000);
    assert_eq!(closed(&client), 0);
}
