//! Calls have spans as the conventions for database clients want them.

use std::collections::BTreeSet;

use steersman_memcached::codec::Utf8;
use steersman_memcached::{Client, ErrorKind, Spans};
use steersman_testkit::{Server, Times};

use super::capture::{Capture, Fields};
use super::page;
use crate::network::{client, hit, settle};

fn fields<const N: usize>(fields: [(&str, &str); N]) -> Fields {
    let fields = fields.iter().copied();
    fields
        .chain([("otel.kind", "client"), ("db.system.name", "memcached")])
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

#[tokio::test]
async fn a_call_is_a_span_with_the_conventional_attributes() {
    let (capture, _guard) = Capture::start();
    let server = Server::start().await.unwrap();
    let port = server.addr().port().to_string();
    let node = server.node();
    let client = Client::builder()
        .node(node.as_str())
        .spans(Spans::new())
        .build()
        .unwrap();
    let outer = tracing::info_span!(target: "steersman_test", "outer");
    let missed = tracing::Instrument::instrument(client.get("k").into_future(), outer.clone());
    assert!(missed.await.unwrap().is_none());
    server
        .script()
        .answer(Times::Next(1), "SERVER_ERROR out of memory\r\n");
    let error = client.set("k", "v").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Server);
    assert!(client.get("not a key").await.is_err());
    assert_eq!(client.get_many(["k"]).await.missing, ["k"]);
    client.set("plain", "v").await.unwrap();
    let error = client.typed(Utf8).get::<_, String>("plain").await;
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Codec);

    let spans = capture.spans();
    let address = ("server.address", "127.0.0.1");
    let at = |operation: &str| format!("{operation} {node}");
    let get = fields([
        ("otel.name", &at("get")),
        ("db.operation.name", "get"),
        address,
        ("server.port", &port),
        ("steersman.outcome", "miss"),
    ]);
    assert_eq!(spans[1].fields, get);
    assert_eq!(spans[1].parent, Some(1));
    assert_eq!(spans[1].target, "steersman_memcached::call");
    let set = fields([
        ("otel.name", &at("set")),
        ("otel.status_code", "ERROR"),
        ("db.operation.name", "set"),
        ("db.response.status_code", "SERVER_ERROR"),
        ("error.type", "server"),
        address,
        ("server.port", &port),
        ("steersman.outcome", "error"),
    ]);
    assert_eq!((&spans[2].fields, spans[2].parent), (&set, None));
    let invalid = fields([
        ("otel.name", "get"),
        ("otel.status_code", "ERROR"),
        ("db.operation.name", "get"),
        ("error.type", "invalid_key"),
        ("steersman.outcome", "error"),
    ]);
    assert_eq!(spans[3].fields, invalid);
    // A batch of one is none.
    assert_eq!(spans[4].fields["db.operation.name"], "get");
    // Neither is a value that came and cannot be decoded a hit.
    let last = &spans.last().unwrap().fields;
    assert_eq!(last["error.type"], "codec");
    assert_eq!(last["steersman.outcome"], "error");
    let documented = page::span_fields();
    let recorded: BTreeSet<String> = spans[1..]
        .iter()
        .flat_map(|span| span.fields.keys().cloned())
        .collect();
    let missing: Vec<_> = documented.difference(&recorded).collect();
    // Those are of batches, and of those who ask for keys.
    assert_eq!(missing, ["db.operation.batch.size", "db.query.text"]);
    assert!(recorded.is_subset(&documented));
}

#[tokio::test]
async fn calls_to_several_nodes_have_a_span_for_each() {
    let (capture, _guard) = Capture::start();
    let servers = [
        Server::start().await.unwrap(),
        Server::start().await.unwrap(),
    ];
    let nodes = servers.each_ref().map(Server::node);
    let plain = Client::builder()
        .nodes(&nodes)
        .spans(Spans::new().keys(true));
    let plain = plain.build().unwrap();
    let keys: Vec<String> = (0..40).map(|n| format!("key-{n}")).collect();
    assert_eq!(plain.get_many(&keys).await.missing.len(), 40);
    let spans = capture.spans();
    assert_eq!(spans.len(), 3, "{spans:#?}");
    let whole = &spans[0].fields;
    assert_eq!(whole["otel.name"], "BATCH get");
    assert_eq!(whole["db.operation.batch.size"], "40");
    assert!(whole["db.query.text"].starts_with("get key-0 key-1 "));
    assert!(whole["db.query.text"].ends_with(" key-31 ..."));
    let sizes = spans[1..].iter().map(|share| {
        assert_eq!(share.parent, Some(1));
        assert!(share.fields["otel.name"].starts_with("BATCH get 127.0.0.1:"));
        share.fields["db.operation.batch.size"]
            .parse::<u32>()
            .unwrap()
    });
    assert_eq!(sizes.sum::<u32>(), 40);

    let replicated = Client::builder().nodes(&nodes).replicas(2);
    let replicated = replicated.spans(Spans::new()).build().unwrap();
    replicated.set("k", "v").await.unwrap();
    let spans = capture.spans();
    let [set, attempts @ ..] = &spans[3..] else {
        panic!("{spans:#?}");
    };
    assert_eq!(set.fields["otel.name"], "set");
    assert!(!set.fields.contains_key("server.address"));
    assert_eq!(attempts.len(), 2);
    for attempt in attempts {
        assert_eq!(attempt.parent, Some(4));
        assert_eq!(attempt.fields["steersman.outcome"], "done");
        assert!(attempt.fields.contains_key("server.port"));
    }
}

#[tokio::test]
async fn keys_are_those_of_the_caller() {
    let (capture, _guard) = Capture::start();
    let server = Server::start().await.unwrap();
    let builder = Client::builder().node(server.node()).key_prefix("app:");
    let client = builder.spans(Spans::new().keys(true)).build().unwrap();
    client.get("a").await.unwrap();
    assert_eq!(client.get_many(["a", "b"]).await.missing.len(), 2);
    let spans = capture.spans();
    assert_eq!(spans[0].fields["db.query.text"], "get a");
    assert_eq!(spans[1].fields["db.query.text"], "get a b");
}

#[tokio::test(start_paused = true)]
async fn keys_are_in_a_span_only_if_asked_for_and_a_dropped_call_says_so() {
    for keys in [false, true] {
        let (capture, _guard) = Capture::start();
        let spans = Spans::new().keys(keys);
        let (client, mut attempts) = client(|builder| builder.max_connections(1).spans(spans));
        let mut peer = attempts.next().await.accept();
        settle().await;
        let (found, ()) = tokio::join!(client.get("a-key").into_future(), async {
            peer.exchange("get a-key\r\n", &hit("a-key", "v")).await;
        });
        assert!(found.unwrap().is_some());
        let dropped = tokio::spawn(client.set("a-key", "a-value").into_future());
        settle().await;
        dropped.abort();
        settle().await;
        let spans = capture.spans();
        let text = |index: usize| spans[index].fields.get("db.query.text").map(String::as_str);
        let expected = keys.then_some("get a-key");
        assert_eq!(
            (text(0), text(1)),
            (expected, keys.then_some("set a-key ?"))
        );
        assert_eq!(spans[0].fields["steersman.outcome"], "hit");
        assert_eq!(spans[1].fields["steersman.outcome"], "cancelled");
        assert_eq!(capture.text().contains("a-key"), keys);
    }
}

#[tokio::test(start_paused = true)]
async fn without_being_asked_for_there_are_none() {
    let (capture, _guard) = Capture::start();
    let (client, mut attempts) = client(|builder| builder);
    let mut peer = attempts.next().await.accept();
    let (_, ()) = tokio::join!(client.get("k").into_future(), async {
        peer.exchange("get k\r\n", "END\r\n").await;
    });
    assert!(capture.spans().is_empty());
}
