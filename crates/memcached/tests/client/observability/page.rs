//! The tables of the page on observability.

use std::collections::BTreeSet;

const PAGE: &str = include_str!("../../../../../docs/observability.md");

/// A row of the table of metrics.
#[derive(Debug)]
pub(crate) struct Metric {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) unit: String,
    pub(crate) labels: BTreeSet<String>,
    pub(crate) in_prometheus: String,
}

/// A row of the table of log events.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) target: String,
    pub(crate) level: String,
    pub(crate) message: String,
    pub(crate) fields: BTreeSet<String>,
}

/// The rows of the table whose first column is called so.
fn rows(first: &str) -> Vec<Vec<&'static str>> {
    let head = format!("| {first} |");
    let table = PAGE
        .lines()
        .skip_while(move |line| !line.starts_with(&head));
    let rows: Vec<Vec<&str>> = table
        .take_while(|line| line.starts_with('|'))
        .skip(2)
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    assert!(!rows.is_empty(), "there is a table of {first}");
    rows
}

/// What is between backticks.
fn quoted(cell: &str) -> BTreeSet<String> {
    let words = cell.split('`').skip(1).step_by(2);
    words.map(str::to_owned).collect()
}

fn unquoted(cell: &str) -> String {
    cell.trim_matches('`').to_owned()
}

pub(crate) fn metrics() -> Vec<Metric> {
    let row = |cells: Vec<&str>| {
        let [name, kind, unit, labels, _, in_prometheus] = cells[..] else {
            panic!("six columns: {cells:?}");
        };
        Metric {
            name: unquoted(name),
            kind: kind.to_owned(),
            unit: unit.to_owned(),
            labels: quoted(labels),
            in_prometheus: unquoted(in_prometheus),
        }
    };
    rows("metric").into_iter().map(row).collect()
}

pub(crate) fn events() -> Vec<Event> {
    let row = |cells: Vec<&str>| {
        let [target, level, message, fields] = cells[..] else {
            panic!("four columns: {cells:?}");
        };
        Event {
            target: unquoted(target),
            level: level.to_owned(),
            message: message.to_owned(),
            fields: quoted(fields),
        }
    };
    rows("target").into_iter().map(row).collect()
}

/// The fields of spans.
pub(crate) fn span_fields() -> BTreeSet<String> {
    rows("field").iter().map(|row| unquoted(row[0])).collect()
}
