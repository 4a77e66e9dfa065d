//! Makes the tables of `docs/POLICIES.md` from real runs: for each scenario and policy the latency that 99 %
//! of the requests do not exceed, and the share that was answered.
//!
//! ```text
//! cargo run --release -p steersman-simulator --example decision_table -- [SEEDS [SCENARIO...]]
//! ```

mod tables;

use std::process::ExitCode;

use steersman_simulator::{Comparison, Error, Measure, PolicyKind, Scenario, Simulation};

fn main() -> ExitCode {
    tables::main(5, print)
}

fn print(seeds: u32, names: &[String]) -> Result<(), Error> {
    let seeds: Vec<u64> = (1..=seeds.into()).collect();
    tables::head(&PolicyKind::NAMES);
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
        let text = tables::cell(p99, success);
        if answers(success) && p99 <= 1.1 * least {
            format!("**{text}**")
        } else {
            text
        }
    };
    figures.into_iter().map(cell).collect()
}
