//! A frame as text, and as JSON.

use std::io::{self, Write};
use std::time::Duration;

use serde_json::Value;
use steersman_selection::{self as selection, Condition, NodeReport};

use super::observer::{Change, Frame, Node};
use crate::cassandra::tally::{self, Tally};
use crate::json::Object;
use crate::printable::printable;
use crate::table::{Align, Table};
use crate::words::{grouped, milliseconds};

/// Writes the frame: the load, the nodes, and what changed.
pub(super) fn write(frame: &Frame, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", title(frame))?;
    table(frame).write(out)?;
    for change in &frame.changes {
        writeln!(out, "{}", sentence(change))?;
    }
    Ok(())
}

/// What the load sees.
pub(super) fn title(frame: &Frame) -> String {
    let Tally {
        latency, failures, ..
    } = &frame.seen;
    let quantile = |part| latency.quantile(part).map_or("-".to_owned(), milliseconds);
    let mut title = format!(
        "{} reads/s, p50 {}, p99 {}, {} failed",
        grouped(per_second(frame)),
        quantile(0.5),
        quantile(0.99),
        grouped(*failures),
    );
    if let Some(reason) = &frame.seen.reason {
        title.push_str(": ");
        title.push_str(&printable(reason));
    }
    title
}

fn per_second(frame: &Frame) -> u128 {
    u128::from(frame.seen.answers()) * 1000 / frame.took.as_millis().max(1)
}

/// The nodes, one a row.
pub(super) fn table(frame: &Frame) -> Table<13> {
    use Align::{Left, Right};
    let mut table = Table::new(
        [
            "NODE",
            "DC/RACK",
            "UP",
            "SHARE",
            "SCORE",
            "LIMIT",
            "CONDITION",
            "MINIMUM",
            "SAMPLES",
            "AGE",
            "PICKS",
            "UNANSWERED",
            "LATE",
        ],
        [
            Left, Left, Left, Right, Right, Right, Left, Right, Right, Right, Right, Right, Right,
        ],
    );
    for node in &frame.nodes {
        table.row(row(node));
    }
    table
}

fn row(node: &Node) -> [String; 13] {
    let name = |name: &Option<String>| name.clone().unwrap_or("-".to_owned());
    let time = |nanos: fn(NodeReport) -> Option<i64>| {
        let nanos = node.report.and_then(nanos).and_then(positive);
        nanos.map_or("-".to_owned(), milliseconds)
    };
    let score = node.report.and_then(|report| report.score);
    [
        node.address.to_string(),
        format!("{}/{}", name(&node.datacenter), name(&node.rack)),
        if node.is_connected { "yes" } else { "no" }.to_owned(),
        format!("{:.1}%", node.share),
        time(average),
        time(|report| report.limit_nanos),
        described(node),
        time(|report| report.minimum_nanos),
        score.map_or("-".to_owned(), |score| grouped(score.samples)),
        time(|report| report.age_nanos),
        grouped(node.picks),
        grouped(node.unanswered),
        grouped(node.late),
    ]
}

fn positive(nanos: i64) -> Option<Duration> {
    u64::try_from(nanos).ok().map(Duration::from_nanos)
}

/// The score, once the node is warmed up.
fn average(report: NodeReport) -> Option<i64> {
    let average = report.score?.average_nanos;
    (average >= 0).then_some(average)
}

/// How a node is regarded, and why.
fn described(node: &Node) -> String {
    let Some(report) = node.report.filter(|_| node.is_connected) else {
        return "no connection".to_owned();
    };
    let text = match report.condition {
        Condition::Untracked => "no connection",
        Condition::Unmeasured => "too few samples",
        Condition::Silent => "normal, not heard of for long",
        Condition::Incomparable => "normal, nothing to compare",
        Condition::Within | Condition::Ranked => "normal",
        Condition::Suspected => "normal, but over the limit",
        Condition::Penalised => return penalised(report),
        Condition::Probed(good) => return format!("probing: {good} good so far"),
        Condition::Recovering => "ramping: back in time",
        Condition::Joining => "ramping: new",
        Condition::Failing(failures) => return format!("failing: {failures} in a row"),
        Condition::Slow => "slow",
        Condition::Hot => "hot",
        _ => "unknown",
    };
    text.to_owned()
}

fn penalised(report: NodeReport) -> String {
    let times = || {
        let (average, limit) = (average(report)?, report.limit_nanos?);
        let minimum = report.minimum_nanos.filter(|&minimum| minimum > 0)?;
        (average > limit).then(|| average / minimum)
    };
    match times() {
        Some(times) => format!("penalised: {} x the fastest", grouped(times.unsigned_abs())),
        None => "penalised: waits for a probe".to_owned(),
    }
}

/// A condition as scripts know it.
fn word(condition: Condition) -> &'static str {
    match condition {
        Condition::Untracked => "untracked",
        Condition::Unmeasured => "unmeasured",
        Condition::Silent => "silent",
        Condition::Incomparable => "incomparable",
        Condition::Within | Condition::Ranked => "normal",
        Condition::Suspected => "suspected",
        Condition::Penalised => "penalised",
        Condition::Probed(_) => "probing",
        Condition::Recovering => "recovering",
        Condition::Joining => "joining",
        Condition::Failing(_) => "failing",
        Condition::Slow => "slow",
        Condition::Hot => "hot",
        _ => "unknown",
    }
}

/// What changed, as a line.
pub(super) fn sentence(change: &Change) -> String {
    let what = match change.event.change {
        selection::Change::Penalised => "is penalised",
        selection::Change::Recovering => "answers in time again, its share rises",
        selection::Change::Back => "is back to its full share",
        selection::Change::Silent => "is penalised and has not been heard of for long",
        _ => "has changed",
    };
    let time = |nanos| positive(nanos).map_or("-".to_owned(), milliseconds);
    let mut line = format!(
        "{:>7.1} s  {} {what}: score {}",
        change.at.as_secs_f64(),
        change.node,
        time(change.event.average_nanos)
    );
    if let Some(minimum) = change.event.minimum_nanos {
        line.push_str(", fastest ");
        line.push_str(&time(minimum));
    }
    line
}

/// The frame for scripts. Times are in microseconds, or null.
pub(super) fn json(frame: &Frame) -> Object {
    let seen = &frame.seen;
    let nodes: Vec<Value> = frame.nodes.iter().map(node_json).collect();
    let changes: Vec<Value> = frame.changes.iter().map(change_json).collect();
    let counters = frame.counters;
    let object = Object::default()
        .with("at_ms", millis(frame.at))
        .with("reads_per_second", u64::try_from(per_second(frame)).ok())
        .with("failures", seen.failures);
    tally::quantiles(object, &seen.latency)
        .with("nodes", nodes)
        .with("events", changes)
        .with(
            "counters",
            Object::default()
                .with("penalised", counters.penalised)
                .with("probes", counters.probes)
                .with("recovering", counters.recovering)
                .with("back", counters.back)
                .with("silent", counters.silent),
        )
}

fn node_json(node: &Node) -> Value {
    let condition = node.report.map(|report| report.condition);
    let score = node.report.and_then(|report| report.score);
    let time = |nanos: fn(NodeReport) -> Option<i64>| node.report.and_then(nanos).map(micros);
    let object = Object::default()
        .with("name", node.address.to_string())
        .with("datacenter", node.datacenter.clone())
        .with("rack", node.rack.clone())
        .with("connected", node.is_connected)
        .with("condition", condition.map(word))
        .with("penalised", condition.is_some_and(Condition::is_penalised))
        .with("share_percent", tally::tenths(node.share))
        .with("score_us", time(average))
        .with("limit_us", time(|report| report.limit_nanos))
        .with("minimum_us", time(|report| report.minimum_nanos))
        .with("samples", score.map(|score| score.samples))
        .with("age_us", time(|report| report.age_nanos))
        .with("picks", node.picks)
        .with("unanswered", node.unanswered)
        .with("late", node.late);
    object.into()
}

fn change_json(change: &Change) -> Value {
    let event = change.event;
    let what = match event.change {
        selection::Change::Penalised => "penalised",
        selection::Change::Recovering => "recovering",
        selection::Change::Back => "back",
        selection::Change::Silent => "silent",
        _ => "unknown",
    };
    let object = Object::default()
        .with("at_ms", millis(change.at))
        .with("node", &*change.node)
        .with("change", what)
        .with("score_us", micros(event.average_nanos))
        .with("minimum_us", event.minimum_nanos.map(micros));
    object.into()
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn micros(nanos: i64) -> i64 {
    nanos / 1_000
}

#[cfg(test)]
pub(super) mod tests;
