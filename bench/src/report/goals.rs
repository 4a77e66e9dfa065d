//! What Steersman is to reach, beside what it reached.

use super::table::Table;
use crate::plan::Part;
use crate::results::{Cell, Results};

/// A ratio that is to be at least, or at most, so much.
struct Goal {
    what: String,
    measured: f64,
    bound: f64,
    at_most: bool,
}

impl Goal {
    fn at_least(what: String, measured: f64, bound: f64) -> Self {
        Self {
            what,
            measured,
            bound,
            at_most: false,
        }
    }

    fn at_most(what: String, measured: f64, bound: f64) -> Self {
        Self {
            what,
            measured,
            bound,
            at_most: true,
        }
    }

    fn row(&self) -> Option<Vec<String>> {
        let Self {
            what,
            measured,
            bound,
            at_most,
        } = self;
        if measured.is_nan() {
            return None;
        }
        let reached = if *at_most {
            measured <= bound
        } else {
            measured >= bound
        };
        let side = if *at_most { "≤" } else { "≥" };
        Some(vec![
            what.clone(),
            format!("{side} {bound:.2}"),
            format!("{measured:.2}"),
            if reached { "yes" } else { "no" }.to_owned(),
        ])
    }
}

/// All of them that this run measured.
pub(super) fn table(results: &Results) -> Table {
    let remark = "Ratios that Steersman is to reach, all from this run.";
    let columns = ["", "goal", "measured", "reached"];
    let mut table = Table::new("Goals", remark, &columns);
    let goals = [
        limits(results),
        sketch(results),
        peers(results),
        writes(results),
        encrypted(results),
        single(results),
    ];
    table.rows = goals.iter().flatten().filter_map(Goal::row).collect();
    table
}

/// Reads beside the raw limit.
fn limits(results: &Results) -> Vec<Goal> {
    let goals = [
        ((2, 64), None, 0.65),
        ((2, 64), Some(1), 0.80),
        ((2, 512), None, 0.60),
        ((2, 512), Some(1), 0.85),
    ];
    goals
        .into_iter()
        .map(|(shape, workers, bound)| {
            let cell = Cell::new(Part::Reads, shape);
            let measured =
                results.rate("steersman", cell.workers(workers)) / results.rate("raw-lines", cell);
            let runtime = workers.map_or("default runtime", |_| "one worker");
            let what = format!("reads of raw, {} tasks, {runtime}", shape.1);
            Goal::at_least(what, measured, bound)
        })
        .collect()
}

/// Reads beside the least that a client on Tokio can do.
fn sketch(results: &Results) -> Vec<Goal> {
    [
        ((2, 64), None),
        ((2, 64), Some(1)),
        ((2, 512), None),
        ((2, 512), Some(1)),
    ]
    .into_iter()
    .map(|(shape, workers)| {
        let cell = Cell::new(Part::Reads, shape).workers(workers);
        let measured = results.rate("steersman", cell) / results.rate("sketch", cell);
        let runtime = workers.map_or("default runtime", |_| "one worker");
        let what = format!("reads of the sketch, {} tasks, {runtime}", shape.1);
        Goal::at_least(what, measured, 1.0)
    })
    .collect()
}

/// Reads beside those of the peers.
fn peers(results: &Results) -> Vec<Goal> {
    let emcache = [((2, 64), 2.0), ((2, 512), 4.0)].map(|(shape, bound)| {
        let cell = Cell::new(Part::Reads, shape);
        let measured = results.rate("steersman", cell) / results.rate("emcache-batching", cell);
        let what = format!(
            "reads of emcache with autobatching, {} × {}",
            shape.0, shape.1
        );
        Goal::at_least(what, measured, bound)
    });
    let rust = [((2, 64), 4.0), ((2, 512), 4.0), ((32, 256), 2.0)].map(|(shape, bound)| {
        let cell = Cell::new(Part::Reads, shape);
        let best = results.best_rust(cell).map_or(f64::NAN, |best| best.1);
        let what = format!("reads of the best Rust peer, {} × {}", shape.0, shape.1);
        Goal::at_least(what, results.rate("steersman", cell) / best, bound)
    });
    emcache.into_iter().chain(rust).collect()
}

/// Writes beside the raw limit.
fn writes(results: &Results) -> Vec<Goal> {
    [64, 512]
        .into_iter()
        .map(|tasks| {
            let cell = Cell::new(Part::Writes, (2, tasks));
            let measured = results.rate("steersman", cell) / results.rate("raw-pipelined", cell);
            Goal::at_least(format!("writes of raw, {tasks} tasks"), measured, 0.8)
        })
        .collect()
}

/// Reads over TLS beside the same without.
fn encrypted(results: &Results) -> Vec<Goal> {
    [64, 512]
        .into_iter()
        .map(|tasks| {
            let cell = Cell::new(Part::Encrypted, (2, tasks));
            let measured = results.rate("steersman-tls", cell) / results.rate("steersman", cell);
            Goal::at_least(
                format!("reads over TLS of plain, {tasks} tasks"),
                measured,
                0.7,
            )
        })
        .collect()
}

/// One caller alone, and many at once.
fn single(results: &Results) -> Vec<Goal> {
    let (raw, client) = super::single::alone_ns(&results.single);
    let alone = Goal::at_most(
        "time of a lone read, of a bare exchange".into(),
        client / raw,
        1.15,
    );
    let crowds = results
        .single
        .crowds
        .iter()
        .filter(|crowd| crowd.tasks >= 1_000);
    let crowds = crowds.map(|crowd| {
        let measured = crowd.latency.p999_us / crowd.latency.p50_us;
        Goal::at_most(
            format!("p99.9 of p50, {} tasks", crowd.tasks),
            measured,
            20.0,
        )
    });
    [alone].into_iter().chain(crowds).collect()
}
