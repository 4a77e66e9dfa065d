//! Every operation, against the real and the embedded server, over TCP (IPv4, IPv6, names) and a
//! Unix socket.

use std::collections::HashMap;
use std::time::{Duration, SystemTime};

use steersman_e2e::memcached::RealMemcached;
use steersman_memcached::{CasOutcome, Client, ErrorKind, Expires, Scheme, StoreOutcome};
use steersman_testkit::Server;

use super::{client, memcached, quick};

const HOUR: Duration = Duration::from_secs(3_600);

/// The one body that every server has to pass.
async fn every_operation(client: &Client) {
    reads_and_writes(client).await;
    conditions(client).await;
    counters(client).await;
    expiry(client).await;
    many(client).await;
    node_operations(client).await;
}

async fn reads_and_writes(client: &Client) {
    assert_eq!(client.get("none").await.unwrap(), None);
    client
        .set("k", "value")
        .flags(u32::MAX)
        .expires_in(HOUR)
        .await
        .unwrap();
    let value = client.get("k").await.unwrap().unwrap();
    assert_eq!(
        (&value.data[..], value.flags, value.cas),
        (&b"value"[..], u32::MAX, None)
    );
    let cas = client.gets("k").await.unwrap().unwrap().cas.unwrap();
    assert_eq!(
        client.gats("k", HOUR).await.unwrap().unwrap().cas,
        Some(cas)
    );
    assert_eq!(
        client
            .gat("k", Expires::Never)
            .await
            .unwrap()
            .unwrap()
            .flags,
        u32::MAX
    );
    assert!(client.append("k", "-end").await.unwrap().is_stored());
    assert!(client.prepend("k", "start-").await.unwrap().is_stored());
    assert_eq!(
        client.get("k").await.unwrap().unwrap().data,
        "start-value-end"
    );
    assert!(client.delete("k").await.unwrap());
    assert!(!client.delete("k").await.unwrap());

    client.set("quiet", "1").noreply().await.unwrap();
    client.append("quiet", "2").noreply().await.unwrap();
    assert_eq!(client.get("quiet").await.unwrap().unwrap().data, "12");
    client.delete("quiet").noreply().await.unwrap();
    assert_eq!(client.get("quiet").await.unwrap(), None);

    let mut random = fastrand::Rng::with_seed(1);
    for size in [0, 1, 2, 4_095, 4_096, 8_192, 100_000, 1_000_000] {
        let mut data: Vec<u8> = std::iter::repeat_with(|| random.u8(..))
            .take(size)
            .collect();
        for at in (0..size.saturating_sub(5)).step_by(997) {
            data[at..at + 5].copy_from_slice(b"END\r\n");
        }
        client.set("binary", data.clone()).await.unwrap();
        assert!(
            client.get("binary").await.unwrap().unwrap().data == data,
            "{size} bytes"
        );
    }
    let longest = "k".repeat(250);
    for key in ["größe", "\u{80}\u{ffff}", &longest, "!", "a:b/c?d=e&f"] {
        client.set(key, key.to_owned()).await.unwrap();
        assert_eq!(client.get(key).await.unwrap().unwrap().data, key);
    }
}

async fn conditions(client: &Client) {
    assert_eq!(client.add("cond", "1").await.unwrap(), StoreOutcome::Stored);
    assert_eq!(
        client.add("cond", "2").await.unwrap(),
        StoreOutcome::NotStored
    );
    assert_eq!(
        client.replace("cond", "3").flags(9).await.unwrap(),
        StoreOutcome::Stored
    );
    assert_eq!(
        client.replace("cond-none", "3").await.unwrap(),
        StoreOutcome::NotStored
    );
    assert_eq!(
        client.append("cond-none", "x").await.unwrap(),
        StoreOutcome::NotStored
    );
    assert_eq!(
        client.prepend("cond-none", "x").await.unwrap(),
        StoreOutcome::NotStored
    );
    let cas = client.gets("cond").await.unwrap().unwrap().cas.unwrap();
    assert_eq!(
        client.cas("cond", "4", cas).flags(5).await.unwrap(),
        CasOutcome::Stored
    );
    assert_eq!(
        client.cas("cond", "5", cas).await.unwrap(),
        CasOutcome::Exists
    );
    assert_eq!(
        client.cas("cond-none", "5", cas).await.unwrap(),
        CasOutcome::NotFound
    );
    let value = client.get("cond").await.unwrap().unwrap();
    assert_eq!((&value.data[..], value.flags), (&b"4"[..], 5));
}

async fn counters(client: &Client) {
    assert_eq!(client.increment("count", 1).await.unwrap(), None);
    assert_eq!(client.decrement("count", 1).await.unwrap(), None);
    client.set("count", "10").await.unwrap();
    assert_eq!(client.decrement("count", 1).await.unwrap(), Some(9));
    assert_eq!(client.get("count").await.unwrap().unwrap().data, "9 ");
    assert_eq!(client.increment("count", 2).await.unwrap(), Some(11));
    assert_eq!(client.decrement("count", 100).await.unwrap(), Some(0));
    assert_eq!(
        client.increment("count", u64::MAX).await.unwrap(),
        Some(u64::MAX)
    );
    assert_eq!(client.increment("count", 2).await.unwrap(), Some(1));
    client.set("word", "abc").await.unwrap();
    let error = client.increment("word", 1).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Server);
    assert!(error.to_string().contains("non-numeric"), "{error}");
}

async fn expiry(client: &Client) {
    let month = Duration::from_secs(30 * 24 * 3_600);
    for lives in [
        Expires::Never,
        Expires::In(HOUR),
        Expires::In(month),
        // Above 30 days memcached would take the number for a date in 1970.
        Expires::In(month + Duration::from_secs(1)),
        Expires::In(10 * month),
        Expires::At(SystemTime::now() + HOUR),
        Expires::At(SystemTime::now() + 10 * month),
    ] {
        client.set("expiry", "x").expires(lives).await.unwrap();
        assert!(client.get("expiry").await.unwrap().is_some(), "{lives:?}");
        assert!(client.touch("expiry", lives).await.unwrap());
        assert!(
            client.gat("expiry", lives).await.unwrap().is_some(),
            "{lives:?}"
        );
        assert!(client.get("expiry").await.unwrap().is_some(), "{lives:?}");
    }
    for dead in [
        Expires::In(Duration::ZERO),
        Expires::At(SystemTime::now() - HOUR),
        Expires::At(SystemTime::UNIX_EPOCH + HOUR),
        Expires::At(SystemTime::UNIX_EPOCH),
    ] {
        client.set("expiry", "x").await.unwrap();
        client.set("expiry", "x").expires(dead).await.unwrap();
        assert_eq!(client.get("expiry").await.unwrap(), None, "{dead:?}");
    }
    assert!(!client.touch("expiry", HOUR).await.unwrap());
}

async fn many(client: &Client) {
    let keys: Vec<String> = (0..500).map(|n| format!("many-{n}")).collect();
    for key in keys.iter().step_by(2) {
        client.set(key, key.clone()).flags(3).await.unwrap();
    }
    let check = |found: &HashMap<&String, steersman_memcached::Value>, cas: bool| {
        assert_eq!(found.len(), 250);
        for (key, value) in found {
            assert_eq!((&value.data[..], value.flags), (key.as_bytes(), 3));
            assert_eq!(value.cas.is_some(), cas);
        }
    };
    for (many, cas) in [
        (client.get_many(&keys), false),
        (client.gets_many(&keys), true),
        (client.gat_many(&keys, HOUR), false),
        (client.gats_many(&keys, HOUR), true),
    ] {
        let many = many.await;
        assert!(many.failed.is_empty());
        assert_eq!(many.missing.len(), 250);
        check(&many.found, cas);
    }
    let none = client.get_many(Vec::<&str>::new()).await;
    assert!(none.found.is_empty() && none.missing.is_empty() && none.failed.is_empty());
}

async fn node_operations(client: &Client) {
    let nodes = client.nodes();
    for node in &nodes {
        let node = client.node(node.name()).unwrap();
        assert!(node.version().await.unwrap().starts_with(char::is_numeric));
        for args in ["", "settings", "items", "slabs"] {
            let stats = node.stats(args).await.unwrap();
            assert!(
                stats.iter().all(|(name, _)| !name.is_empty()),
                "{args}: {stats:?}"
            );
        }
        let general = node.stats("").await.unwrap();
        assert!(
            general
                .iter()
                .any(|(name, value)| name == "pid" && value.parse::<u32>().is_ok())
        );
        node.stats("reset").await.unwrap();
        node.verbosity(0).await.unwrap();
        node.cache_memlimit(64).await.unwrap();
        node.flush_all().delay(HOUR).await.unwrap();
    }
    client.set("flushed", "x").await.unwrap();
    client.flush_all().await.into_result().unwrap();
    assert_eq!(client.get("flushed").await.unwrap(), None);
    assert_eq!(
        client.version().await.into_result().unwrap().len(),
        nodes.len()
    );
    assert_eq!(
        client.stats("").await.into_result().unwrap().len(),
        nodes.len()
    );
    client.verbosity(0).await.into_result().unwrap();
    client.cache_memlimit(64).await.into_result().unwrap();
}

#[tokio::test]
async fn the_real_server_over_tcp() {
    let server = memcached();
    every_operation(&client(&server)).await;
}

#[tokio::test]
async fn the_real_server_over_a_unix_socket() {
    let server = RealMemcached::start_on_unix_socket().unwrap();
    every_operation(&client(&server)).await;
}

#[tokio::test]
async fn the_real_server_by_its_host_name() {
    let server = memcached();
    let node = format!("localhost:{}", server.addr().port());
    every_operation(&quick([node]).build().unwrap()).await;
}

#[tokio::test]
async fn a_cluster_of_real_servers_with_every_placement() {
    let servers = [memcached(), memcached(), memcached()];
    for scheme in [
        Scheme::Rendezvous { slot_bits: 8 },
        Scheme::RendezvousExact,
        Scheme::Emcache,
        Scheme::EmcacheAarch64,
    ] {
        let nodes = servers.iter().map(RealMemcached::node);
        let client = quick(nodes)
            .placement(scheme)
            .autobatching(false)
            .build()
            .unwrap();
        every_operation(&client).await;
        client.close().await;
    }
}

#[tokio::test]
async fn the_embedded_server_over_tcp_unix_and_ipv6() {
    let folder = tempfile::tempdir().unwrap();
    let servers = [
        Server::start().await.unwrap(),
        Server::builder()
            .listen_unix(folder.path().join("socket"))
            .start()
            .await
            .unwrap(),
        Server::builder()
            .listen_tcp("[::1]:0")
            .start()
            .await
            .unwrap(),
    ];
    for server in &servers {
        every_operation(&quick([server.node()]).build().unwrap()).await;
    }
}
