//! Makes the tables of `docs/POLICIES.md` from real runs: for each scenario and policy the latency that 99 %
//! of the requests do not exceed, and the share that was answered, with 95 % confidence intervals.
//!
//! ```text
//! cargo run --release -p steersman-simulator --example decision_table -- [SEEDS [SCENARIO...]]
//! ```

mod tables;

use std::error::Error;
use std::process::ExitCode;

use steersman_simulator::{Comparison, Estimate, Measure, PolicyKind, Simulation};

fn main() -> ExitCode {
    tables::main(10, print)
}

fn print(seeds: &[u64], names: &[String]) -> Result<(), Box<dyn Error>> {
    tables::head(&PolicyKind::NAMES);
    for name in names {
        for scenario in tables::scenarios(name)? {
            let simulation = Simulation::new(&scenario)?;
            let comparison = Comparison::run(&simulation, &PolicyKind::ALL, seeds, &|| ());
            println!("| {} | {} |", scenario.name, cells(&comparison).join(" | "));
        }
    }
    Ok(())
}

/// What each policy comes to; the best are bold: those that answered as much as any, within a tenth of a
/// per cent, and whose latency is within a tenth of the best of these.
fn cells(comparison: &Comparison) -> Vec<String> {
    let figures: Vec<[Estimate; 2]> = comparison
        .rows()
        .iter()
        .map(|row| {
            [Measure::P99, Measure::Success]
                .map(|measure| row.estimate(measure).expect("requests are made"))
        })
        .collect();
    let answered = figures.iter().map(|[_, success]| success.mean);
    let most = answered.fold(0.0, f64::max);
    let answers = |success: Estimate| success.mean >= most - 0.001;
    let least = figures
        .iter()
        .filter(|[_, success]| answers(*success))
        .map(|[p99, _]| p99.mean)
        .fold(f64::INFINITY, f64::min);
    let cell = |[p99, success]: [Estimate; 2]| {
        let text = tables::cell(p99, success);
        if answers(success) && p99.mean <= 1.1 * least {
            format!("**{text}**")
        } else {
            text
        }
    };
    figures.into_iter().map(cell).collect()
}
