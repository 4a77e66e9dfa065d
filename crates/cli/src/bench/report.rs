//! What the run came to, as a table and as JSON.

use std::io::{self, Write};
use std::time::Duration;

use serde_json::Value;
use steersman_memcached::NodeConfig;

use super::load::{Outcome, workers};
use super::per_second;
use super::tally::Count;
use crate::args::bench::{Bench, Switch};
use crate::context::Context;
use crate::json::Object;
use crate::source::Source;
use crate::table::{
    Align::{Left, Right},
    Table,
};
use crate::words::{grouped, latency};

pub(super) fn write(
    args: &Bench,
    context: &Context,
    outcome: &Outcome,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "{}", cluster(context))?;
    writeln!(
        out,
        "{} keys with {} bytes each, gets to sets {}, batching {}",
        grouped(args.keys),
        grouped(args.value_size),
        args.ratio,
        args.batching
    )?;
    let tasks = format!(
        "{} on {}, {} to each node",
        counted(args.tasks.into(), "task"),
        counted(workers(), "thread"),
        counted(args.connections.into(), "connection")
    );
    let pace = match args.rate {
        Some(rate) => format!("{} operations/s, timed from when due", grouped(rate)),
        None => "as fast as they can".to_owned(),
    };
    writeln!(out, "{tasks}; {pace}, for {} s\n", seconds(outcome.took))?;

    let mut table = Table::new(
        [
            "OPERATION",
            "COUNT",
            "OPS/S",
            "p50",
            "p99",
            "p99.9",
            "MAX",
            "ERRORS",
        ],
        [Left, Right, Right, Right, Right, Right, Right, Right],
    );
    let mut row = |name: &str, count: &Count| {
        let total = count.latency.total();
        let time = |part| {
            let time = count.latency.quantile(part);
            time.map_or("-".to_owned(), latency)
        };
        table.row([
            name.to_owned(),
            grouped(total),
            grouped(per_second(total, outcome.took)),
            time(0.5),
            time(0.99),
            time(0.999),
            time(1.0),
            grouped(count.errors),
        ]);
    };
    if args.ratio.gets > 0 {
        row("get", &outcome.tally.gets);
    }
    if args.ratio.sets > 0 {
        row("set", &outcome.tally.sets);
    }
    if args.ratio.gets > 0 && args.ratio.sets > 0 {
        row("all", &outcome.tally.all());
    }
    table.write(out)?;

    let misses = outcome.tally.misses;
    if misses > 0 {
        writeln!(
            out,
            "\n{} of {} gets found no value",
            grouped(misses),
            grouped(outcome.tally.gets.latency.total())
        )?;
    }
    // Fewer than the tasks would take up at once are no sign of trouble.
    if outcome.left > args.tasks.into() {
        writeln!(
            out,
            "\n{} operations were due and never begun, for want of a free task: the latencies are \
             those of an overload",
            grouped(outcome.left)
        )?;
    }
    Ok(())
}

/// `3 nodes (a, b, c), placement rendezvous, 2 replicas`
fn cluster(context: &Context) -> String {
    if context.source == Source::Embedded {
        return "1 node inside this process, on a thread of its own".to_owned();
    }
    let names: Vec<&str> = context.nodes.iter().map(NodeConfig::name).collect();
    let replicas = match context.replicas {
        1 => String::new(),
        count => format!(", {count} replicas"),
    };
    format!(
        "{} ({}), placement {}{replicas}",
        counted(names.len(), "node"),
        names.join(", "),
        context.settings.scheme
    )
}

/// `1 task`, `2 tasks`
fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {what}{plural}", grouped(count as u64))
}

/// With one digit behind the point.
fn seconds(time: Duration) -> String {
    format!("{:.1}", time.as_secs_f64())
}

/// The run for scripts. Times are in microseconds, or null.
pub(super) fn json(args: &Bench, context: &Context, outcome: &Outcome) -> Object {
    let Outcome { tally, took, left } = outcome;
    let gets = tally.gets.latency.total();
    measures(&tally.all(), *took)
        .with("gets", gets)
        .with("sets", tally.sets.latency.total())
        .with("hits", gets - tally.misses)
        .with("misses", tally.misses)
        .with("not_begun", *left)
        .with("seconds", took.as_secs_f64())
        .with("get", Value::from(measures(&tally.gets, *took)))
        .with("set", Value::from(measures(&tally.sets, *took)))
        .with("run", Value::from(run(args, context)))
}

fn measures(count: &Count, took: Duration) -> Object {
    let time = |part| {
        let time = count.latency.quantile(part);
        time.and_then(|time| u64::try_from(time.as_micros()).ok())
    };
    Object::default()
        .with("ops_per_second", per_second(count.latency.total(), took))
        .with("p50_us", time(0.5))
        .with("p99_us", time(0.99))
        .with("p999_us", time(0.999))
        .with("max_us", time(1.0))
        .with("errors", count.errors)
}

/// What was asked for.
fn run(args: &Bench, context: &Context) -> Object {
    Object::default()
        .with("nodes", context.nodes_as_given.clone())
        .with("embedded", context.source == Source::Embedded)
        .with("placement", context.settings.scheme.to_string())
        .with("replicas", context.replicas)
        .with("connections", args.connections)
        .with("tasks", args.tasks)
        .with("workers", workers())
        .with("seconds", args.seconds)
        .with("value_size", args.value_size)
        .with("ratio", args.ratio.to_string())
        .with("batching", args.batching == Switch::On)
        .with("keys", args.keys)
        .with("rate", args.rate)
}
