//! Makes the tables of `docs/POLICIES.md` from real runs: for each scenario and policy the latency that 99 %
//! of the requests do not exceed, and the share that was answered.
//!
//! ```text
//! cargo run --release -p steersman-simulator --example decision_table -- [SEEDS [SCENARIO...]]
//! ```

use std::process::ExitCode;

use steersman_simulator::{Comparison, Error, Measure, PolicyKind, Scenario, Simulation};

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let seeds = args.next().map_or(Ok(5), |seeds| seeds.parse());
    let Ok(seeds) = seeds else {
        eprintln!("error: SEEDS is a number");
        return ExitCode::from(2);
    };
    let mut names: Vec<String> = args.collect();
    if names.is_empty() {
        names = Scenario::names().map(str::to_owned).collect();
    }
    match table(seeds, &names) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn table(seeds: u64, names: &[String]) -> Result<(), Error> {
    let seeds: Vec<u64> = (1..=seeds).collect();
    println!("| scenario | {} |", PolicyKind::NAMES.join(" | "));
    println!("| --- |{}", " --- |".repeat(PolicyKind::ALL.len()));
    for name in names {
        for scenario in Scenario::builtin(name)? {
            let simulation = Simulation::new(&scenario)?;
            let comparison = Comparison::run(&simulation, &PolicyKind::ALL, &seeds, &|| ());
            println!("| {} | {} |", scenario.name, cells(&comparison).join(" | "));
        }
    }
    Ok(())
}

/// What each policy comes to; the best are bold: those that answered as much as any, within a tenth of a
/// per cent, and whose latency is within a tenth of the best of these.
fn cells(comparison: &Comparison) -> Vec<String> {
    let figures: Vec<(f64, f64)> = comparison
        .rows()
        .iter()
        .map(|row| {
            let mean = |measure| {
                row.estimate(measure)
                    .map_or(f64::NAN, |estimate| estimate.mean)
            };
            (mean(Measure::Success), mean(Measure::P99))
        })
        .collect();
    let most = figures
        .iter()
        .map(|(success, _)| *success)
        .fold(0.0, f64::max);
    let answers = |success: f64| success >= most - 0.001;
    let least = figures
        .iter()
        .filter(|(success, _)| answers(*success))
        .map(|(_, p99)| *p99)
        .fold(f64::INFINITY, f64::min);
    let cell = |(success, p99): (f64, f64)| {
        let p99_ms = p99 * 1e3;
        let text = if success < 0.9999 {
            format!("{p99_ms:.2} ms, {:.2} %", success * 100.0)
        } else {
            format!("{p99_ms:.2} ms")
        };
        if answers(success) && p99 <= 1.1 * least {
            format!("**{text}**")
        } else {
            text
        }
    };
    figures.into_iter().map(cell).collect()
}
