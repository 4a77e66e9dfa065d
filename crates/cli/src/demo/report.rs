//! The demo's result in words, and as JSON.

use std::io::{self, Write};
use std::time::Duration;

use serde_json::Value;

use super::check::{self, Observed};
use super::load::Seen;
use crate::json::Object;
use crate::table::{Align, Table};
use crate::words::{grouped, median};

pub(super) fn write(observed: &Observed, out: &mut dyn Write) -> io::Result<()> {
    let (names, keys) = (&observed.names, observed.home.len());
    let (slow, dead) = (&names[observed.slow], &names[observed.dead]);
    writeln!(
        out,
        "Steersman demo: {} memcached nodes in this process, {} keys, seed {}\n",
        names.len(),
        grouped(keys),
        observed.seed
    )?;

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
    table.write(out)?;
    writeln!(out)?;

    let promises = check::promises(observed);
    for promise in &promises {
        let verdict = if promise.kept { "ok" } else { "FAILED" };
        writeln!(out, "{verdict:<6}  {}", promise.seen)?;
    }
    let failed = promises.iter().filter(|promise| !promise.kept).count();
    let took = observed.took.as_secs_f64();
    match failed {
        0 => writeln!(out, "\nEverything promised was seen, in {took:.1} s."),
        _ => writeln!(
            out,
            "\n{failed} of {} promises were not seen.",
            promises.len()
        ),
    }
}

pub(super) fn json(observed: &Observed) -> Object {
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
    let promises = check::promises(observed);
    let kept = promises.iter().all(|promise| promise.kept);
    let promises = promises.into_iter().map(|promise| {
        Object::default()
            .with("name", promise.name)
            .with("kept", promise.kept)
            .with("seen", promise.seen)
            .into()
    });
    let promises: Vec<Value> = promises.collect();
    let milliseconds = |after: Option<Duration>| after.map(|after| after.as_secs_f64() * 1e3);
    Object::default()
        .with("kept", kept)
        .with("seed", observed.seed)
        .with("keys", observed.home.len())
        .with("slow", observed.names[observed.slow].as_str())
        .with("killed", observed.names[observed.dead].as_str())
        .with("loaded_in_ms", milliseconds(Some(observed.loading)))
        .with("routed_around_after_ms", milliseconds(observed.failover))
        .with("home_after_ms", milliseconds(observed.comeback))
        .with("seconds", observed.took.as_secs_f64())
        .with("nodes", nodes)
        .with("promises", promises)
}

/// What the readers of a node's keys saw in one phase.
fn latency(seen: &Seen) -> Value {
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
        .into()
}
