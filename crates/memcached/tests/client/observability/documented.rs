//! The table of metrics, the exporter's page and the dashboard are about the same metrics.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use metrics_util::MetricKind;
use metrics_util::debugging::DebuggingRecorder;
use serde_json::Value;
use steersman_memcached::{Client, FixedNodes, Metrics};
use steersman_testkit::Server;

use super::page;

#[path = "../../../examples/prometheus.rs"]
#[expect(dead_code, reason = "its `main` is for those who run it as an example")]
mod prometheus;

const DASHBOARD: &str = include_str!("../../../../../docs/grafana/steersman-memcached.json");

/// Kind, unit and all labels that a metric was exported with.
type Exported = BTreeMap<String, (String, String, BTreeSet<String>)>;

/// Does everything that a metric tells of, and a call that fails.
async fn export_everything() -> Exported {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let _guard = metrics::set_default_local_recorder(&recorder);
    let server = Server::start().await.unwrap();
    let metrics = || Metrics::new().durations(true).every(None);
    let plain = Client::builder()
        .node(server.node())
        .metrics(metrics())
        .build()
        .unwrap();
    let other = Server::start().await.unwrap();
    let replicated = Client::builder()
        .discovery(FixedNodes::new([server.node(), other.node()]).unwrap())
        .replicas(2)
        .metrics(metrics())
        .build()
        .unwrap();
    for client in [&plain, &replicated] {
        client.ready(Duration::from_secs(10)).await.unwrap();
        client.set("k", "v").await.unwrap();
        client.get("k").await.unwrap();
        let many = client.get_many(["k", "l"]).await;
        assert_eq!((many.found.len(), many.missing.len()), (1, 1));
        assert!(client.increment("k", 1).await.is_err(), "it is no number");
    }
    plain.export_metrics();
    replicated.export_metrics();
    let mut exported = Exported::new();
    for (key, unit, description, _) in snapshotter.snapshot().into_vec() {
        assert!(description.is_some(), "{key:?} is described");
        let (kind, key) = key.into_parts();
        let kind = match kind {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
            MetricKind::Histogram => "histogram",
        };
        let unit = unit.map_or("none", |unit| unit.as_str());
        let entry = exported
            .entry(key.name().to_owned())
            .or_insert_with(|| (kind.to_owned(), unit.to_owned(), BTreeSet::new()));
        entry
            .2
            .extend(key.labels().map(|label| label.key().to_owned()));
    }
    exported
}

#[tokio::test]
async fn the_table_is_of_what_is_exported() {
    let documented: Exported = page::metrics()
        .into_iter()
        .map(|row| (row.name, (row.kind, row.unit, row.labels)))
        .collect();
    let exported = export_everything().await;
    assert_eq!(exported, documented);
}

/// The names of a page for Prometheus, from its lines of types.
fn typed(scraped: &str) -> BTreeSet<String> {
    let types = scraped
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE "));
    let names = types.filter_map(|line| line.split(' ').next());
    names.map(str::to_owned).collect()
}

#[tokio::test]
async fn the_example_exports_what_the_table_says() {
    let recorder = prometheus::recorder().unwrap();
    let handle = recorder.handle();
    let _guard = metrics::set_default_local_recorder(&recorder);
    let scraped = prometheus::load_and_scrape(handle).await.unwrap();
    let documented: BTreeSet<String> = page::metrics()
        .into_iter()
        .map(|row| row.in_prometheus)
        .collect();
    assert_eq!(typed(&scraped), documented, "{scraped}");
    for line in [
        "db_client_operation_duration_seconds_bucket",
        "steersman_memcached_batch_keys_bucket",
        "steersman_memcached_io_bytes_total",
    ] {
        assert!(scraped.contains(line), "no {line} in {scraped}");
    }
}

/// All expressions of the dashboard.
fn expressions<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::String(text) if name == "expr" || name == "query" => found.push(text),
                    member => expressions(member, found),
                }
            }
        }
        Value::Array(members) => members.iter().for_each(|member| expressions(member, found)),
        _ => {}
    }
}

#[test]
fn the_dashboard_asks_for_metrics_that_there_are() {
    let dashboard: Value = serde_json::from_str(DASHBOARD).unwrap();
    let mut found = Vec::new();
    expressions(&dashboard, &mut found);
    let table = page::metrics();
    let mut labels: BTreeSet<String> = table
        .iter()
        .flat_map(|row| row.labels.iter().map(|label| label.replace('.', "_")))
        .collect();
    labels.insert("le".to_owned());
    let mut asked = BTreeSet::new();
    for expression in found {
        let words = expression.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        for word in words {
            let is_metric = word.starts_with("db_client") || word.starts_with("steersman");
            if !is_metric || labels.contains(word) {
                continue;
            }
            let row = table.iter().find(|row| {
                let series = ["_bucket", "_sum", "_count"].iter();
                let mut series = series.filter_map(|end| word.strip_suffix(end));
                word == row.in_prometheus
                    || (row.kind == "histogram" && series.any(|base| base == row.in_prometheus))
            });
            assert!(row.is_some(), "{word} is no metric, in {expression}");
            asked.insert(row.unwrap().name.clone());
        }
        // What is grouped by has to be a label.
        for group in expression.split("by (").skip(1) {
            let group = group.split(')').next().unwrap_or_default();
            for label in group.split(',') {
                assert!(labels.contains(label.trim()), "{label} in {expression}");
            }
        }
    }
    assert!(asked.len() > 20, "it shows {asked:?} only");
}
