//! Metrics say what happened.

use std::collections::BTreeMap;
use std::time::Duration;

use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};
use steersman_memcached::codec::Utf8;
use steersman_memcached::{Builder, Client, ErrorKind, Metrics};

use crate::network::{Attempts, client, hit, settle};

/// Every series as `name{label=value,...}`, and what it comes to: of a histogram how many values.
fn series(snapshotter: &Snapshotter) -> BTreeMap<String, f64> {
    let snapshot = snapshotter.snapshot().into_vec().into_iter();
    snapshot
        .map(|(key, _, _, value)| {
            let labels: Vec<String> = key
                .key()
                .labels()
                .filter(|label| !matches!(label.key(), "node" | "cache" | "db.system.name"))
                .filter(|label| !label.key().starts_with("server."))
                .filter(|label| !label.key().ends_with("pool.name"))
                .map(|label| format!("{}={}", label.key(), label.value()))
                .collect();
            let value = match value {
                #[expect(clippy::cast_precision_loss, reason = "tests count to ten")]
                DebugValue::Counter(count) => count as f64,
                DebugValue::Gauge(value) => value.into_inner(),
                #[expect(clippy::cast_precision_loss, reason = "tests count to ten")]
                DebugValue::Histogram(values) => values.len() as f64,
            };
            (
                format!("{}{{{}}}", key.key().name(), labels.join(",")),
                value,
            )
        })
        .collect()
}

fn observed(options: impl FnOnce(Builder) -> Builder) -> (Client, Attempts) {
    let metrics = Metrics::new().every(None).label("cache", "test");
    client(|builder| options(builder.metrics(metrics.durations(true))))
}

#[tokio::test(start_paused = true)]
async fn calls_are_counted_by_how_they_end() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let _guard = metrics::set_default_local_recorder(&recorder);
    let (client, mut attempts) = observed(|builder| builder.max_connections(1));
    let mut peer = attempts.next().await.accept();
    settle().await;

    let (found, ()) = tokio::join!(client.get("k").into_future(), async {
        peer.exchange("get k\r\n", &hit("k", "v")).await;
    });
    assert!(found.unwrap().is_some());
    let (missed, ()) = tokio::join!(client.get("k").into_future(), async {
        peer.exchange("get k\r\n", "END\r\n").await;
    });
    assert!(missed.unwrap().is_none());
    let (many, ()) = tokio::join!(client.get_many(["k", "l"]).into_future(), async {
        peer.exchange("get k l\r\n", &hit("l", "v")).await;
    });
    assert_eq!(many.missing, ["k"]);
    let (refused, ()) = tokio::join!(client.set("k", "v").into_future(), async {
        peer.exchange("set k 0 0 1\r\nv\r\n", "SERVER_ERROR out of memory\r\n")
            .await;
    });
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Server);
    // One is dropped on the way.
    let dropped = tokio::spawn(client.delete("k").into_future());
    peer.expect("delete k\r\n").await;
    dropped.abort();
    settle().await;
    peer.reply("DELETED\r\n").await;
    assert!(client.get("not a key").await.is_err());
    settle().await;

    client.export_metrics();
    client.export_metrics();
    let series = series(&snapshotter);
    let expected = [
        ("operations{db.operation.name=get,outcome=hit}", 1.0),
        ("operations{db.operation.name=get,outcome=miss}", 1.0),
        ("operations{db.operation.name=BATCH get,outcome=done}", 1.0),
        (
            "operations{db.operation.name=set,outcome=error,error.type=server}",
            1.0,
        ),
        (
            "operations{db.operation.name=delete,outcome=cancelled}",
            1.0,
        ),
        (
            "operations{db.operation.name=get,outcome=error,error.type=invalid_key}",
            1.0,
        ),
        ("lookups{outcome=hit}", 2.0),
        ("lookups{outcome=miss}", 2.0),
        ("lookups{outcome=error}", 0.0),
        ("requests{outcome=answered}", 3.0),
        ("requests{outcome=failed}", 1.0),
        ("requests{outcome=cancelled}", 1.0),
        ("requests.in_flight{}", 0.0),
        ("io{direction=read}", 21.0 + 5.0 + 21.0 + 28.0 + 9.0),
        ("io{direction=written}", 7.0 + 7.0 + 9.0 + 16.0 + 10.0),
        ("batch.keys{}", 3.0),
        ("batch.requests{}", 5.0),
        ("connections.opened{}", 1.0),
        ("node.healthy{}", 1.0),
        ("nodes{}", 1.0),
    ];
    for (name, value) in expected {
        let name = format!("steersman.memcached.{name}");
        assert_eq!(series.get(&name), Some(&value), "{name} in {series:#?}");
    }
    let durations = "db.client.operation.duration{db.operation.name=get,outcome=hit}";
    assert_eq!(series.get(durations), Some(&1.0));
    let idle = "db.client.connection.count{db.client.connection.state=idle}";
    assert_eq!(series.get(idle), Some(&1.0));
}

/// Who asked for a value of a type has none; the node had what it was asked for.
#[tokio::test(start_paused = true)]
async fn a_value_that_cannot_be_decoded_is_an_error_of_the_call_and_a_hit_of_the_node() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let _guard = metrics::set_default_local_recorder(&recorder);
    let (client, mut attempts) = observed(|builder| builder.max_connections(1));
    let mut peer = attempts.next().await.accept();
    settle().await;
    let (texts, value) = (client.typed(Utf8), hit("k", "v"));

    let get = texts.get::<_, String>("k").into_future();
    let (read, ()) = tokio::join!(get, peer.exchange("get k\r\n", &value));
    assert_eq!(read.unwrap_err().kind(), ErrorKind::Codec);
    let many = texts.get_many::<_, String>(["k", "l"]).into_future();
    let (read, ()) = tokio::join!(many, peer.exchange("get k l\r\n", &value));
    assert_eq!((read.failed.len(), read.missing), (1, vec!["l"]));
    let get = texts.get::<_, String>("k").into_future();
    let (read, ()) = tokio::join!(get, peer.exchange("get k\r\n", "END\r\n"));
    assert_eq!(read.unwrap(), None);
    settle().await;

    client.export_metrics();
    let series = series(&snapshotter);
    let codec = "outcome=error,error.type=codec}";
    for (name, value) in [
        (format!("operations{{db.operation.name=get,{codec}"), 1.0),
        (
            format!("operations{{db.operation.name=BATCH get,{codec}"),
            1.0,
        ),
        ("operations{db.operation.name=get,outcome=miss}".into(), 1.0),
        ("lookups{outcome=hit}".into(), 2.0),
        ("lookups{outcome=miss}".into(), 2.0),
        ("lookups{outcome=error}".into(), 0.0),
        ("requests{outcome=answered}".into(), 3.0),
        ("requests{outcome=failed}".into(), 0.0),
    ] {
        let name = format!("steersman.memcached.{name}");
        assert_eq!(series.get(&name), Some(&value), "{name} in {series:#?}");
    }
    let hit = "steersman.memcached.operations{db.operation.name=get,outcome=hit}";
    assert!(series.get(hit).is_none_or(|count| *count < 1.0));
}

#[tokio::test(start_paused = true)]
async fn an_outage_is_seen_and_so_is_its_end() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let _guard = metrics::set_default_local_recorder(&recorder);
    let (client, mut attempts) = observed(|builder| builder.unhealthy_after(2));
    for _ in 0..2 {
        attempts.next().await.refuse();
    }
    settle().await;
    client.export_metrics();
    let during = series(&snapshotter);
    let _peer = attempts.next().await.accept();
    client.ready(Duration::from_secs(1)).await.unwrap();
    client.export_metrics();
    let after = series(&snapshotter);
    // A snapshot of counters is of what has come since the last one.
    let of = |name: &str| {
        let name = format!("steersman.memcached.{name}");
        (during[&name], after[&name])
    };
    assert_eq!(of("node.healthy{}"), (0.0, 1.0));
    assert_eq!(of("connections.failed{}"), (2.0, 0.0));
    assert_eq!(of("node.health_changes{to=unhealthy}"), (1.0, 0.0));
    assert_eq!(of("node.health_changes{to=healthy}"), (0.0, 1.0));
    assert_eq!(of("connections.reconnected{}"), (0.0, 1.0));
    assert_eq!(of("connections.opened{}"), (0.0, 1.0));
}

#[tokio::test(start_paused = true)]
async fn what_was_counted_last_is_exported_when_the_client_goes() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let _guard = metrics::set_default_local_recorder(&recorder);
    let (client, mut attempts) = observed(|builder| builder);
    let mut peer = attempts.next().await.accept();
    settle().await;
    let (_, ()) = tokio::join!(client.get("k").into_future(), async {
        peer.exchange("get k\r\n", "END\r\n").await;
    });
    drop(client);
    peer.closed().await;
    settle().await;
    let series = series(&snapshotter);
    let answered = "steersman.memcached.requests{outcome=answered}";
    assert_eq!(series.get(answered), Some(&1.0));
    assert_eq!(series.get("steersman.memcached.node.healthy{}"), Some(&0.0));
}

#[tokio::test(start_paused = true)]
async fn counters_are_exported_now_and_then_by_themselves() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let _guard = metrics::set_default_local_recorder(&recorder);
    let every = Duration::from_secs(10);
    let (_client, mut attempts) = client(|builder| builder.metrics(Metrics::new().every(every)));
    let _peer = attempts.next().await.accept();
    settle().await;
    let opened = "steersman.memcached.connections.opened{}";
    assert_eq!(series(&snapshotter).get(opened), Some(&0.0));
    tokio::time::sleep(every).await;
    settle().await;
    assert_eq!(series(&snapshotter).get(opened), Some(&1.0));
}

#[test]
fn an_interval_of_zero_is_refused() {
    let metrics = Metrics::new().every(Duration::ZERO);
    let builder = Client::builder().node("localhost").metrics(metrics);
    assert_eq!(builder.build().unwrap_err().option(), Some("metrics"));
}
