//! Tables of operations a second.

use steersman_bench_contract::Operation;

use super::plot;
use super::table::{Table, ratio, thousands};
use crate::plan::{CONNECTION_TASKS, CONNECTIONS, Part, SHAPES, SIZES};
use crate::results::{Cell, Results, limit};
use crate::subject::{Kind, SUBJECTS, Subject};

/// Reads by all subjects.
pub(super) fn reads(results: &Results) -> Table {
    let remark = "Reads a second: `client.get(key)` by so many tasks over so many connections, and \
                  what that is of the raw limit, multi-key lines with as many reads outstanding.";
    shaped(
        results,
        "Reads",
        remark,
        Part::Reads,
        &SHAPES,
        Operation::Get,
    )
}

/// Writes by all subjects.
pub(super) fn writes(results: &Results) -> Table {
    let remark = "Writes a second, and what that is of the raw limit: pipelined sets, as many \
                  outstanding.";
    shaped(
        results,
        "Writes",
        remark,
        Part::Writes,
        &SHAPES[..2],
        Operation::Set,
    )
}

fn shaped(
    results: &Results,
    title: &str,
    remark: &str,
    part: Part,
    shapes: &[(usize, usize)],
    operation: Operation,
) -> Table {
    let mut table = Table::new(title, remark, &["connections × tasks"]);
    for (connections, tasks) in shapes {
        table.columns.push(format!("{connections} × {tasks}"));
        table.columns.push("of raw".into());
    }
    for subject in &SUBJECTS {
        for workers in [None, Some(1)] {
            let mut row = vec![label(subject, workers)];
            for &shape in shapes {
                let cell = Cell::new(part, shape);
                let rate = results.rate(subject.id, cell.workers(workers));
                row.push(thousands(rate));
                row.push(ratio(rate, results.rate(limit(operation), cell)));
            }
            if row[1..].iter().any(|cell| cell != "-") {
                table.rows.push(row);
            }
        }
    }
    table
}

fn label(subject: &Subject, workers: Option<usize>) -> String {
    match workers {
        None => subject.label.to_owned(),
        Some(1) => format!("{}, one worker", subject.label),
        Some(workers) => format!("{}, {workers} workers", subject.label),
    }
}

/// Reads over 1 to 128 connections by so many tasks; the other numbers of tasks are further tables.
pub(super) fn connections(results: &Results) -> Vec<Table> {
    CONNECTION_TASKS
        .into_iter()
        .map(|tasks| connections_by(results, tasks))
        .filter(|table| !table.rows.is_empty())
        .collect()
}

fn connections_by(results: &Results, tasks: usize) -> Table {
    let title = format!("Reads by {tasks} tasks over 1 to 128 connections");
    let remark = format!(
        "Reads a second by {tasks} tasks. On its authors' machine, emcache documents 12,127 over 1 \
         connection to 52,262 over 128."
    );
    let columns = [
        "connections",
        "**Steersman**",
        "emcache, autobatching",
        "emcache",
        "best Rust peer",
        "which",
    ];
    let mut table = Table::new(&title, &remark, &columns);
    for connections in CONNECTIONS {
        let cell = Cell::new(Part::Connections, (connections, tasks));
        let ours = results.rate("steersman", cell);
        if ours.is_nan() {
            continue;
        }
        let best = results.best_rust(cell);
        table.rows.push(vec![
            connections.to_string(),
            format!("**{}**", thousands(ours)),
            thousands(results.rate("emcache-batching", cell)),
            thousands(results.rate("emcache", cell)),
            thousands(best.map_or(f64::NAN, |best| best.1)),
            best.map_or("-", |best| best.0.id).to_owned(),
        ]);
    }
    table.plot = Some(plot::name(results, tasks));
    table
}

/// Reads over TLS beside the same without.
pub(super) fn encrypted(results: &Results) -> Table {
    let remark = "Reads a second of one server, over TLS and without.";
    let columns = ["connections × tasks", "runtime", "plain", "TLS", "of plain"];
    let mut table = Table::new("Reads over TLS", remark, &columns);
    for &shape in &SHAPES[..2] {
        for (workers, runtime) in [(None, "default"), (Some(1), "one worker")] {
            let cell = Cell::new(Part::Encrypted, shape).workers(workers);
            let (plain, tls) = (
                results.rate("steersman", cell),
                results.rate("steersman-tls", cell),
            );
            if tls.is_finite() {
                table.rows.push(vec![
                    format!("{} × {}", shape.0, shape.1),
                    runtime.to_owned(),
                    thousands(plain),
                    thousands(tls),
                    ratio(tls, plain),
                ]);
            }
        }
    }
    table
}

/// One caller alone.
pub(super) fn alone(results: &Results) -> Table {
    let remark = "One task alone over one connection: reads one after the other.";
    let columns = ["", "reads a second", "µs a read"];
    let mut table = Table::new("One caller alone", remark, &columns);
    for subject in SUBJECTS.iter().filter(|subject| subject.kind != Kind::Raw) {
        let rate = results.rate(subject.id, Cell::new(Part::Alone, (1, 1)));
        if rate.is_finite() {
            let micros = format!("{:.1}", 1e6 / rate);
            table
                .rows
                .push(vec![subject.label.to_owned(), thousands(rate), micros]);
        }
    }
    table
}

/// Values of all sizes.
pub(super) fn sizes(results: &Results) -> Table {
    let remark = "Values read, MB/s, by 64 tasks over 2 connections.";
    let columns = [
        "bytes of a value",
        "raw lines",
        "raw pipelined",
        "**Steersman**",
        "of raw lines",
    ];
    let mut table = Table::new("Values of 1 B to 1 MiB", remark, &columns);
    for size in SIZES {
        let cell = Cell::new(Part::Sizes, (2, 64)).value_size(size);
        let rates = ["raw-lines", "raw-pipelined", "steersman"].map(|id| results.rate(id, cell));
        if rates[2].is_nan() {
            continue;
        }
        let mut row = vec![thousands(size as f64)];
        row.extend(rates.map(|rate| megabytes(rate * size as f64)));
        row.push(ratio(rates[2], rates[0]));
        table.rows.push(row);
    }
    table
}

fn megabytes(bytes: f64) -> String {
    let megabytes = bytes / 1e6;
    if megabytes < 10.0 {
        format!("{megabytes:.1}")
    } else {
        thousands(megabytes)
    }
}
