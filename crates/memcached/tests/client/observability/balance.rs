//! After everything has failed in every way, the metrics still add up.

#![expect(clippy::float_cmp, reason = "they are counts, which are exact")]

use std::collections::BTreeMap;

use metrics_util::debugging::{DebugValue, DebuggingRecorder};
use steersman_memcached::Metrics;

use crate::chaos::{impatient, servers, torture};

/// The sum of all series of a name with these labels.
struct Series(Vec<(String, BTreeMap<String, String>, f64)>);

impl Series {
    fn sum(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        let has = |of: &BTreeMap<String, String>| {
            let mut labels = labels.iter();
            labels.all(|(label, value)| of.get(*label).is_some_and(|found| found == value))
        };
        let fits = self.0.iter().filter(|(of, its, _)| of == name && has(its));
        fits.map(|(.., value)| value).sum()
    }
}

#[tokio::test]
async fn whatever_happened_the_counts_add_up() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let _guard = metrics::set_default_local_recorder(&recorder);
    let servers = servers().await;
    let metrics = Metrics::new().every(None).durations(true);
    let client = impatient(&servers).metrics(metrics).build().unwrap();
    let calls = torture(&client, &servers).await;
    client.close().await;

    let snapshot = snapshotter.snapshot().into_vec().into_iter();
    let series = snapshot.map(|(key, _, _, value)| {
        let labels = key.key().labels();
        let labels = labels.map(|label| (label.key().to_owned(), label.value().to_owned()));
        #[expect(clippy::cast_precision_loss, reason = "they are far from 2^52")]
        let value = match value {
            DebugValue::Counter(count) => count as f64,
            DebugValue::Gauge(value) => value.into_inner(),
            DebugValue::Histogram(values) => values.len() as f64,
        };
        (key.key().name().to_owned(), labels.collect(), value)
    });
    let series = Series(series.collect());
    let ours = |name: &str, labels: &[(&str, &str)]| {
        series.sum(&format!("steersman.memcached.{name}"), labels)
    };
    #[expect(clippy::cast_precision_loss, reason = "they are far from 2^52")]
    let calls = calls as f64;
    assert_eq!(ours("operations", &[]), calls, "each call has ended once");
    let durations = series.sum("db.client.operation.duration", &[]);
    assert_eq!(durations, calls, "and took some time");
    for outcome in ["hit", "miss", "done", "queued", "cancelled", "error"] {
        assert!(
            ours("operations", &[("outcome", outcome)]) > 0.0,
            "{outcome}"
        );
    }
    for server in &servers {
        let node = server.node();
        let of = |name: &str, more: &[(&str, &str)]| {
            let mut labels = more.to_vec();
            labels.push(("node", &node));
            ours(name, &labels)
        };
        assert!(of("connections.opened", &[]) > 0.0);
        assert_eq!(of("connections.opened", &[]), of("connections.closed", &[]));
        let created = series.sum("db.client.connection.create_time", &[("node", &node)]);
        assert_eq!(created, of("connections.opened", &[]));
        assert!(of("connections.purged", &[]) <= of("connections.closed", &[]));
        assert!(of("connections.reconnected", &[]) <= of("connections.opened", &[]));
        let now = ["count", "pending_requests"];
        for gauge in now.map(|gauge| format!("db.client.connection.{gauge}")) {
            assert_eq!(series.sum(&gauge, &[("node", &node)]), 0.0, "{gauge}");
        }
        assert_eq!(of("requests.in_flight", &[]), 0.0);
        let single = of("operations", &[]);
        let ended = of("requests", &[]);
        assert!(
            ended >= single,
            "{ended} requests, {single} calls of one node"
        );
        let changes = |to| of("node.health_changes", &[("to", to)]);
        assert!(changes("unhealthy") >= changes("healthy"));
    }
}
