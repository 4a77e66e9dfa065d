//! The demo's result in words, and as JSON.

use std::io::{self, Write};
use std::time::Duration;

use serde_json::Value;

use super::check::{Observed, Promise};
use super::load::Seen;
use super::{Story, replicas};
use crate::json::Object;
use crate::table::{Align, Table};
use crate::words::{grouped, median};

pub(super) fn write(story: &Story, out: &mut dyn Write) -> io::Result<()> {
    let observed = &story.failures;
    writeln!(
        out,
        "Steersman demo: {} memcached nodes in this process, {} keys, seed {}\n",
        observed.names.len(),
        grouped(observed.home.len()),
        observed.seed
    )?;
    owners(observed, out)?;
    verdicts(&story.failures.promises(), out)?;
    writeln!(out)?;
    replicas::report::write(&story.replicas, out)?;
    verdicts(&story.replicas.promises(), out)?;

    let promises = story.promises();
    let failed = promises.iter().filter(|promise| !promise.kept).count();
    let took = story.took.as_secs_f64();
    match failed {
        0 => writeln!(out, "\nEverything promised was seen, in {took:.1} s."),
        _ => writeln!(
            out,
            "\n{failed} of {} promises were not seen.",
            promises.len()
        ),
    }
}

/// Who owned how many keys, and how long reads of them took.
fn owners(observed: &Observed, out: &mut dyn Write) -> io::Result<()> {
    let names = &observed.names;
    let (slow, dead) = (&names[observed.slow], &names[observed.dead]);
    let home = observed.count(&observed.home);
    let while_dead = observed.count(&observed.while_dead);
    let at_the_end = observed.count(&observed.at_the_end);
    let mut table = Table::new(
        ["", "MEDIAN READ", "MEDIAN READ", "KEYS", "KEYS", "KEYS"],
        [
            Align::Left,
            Align::Right,
            Align::Right,
            Align::Right,
            Align::Right,
            Align::Right,
        ],
    );
    table.row([
        "NODE".to_owned(),
        "ALL WELL".to_owned(),
        format!("{slow} SLOW"),
        "ALL WELL".to_owned(),
        format!("{dead} DEAD"),
        format!("{dead} BACK"),
    ]);
    for (node, name) in names.iter().enumerate() {
        table.row([
            name.clone(),
            median(&observed.calm[node].latency),
            median(&observed.slowed[node].latency),
            grouped(home[node]),
            grouped(while_dead[node]),
            grouped(at_the_end[node]),
        ]);
    }
    table.write(out)
}

/// A line for each promise, below the table that it belongs to.
fn verdicts(promises: &[Promise], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out)?;
    for promise in promises {
        let verdict = if promise.kept { "ok" } else { "FAILED" };
        writeln!(out, "{verdict:<6}  {}", promise.seen)?;
    }
    Ok(())
}

pub(super) fn json(story: &Story) -> Object {
    let observed = &story.failures;
    let home = observed.count(&observed.home);
    let while_dead = observed.count(&observed.while_dead);
    let at_the_end = observed.count(&observed.at_the_end);
    let nodes = observed.names.iter().enumerate().map(|(node, name)| {
        Object::default()
            .with("name", name.as_str())
            .with("keys", home[node])
            .with("keys_while_dead", while_dead[node])
            .with("keys_at_the_end", at_the_end[node])
            .with("calm", latency(&observed.calm[node]))
            .with("slowed", latency(&observed.slowed[node]))
            .with("killed", latency(&observed.killed[node]))
            .with("returned", latency(&observed.returned[node]))
            .into()
    });
    let nodes: Vec<Value> = nodes.collect();
    let promises = story.promises();
    let kept = promises.iter().all(|promise| promise.kept);
    let promises = promises.into_iter().map(|promise| {
        Object::default()
            .with("name", promise.name)
            .with("kept", promise.kept)
            .with("seen", promise.seen)
            .into()
    });
    let promises: Vec<Value> = promises.collect();
    Object::default()
        .with("kept", kept)
        .with("seed", observed.seed)
        .with("keys", observed.home.len())
        .with("slow", observed.names[observed.slow].as_str())
        .with("killed", observed.names[observed.dead].as_str())
        .with("loaded_in_ms", milliseconds(observed.loading))
        .with(
            "routed_around_after_ms",
            observed.failover.map(milliseconds),
        )
        .with("home_after_ms", observed.comeback.map(milliseconds))
        .with("seconds", story.took.as_secs_f64())
        .with("nodes", nodes)
        .with("latency_aware", replicas::report::json(&story.replicas))
        .with("promises", promises)
}

/// A time in milliseconds, fractions included.
pub(super) fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// What was seen in one phase.
pub(super) fn latency(seen: &Seen) -> Object {
    let us = |part| {
        let latency = seen.latency.quantile(part);
        latency.and_then(|latency| u64::try_from(latency.as_micros()).ok())
    };
    Object::default()
        .with("reads", seen.latency.total())
        .with("misses", seen.missed.len())
        .with("failures", seen.failures)
        .with("p50_us", us(0.5))
        .with("p99_us", us(0.99))
}
