//! Tables of what only Steersman is measured for.

use super::table::{Table, thousands};
use crate::campaign::Single;
use crate::results::Results;

/// One caller alone, beside a bare exchange.
pub(super) fn alone(single: &Single) -> Table {
    let remark = "One task alone: `client.get(key)` and a bare exchange of the same bytes take turns, \
                  on the same runtime and over sockets of the same kind.";
    let columns = ["", "µs"];
    let mut table = Table::new("One caller beside a bare exchange", remark, &columns);
    let (raw, client) = alone_ns(single);
    if raw.is_finite() {
        let rows = [
            ("raw: write, read", micros(raw / 1e3)),
            ("**Steersman**", micros(client / 1e3)),
            ("ratio", format!("{:.2}", client / raw)),
        ];
        table.rows = rows
            .map(|(what, number)| vec![what.to_owned(), number])
            .to_vec();
    }
    table
}

/// Medians of the bare exchange and of the client's reads, in nanoseconds.
pub(super) fn alone_ns(single: &Single) -> (f64, f64) {
    let of = |numbers: Vec<f64>| crate::campaign::median(numbers);
    let raw = of(single.alone.iter().map(|alone| alone.raw_ns).collect());
    let client = of(single.alone.iter().map(|alone| alone.client_ns).collect());
    (raw, client)
}

/// Many tasks at once.
pub(super) fn crowds(single: &Single) -> Table {
    let remark = "Many tasks at once over 2 connections, each reading one key after the other.";
    let columns = [
        "tasks",
        "reads a second",
        "p50 µs",
        "p99 µs",
        "p99.9 µs",
        "p99.9 of p50",
        "failed",
    ];
    let mut table = Table::new("Crowds", remark, &columns);
    for crowd in &single.crowds {
        let latency = crowd.latency;
        table.rows.push(vec![
            thousands(crowd.tasks as f64),
            thousands(crowd.rate),
            micros(latency.p50_us),
            micros(latency.p99_us),
            micros(latency.p999_us),
            format!("{:.1}", latency.p999_us / latency.p50_us),
            thousands(crowd.errors as f64),
        ]);
    }
    table
}

/// Latencies at given rates.
pub(super) fn due(single: &Single) -> Table {
    let remark = "Reads that are due at shares of the highest rate (512 tasks over 2 connections), \
                  started whether earlier ones are answered or not; latency counts from when a read \
                  was due.";
    let columns = [
        "share",
        "reads a second",
        "p50 µs",
        "p99 µs",
        "p99.9 µs",
        "failed",
    ];
    let mut table = Table::new("Latency under load", remark, &columns);
    for (share, due) in &single.due {
        let latency = due.latency;
        table.rows.push(vec![
            format!("{:.0} %", share * 100.0),
            thousands(due.rate),
            micros(latency.p50_us),
            micros(latency.p99_us),
            micros(latency.p999_us),
            thousands(due.errors as f64),
        ]);
    }
    table
}

/// More and more nodes.
pub(super) fn growth(single: &Single) -> Table {
    let remark = "As nodes are added (embedded ones of `steersman-testkit`, all in one process): \
                  nanoseconds to find a key's node, of a read by one task alone, and for each read \
                  of 256 tasks. With more nodes fewer reads share a request.";
    let columns = ["nodes", "route ns", "alone ns", "256 tasks ns"];
    let mut table = Table::new("Cost as the cluster grows", remark, &columns);
    for growth in &single.growth {
        table.rows.push(vec![
            thousands(growth.nodes as f64),
            thousands(growth.route_ns),
            thousands(growth.alone_ns),
            thousands(growth.crowd_ns),
        ]);
    }
    table
}

/// Bytes of the client's parts.
pub(super) fn memory(single: &Single) -> Table {
    let remark = "Bytes of the heap, by an allocator that counts.";
    let mut table = Table::new("Memory", remark, &["", "bytes"]);
    if let Some(memory) = &single.memory {
        let of_nodes = format!(
            "{} nodes, each with one connection",
            thousands(memory.nodes as f64)
        );
        let rows = [
            ("an idle connection".to_owned(), memory.connection_bytes),
            (
                "a waiting `get`, its task and key included".to_owned(),
                memory.request_bytes,
            ),
            (of_nodes, memory.node_bytes * memory.nodes as f64),
        ];
        table.rows = rows
            .into_iter()
            .map(|(what, bytes)| vec![what, thousands(bytes)])
            .collect();
    }
    table
}

/// Instructions of a read.
pub(super) fn instructions(results: &Results) -> Table {
    let remark = "Instructions in user space for each read, counted by callgrind, on one worker.";
    let mut table = Table::new("Instructions of a read", remark, &["tasks", "instructions"]);
    for counted in &results.instructions {
        let row = vec![counted.tasks.to_string(), thousands(counted.of_a_read)];
        table.rows.push(row);
    }
    table
}

fn micros(micros: f64) -> String {
    if micros < 100.0 {
        format!("{micros:.1}")
    } else {
        thousands(micros)
    }
}
