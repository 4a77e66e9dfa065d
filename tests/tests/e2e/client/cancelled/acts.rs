//! What is dropped at each of its polls: every call of the client, its nodes and its typed views.

use std::convert::Infallible;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use steersman_memcached::codec::Utf8;
use steersman_memcached::{Client, Expires};

use super::super::LONG;

pub(super) type Act = fn(Client) -> Pin<Box<dyn Future<Output = ()>>>;

/// A lease that outlives the test.
const LEASE: Duration = Duration::from_secs(1000);
/// A life that outlives it.
const LIFE: Duration = Duration::from_secs(1000);

async fn loads() -> Result<&'static str, Infallible> {
    tokio::task::yield_now().await;
    Ok("loaded")
}

pub(super) async fn fills(client: &Client) -> Bytes {
    let filled = client.get_or_fill("fill").lease(LEASE).load(loads).await;
    filled.unwrap().data
}

/// Each of them succeeds whatever came before.
pub(super) const ACTS: &[(&str, Act)] = &[
    ("get", |client| {
        Box::pin(async move {
            let found = client.get("kept").await.unwrap();
            assert_eq!(found.unwrap().data, "as it was");
            assert_eq!(client.get("missing").await.unwrap(), None);
        })
    }),
    ("set", |client| {
        Box::pin(async move {
            client.set("a", "x").await.unwrap();
            client.set("b", vec![b'x'; 900_000]).await.unwrap();
            client.set("c", "x").noreply().await.unwrap();
            let _ = client.add("d", "x").await.unwrap();
            client.delete("d").noreply().await.unwrap();
        })
    }),
    ("get_many", |client| {
        Box::pin(async move {
            let keys = (0..100).map(|n| format!("key-{n}")).collect::<Vec<_>>();
            let keys = keys.iter().map(String::as_str).chain(["kept"]);
            let many = client.get_many(keys).await;
            assert_eq!(many.found["kept"].data, "as it was");
            assert!(many.failed.is_empty());
        })
    }),
    ("meta", |client| {
        Box::pin(async move {
            let reply = client.meta_get("kept", |get| get.value().ttl()).await;
            assert_eq!(reply.unwrap().value.unwrap(), "as it was");
            client.meta_set("m", "x", |set| set).await.unwrap();
            client.meta_inspect("kept").await.unwrap();
        })
    }),
    ("get_or_fill", |client| {
        Box::pin(async move {
            assert_eq!(fills(&client).await, "loaded");
            // What was cached already was not loaded: it is the next time.
            let _ = client.delete("fill").await.unwrap();
            assert_eq!(fills(&client).await, "loaded");
            client.invalidate("fill", LEASE).await.unwrap();
            let fill = client.get_or_fill("fill").lease(LEASE);
            let filled = fill.stale_while_revalidate().load_in_background(loads);
            assert_eq!(filled.await.unwrap().data, "loaded");
        })
    }),
    ("two who fill", |client| {
        Box::pin(async move {
            let _ = client.delete("fill").await.unwrap();
            let (one, other) = tokio::join!(fills(&client), fills(&client));
            assert_eq!((&one[..], &other[..]), (&b"loaded"[..], &b"loaded"[..]));
        })
    }),
    ("administration", |client| {
        Box::pin(async move {
            client.ready(LONG).await.unwrap();
            for node in client.nodes() {
                let node = client.node(node.name()).unwrap();
                node.stats("items").await.unwrap();
                node.inspect("kept").await.unwrap();
                let mut keys = node.keys().await.unwrap();
                while keys.next().await.unwrap().is_some() {}
            }
        })
    }),
    ("reads that touch, with cas numbers", |client| {
        Box::pin(async move {
            let found = client.gets("kept").await.unwrap();
            assert!(found.unwrap().cas.is_some());
            let found = client.gat("kept", LIFE).await.unwrap();
            assert_eq!(found.unwrap().data, "as it was");
            let found = client.gats("kept", LIFE).await.unwrap();
            assert_eq!(found.unwrap().data, "as it was");
            assert!(client.touch("kept", LIFE).await.unwrap());
        })
    }),
    ("conditional writes", |client| {
        Box::pin(async move {
            client.set("w", "1").await.unwrap();
            let cas = client.gets("w").await.unwrap().unwrap().cas.unwrap();
            let _ = client.cas("w", "2", cas).await.unwrap();
            let _ = client.replace("w", "3").await.unwrap();
            let _ = client.append("w", "4").await.unwrap();
            let _ = client.prepend("w", "5").await.unwrap();
            client.set("n", "7").await.unwrap();
            assert_eq!(client.increment("n", 2).await.unwrap(), Some(9));
            assert_eq!(client.decrement("n", 1).await.unwrap(), Some(8));
        })
    }),
    ("other reads of many", |client| {
        Box::pin(async move {
            let keys = ["kept", "none"];
            let many = client.gets_many(keys).await;
            assert_eq!((many.found.len(), many.failed.len()), (1, 0));
            let many = client.gat_many(keys, LIFE).await;
            assert_eq!((many.found.len(), many.failed.len()), (1, 0));
            let many = client.gats_many(keys, LIFE).await;
            assert_eq!((many.found.len(), many.failed.len()), (1, 0));
        })
    }),
    ("meta writes", |client| {
        Box::pin(async move {
            client.meta_set("m", "1", |set| set).await.unwrap();
            let added = client.meta_increment("m", 1, |add| add.initial(1, Expires::Never));
            added.await.unwrap();
            client.meta_decrement("m", 1, |sub| sub).await.unwrap();
            client.meta_delete("m", |delete| delete).await.unwrap();
        })
    }),
    ("typed calls", |client| {
        Box::pin(async move {
            let texts = client.typed(Utf8);
            texts.set("t", "text").await.unwrap();
            let _ = texts.add("t", "text").await.unwrap();
            let _ = texts.replace("t", "text").await.unwrap();
            let found = texts.gets::<_, String>("t").await.unwrap().unwrap();
            let _ = texts.cas("t", "text", found.cas).await.unwrap();
            let found: Option<String> = texts.get("t").await.unwrap();
            assert_eq!(found.unwrap(), "text");
            let found: Option<String> = texts.gat("t", LIFE).await.unwrap();
            assert_eq!(found.unwrap(), "text");
            let many = texts.get_many::<_, String>(["t", "none"]).await;
            assert_eq!((many.found.len(), many.failed.len()), (1, 0));
        })
    }),
    ("all nodes", |client| {
        Box::pin(async move {
            client.ready_any(LONG).await.unwrap();
            client.version().await.into_result().unwrap();
            client.stats("").await.into_result().unwrap();
            client.verbosity(0).await.into_result().unwrap();
            client.cache_memlimit(64).await.into_result().unwrap();
            // Nothing is flushed while the test runs.
            client.flush_all().delay(LIFE).await.into_result().unwrap();
            for node in client.nodes() {
                let node = client.node(node.name()).unwrap();
                node.version().await.unwrap();
                node.meta_noop().await.unwrap();
                node.verbosity(0).await.unwrap();
                node.cache_memlimit(64).await.unwrap();
                node.flush_all().delay(LIFE).await.unwrap();
            }
        })
    }),
];

/// Every method that gives something to be awaited is called by one of the acts, as far as the listing of
/// the public interface tells.
#[test]
fn no_call_is_left_out() {
    let listing = include_str!("../../../../../public-api/steersman-memcached.txt");
    let acts = include_str!("acts.rs");
    let awaited = [
        "Call<",
        "GetMany<",
        "AllNodes<",
        "GetOrFill<",
        "TypedRead<",
        "TypedMany<",
    ];
    let mut methods = 0;
    for line in listing.lines() {
        let is_async = line.starts_with("pub async fn ");
        let Some((head, output)) = line.split_once(" -> ").or(is_async.then_some((line, "")))
        else {
            continue;
        };
        let owners = ["::Client::", "::NodeHandle::", "::Typed::"];
        let called = owners.into_iter().find_map(|owner| head.split_once(owner));
        let Some((_, call)) = called.filter(|_| head.contains("fn steersman_memcached::")) else {
            continue;
        };
        let name = call.split(['(', '<']).next().unwrap();
        // The ends of a client are tried by themselves.
        let is_end = matches!(name, "close" | "close_within");
        if is_end || !(is_async || awaited.iter().any(|kind| output.starts_with(kind))) {
            continue;
        }
        methods += 1;
        let is_called =
            acts.contains(&format!(".{name}(")) || acts.contains(&format!(".{name}::<"));
        assert!(is_called, "no act calls {name}: {line}");
    }
    assert!(
        methods > 40,
        "the listing is not read as it should be: {methods}"
    );
}
