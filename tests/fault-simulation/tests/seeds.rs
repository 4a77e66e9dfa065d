//! Hundreds of seeds, none of which violates an invariant.
//!
//! The environment variable `SEEDS` has others run, as in `SEEDS=1000..2000`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use steersman_fault_simulation::{Report, replay, run};

/// As many as take about a minute on two processors, in debug.
const SEEDS: (u64, u64) = (0, 200);

fn seeds() -> (u64, u64) {
    let Ok(text) = std::env::var("SEEDS") else {
        return SEEDS;
    };
    let (from, to) = text.split_once("..").expect("SEEDS is written A..B");
    let number = |text: &str| text.parse().expect("SEEDS is written A..B");
    (number(from), number(to))
}

#[test]
fn no_seed_violates_an_invariant() {
    let (from, to) = seeds();
    let (next, failed) = (AtomicU64::new(from), Mutex::new(Vec::new()));
    let work = || loop {
        let seed = next.fetch_add(1, Ordering::Relaxed);
        if seed >= to {
            return;
        }
        let report = run(seed, false);
        if !report.violations.is_empty() {
            failed
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(report);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    let told: Vec<String> = failed.iter().map(tell).collect();
    assert!(told.is_empty(), "{}", told.join("\n"));
}

fn tell(report: &Report) -> String {
    let first = report
        .violations
        .first()
        .map(ToString::to_string)
        .unwrap_or_default();
    format!(
        "seed {}: {} violations, the first: {first}\n  again: {}",
        report.seed,
        report.violations.len(),
        replay(report.seed)
    )
}
