//! Typed values, key prefixes and long keys on a real memcached.

use std::collections::BTreeSet;
use std::time::Duration;

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use steersman_memcached::codec::{
    CodecErrorKind, Compression, Decode, Encode, Format, Json, Postcard, Pymemcache, Raw, Utf8,
    Versioned,
};
use steersman_memcached::{CasOutcome, Client, ErrorKind, Stage, StoreOutcome, Typed};

use super::{client, memcached, quick};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct User {
    name: String,
    visits: Vec<u64>,
}

fn user(visits: u64) -> User {
    User {
        name: "Ada".to_owned(),
        visits: (0..visits).map(|visit| visit % 10).collect(),
    }
}

/// The three ways in which a view may store.
fn views<C: Format + Clone>(client: &Client, codec: C) -> [Typed<C>; 3] {
    [
        client.typed(codec.clone()),
        client.typed(codec.clone()).compress(Compression::zstd()),
        client.typed(codec).compress(Compression::lz4()),
    ]
}

/// What is stored by any view of a format is read by all of them.
async fn round_trips<C, T>(client: &Client, codec: C, value: &T)
where
    C: Format + Clone + Encode<T> + Decode<T>,
    T: PartialEq + std::fmt::Debug,
{
    let mut lengths = Vec::new();
    for writer in views(client, codec.clone()) {
        writer.set("k", value).await.unwrap();
        let stored = client.get("k").await.unwrap().unwrap();
        assert_eq!(stored.flags & 0xffff_00ff, 0x5354_0000 | u32::from(C::ID));
        lengths.push(stored.data.len());
        for reader in views(client, codec.clone()) {
            let read: T = reader.get("k").await.unwrap().unwrap();
            assert_eq!(read, *value, "{}", C::NAME);
        }
    }
    assert!(
        lengths[1] < lengths[0] && lengths[2] < lengths[0],
        "{lengths:?}"
    );
}

async fn round_trips_by_serde<T>(client: &Client, value: &T)
where
    T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug,
{
    round_trips(client, Json, value).await;
    round_trips(client, Postcard, value).await;
}

#[tokio::test]
async fn values_of_every_codec_and_compression_are_read_back() {
    let server = memcached();
    let client = client(&server);
    round_trips(&client, Raw, &vec![7_u8; 5000]).await;
    round_trips(&client, Utf8, &"grüß dich ".repeat(500)).await;
    round_trips_by_serde(&client, &user(3000)).await;
    round_trips_by_serde(&client, &vec![Some(1.5); 2000]).await;
}

#[tokio::test]
async fn typed_calls_do_what_plain_ones_do() {
    let server = memcached();
    let client = client(&server);
    let users = client.typed(Json);
    let missing: Option<User> = users.get("u:1").await.unwrap();
    assert_eq!(missing, None);

    let (one, two) = (user(1), user(2));
    assert_eq!(
        users.replace("u:1", &one).await.unwrap(),
        StoreOutcome::NotStored
    );
    assert_eq!(users.add("u:1", &one).await.unwrap(), StoreOutcome::Stored);
    assert_eq!(
        users.add("u:1", &two).await.unwrap(),
        StoreOutcome::NotStored
    );
    let read: Versioned<User> = users.gets("u:1").await.unwrap().unwrap();
    assert_eq!(read.value, one);
    assert_eq!(
        users.cas("u:1", &two, read.cas).await.unwrap(),
        CasOutcome::Stored
    );
    assert_eq!(
        users.cas("u:1", &one, read.cas).await.unwrap(),
        CasOutcome::Exists
    );

    // With an expiry that is over at once, and without waiting for the reply.
    users
        .set("u:2", &one)
        .expires_in(Duration::ZERO)
        .await
        .unwrap();
    users.set("u:3", &one).noreply().await.unwrap();
    users.set("u:4", &one).await.unwrap();
    let gone: Option<User> = users.gat("u:4", Duration::ZERO).await.unwrap();
    assert_eq!(gone, Some(one.clone()));

    let keys = ["u:1", "u:2", "u:3", "u:4"];
    let many = users.get_many::<_, User>(keys).await;
    assert!(many.failed.is_empty());
    assert_eq!(many.found, [("u:1", two), ("u:3", one)].into());
    assert_eq!(many.missing, ["u:2", "u:4"]);
}

#[tokio::test]
async fn what_cannot_be_decoded_is_told_and_no_miss() {
    let server = memcached();
    let client = client(&server);
    client.set("plain", "text").await.unwrap();
    client.typed(Utf8).set("text", "text").await.unwrap();
    client.set("count", "70000").flags(2).await.unwrap();

    let error = client
        .typed(Json)
        .get::<_, User>("plain")
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.stage()),
        (ErrorKind::Codec, Stage::Decoding)
    );
    let codec_error = error.codec_error().unwrap();
    assert_eq!(codec_error.kind(), CodecErrorKind::UnknownFlags);
    assert_eq!(error.node(), Some(&*server.node()));
    assert!(!error.is_retryable());
    let says = error.to_string();
    let begins = format!(
        "get at {}: the value (4 bytes, flags 0x00000000) has",
        server.node()
    );
    assert!(says.starts_with(&begins), "{says}");

    let keys = ["plain", "text", "nothing"];
    let many = client.typed(Utf8).get_many::<_, String>(keys).await;
    assert_eq!(many.found, [("text", "text".to_owned())].into());
    assert_eq!(many.missing, ["nothing"]);
    let [(key, error)] = &many.failed[..] else {
        panic!("{:?}", many.failed);
    };
    assert_eq!((*key, error.kind()), ("plain", ErrorKind::Codec));

    // Unless a view is told to take them.
    let lenient = client.typed(Utf8).read_unmarked();
    let text: Option<String> = lenient.get("plain").await.unwrap();
    assert_eq!(text.as_deref(), Some("text"));
    let count: Option<u32> = client.typed(Pymemcache).get("count").await.unwrap();
    assert_eq!(count, Some(70_000));
}

#[tokio::test]
async fn what_cannot_be_encoded_is_never_sent() {
    let server = memcached();
    let client = client(&server);
    let by_pairs = std::collections::HashMap::from([((1, 2), 3)]);
    let error = client.typed(Json).set("k", &by_pairs).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.stage()),
        (ErrorKind::Codec, Stage::Validation)
    );
    assert!(
        error
            .to_string()
            .starts_with("set: the value has no form in JSON"),
        "{error}"
    );
    assert!(!error.maybe_executed());
    assert_eq!(client.get("k").await.unwrap(), None);
}

#[tokio::test]
async fn a_value_that_would_become_too_long_is_refused() {
    let server = memcached();
    let client = client(&server);
    let zeros = client.typed(Raw).compress(Compression::zstd());
    zeros.set("zeros", &vec![0_u8; 10 << 20]).await.unwrap();
    let bounded = zeros.clone().max_size((10 << 20) - 1);
    let error = bounded.get::<_, Bytes>("zeros").await.unwrap_err();
    assert_eq!(
        error.codec_error().unwrap().kind(),
        CodecErrorKind::TooLarge
    );
    let whole: Bytes = zeros.get("zeros").await.unwrap().unwrap();
    assert_eq!(whole.len(), 10 << 20);
    // The client's own bound is that of its views.
    let small = quick([server.node()])
        .max_value_size(1 << 20)
        .build()
        .unwrap();
    let error = small.typed(Raw).get::<_, Bytes>("zeros").await.unwrap_err();
    assert_eq!(
        error.codec_error().unwrap().kind(),
        CodecErrorKind::TooLarge
    );
}

#[tokio::test]
async fn every_call_of_a_client_with_a_prefix_is_about_the_keys_under_it() {
    let servers = [memcached(), memcached(), memcached()];
    let nodes = || {
        servers
            .iter()
            .map(steersman_e2e::memcached::RealMemcached::node)
    };
    let bare = quick(nodes()).build().unwrap();
    for replicas in [1, 2] {
        bare.flush_all().await.into_result().unwrap();
        let builder = quick(nodes()).key_prefix("app:").replicas(replicas);
        let app = builder.build().unwrap();
        let under = quick(nodes()).replicas(replicas).build().unwrap();

        for key in ["a", "b", "c", "d"] {
            app.set(key, key).await.unwrap();
            let sent = format!("app:{key}");
            assert_eq!(under.get(&sent).await.unwrap().unwrap().data, key);
            assert_eq!(bare.get(key).await.unwrap(), None);
            let replicas = app.replicas_for_key(key).unwrap();
            assert_eq!(replicas, under.replicas_for_key(&sent).unwrap());
            assert_eq!(app.node_for_key(key).unwrap(), replicas[0]);
        }
        let read = app.get_many(["a", "b", "c", "d", "e"]).await;
        let mut found: Vec<_> = read.found.keys().copied().collect();
        found.sort_unstable();
        assert_eq!((found, read.missing), (vec!["a", "b", "c", "d"], vec!["e"]));

        assert!(app.append("a", "!").await.unwrap().is_stored());
        assert!(app.prepend("a", "?").await.unwrap().is_stored());
        let value = app.gets("a").await.unwrap().unwrap();
        assert_eq!(value.data, "?a!");
        let cas = value.cas.unwrap();
        assert_eq!(app.cas("a", "7", cas).await.unwrap(), CasOutcome::Stored);
        assert_eq!(app.increment("a", 3).await.unwrap(), Some(10));
        assert_eq!(app.decrement("a", 4).await.unwrap(), Some(6));
        assert!(app.touch("a", Duration::from_secs(60)).await.unwrap());
        assert_eq!(under.gets("app:a").await.unwrap().unwrap().data, "6 ");
        assert!(app.delete("a").await.unwrap());
        assert_eq!(under.get("app:a").await.unwrap(), None);
        app.set("b", "quiet").noreply().await.unwrap();
        assert_eq!(app.get("b").await.unwrap().unwrap().data, "quiet");

        let error = app.get("k".repeat(247)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidKey);
        let mixed = app
            .get_many(["c".to_owned(), "k".repeat(247), String::new()])
            .await;
        assert_eq!((mixed.found.len(), mixed.failed.len()), (1, 2));
        let kinds = mixed.failed.iter().map(|(_, error)| error.kind());
        assert!(kinds.eq([ErrorKind::InvalidKey; 2]));
    }
}

/// Whatever repeats a key repeats the caller's.
#[tokio::test]
async fn a_client_with_a_prefix_is_told_of_its_keys_as_it_calls_them() {
    let server = memcached();
    let bare = client(&server);
    let builder = quick([server.node()]).key_prefix("app:");
    let app = builder.hash_long_keys(true).build().unwrap();
    let long = "long".repeat(100);
    let binary = [b'b', 0, 255];
    for key in [b"user:7", long.as_bytes(), &binary[..]] {
        let stored = app
            .meta_set(key, "value", |set| set.return_key().return_cas())
            .await;
        assert_eq!(stored.unwrap().key.as_deref(), Some(key));
        let read = app.meta_get(key, |get| get.value().return_key()).await;
        let read = read.unwrap();
        // A read does not ask for a binary key, of which memcached may send the bare bytes.
        assert_eq!(read.key.as_deref(), (key != binary).then_some(key));
        assert_eq!(read.value.as_deref(), Some(&b"value"[..]));
        let missed = app
            .meta_delete("none", |delete| delete.return_key().opaque(7))
            .await;
        assert_eq!(missed.unwrap().key.as_deref(), Some(&b"none"[..]));
    }
    for key in ["app:", "apple", "other:user:7"] {
        bare.set(key, "not the app's").await.unwrap();
    }

    let node = app.node(&server.node()).unwrap();
    let inspected = node.inspect("user:7").await.unwrap().unwrap();
    assert_eq!(inspected.length, Some(5));
    let inspected = node.inspect(&long).await.unwrap().unwrap();
    assert!(inspected.size > Some(250), "{inspected:?}");
    assert!(node.inspect("app:user:7").await.unwrap().is_none());
    let error = node.inspect("").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidKey);
    assert!(error.to_string().starts_with("inspect"), "{error}");

    let mut listed = BTreeSet::new();
    let mut listing = node.keys().await.unwrap();
    while let Some(item) = listing.next().await.unwrap() {
        listed.insert(item.key);
    }
    let digest = listed
        .iter()
        .find(|key| key.starts_with(b"longlong"))
        .cloned()
        .unwrap();
    assert_eq!(digest.len(), 250 - "app:".len());
    assert_eq!(
        listed,
        BTreeSet::from([Bytes::from("user:7"), digest, binary.to_vec().into()])
    );
}

#[tokio::test]
async fn keys_of_any_length_are_told_apart_by_their_digests() {
    let server = memcached();
    let builder = quick([server.node()]).key_prefix("p:");
    let client = builder.hash_long_keys(true).build().unwrap();
    let keys: Vec<String> = (1..=600).map(|len| "k".repeat(len)).collect();
    for key in &keys {
        client.set(key, key.len().to_string()).await.unwrap();
    }
    let read = client.get_many(keys.clone()).await.into_result().unwrap();
    assert_eq!(read.len(), keys.len());
    for (key, value) in read {
        assert_eq!(value.data, key.len().to_string());
    }
    let strict = quick([server.node()]).build().unwrap();
    let error = strict.get(&keys[250]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidKey);
}
