//! How far each policy is from the best that could be done, and what of it others published: the tables of
//! `docs/POLICIES.md` about scenarios S3 and S5. One seed.
//!
//! ```text
//! cargo run --release -p steersman-simulator --example oracle -- [SCENARIO...]
//! ```

use std::process::ExitCode;

use steersman_simulator::{Error, Measure, PolicyKind, Report, Scenario, Simulation};

fn main() -> ExitCode {
    let mut names: Vec<String> = std::env::args().skip(1).collect();
    if names.is_empty() {
        names = ["s3", "s5/70-percent", "s5/90-percent"]
            .map(String::from)
            .to_vec();
    }
    match table(&names) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn table(names: &[String]) -> Result<(), Error> {
    println!("| scenario | policy | p50, ms | p90 | p99 | p99.9 | answered |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for name in names {
        for scenario in Scenario::builtin(name)? {
            let simulation = Simulation::new(&scenario)?;
            row(&scenario.name, "oracle", &simulation.run_oracle(1));
            for policy in PolicyKind::ALL {
                row(
                    &scenario.name,
                    policy.name(),
                    &simulation.run_policy(policy, 1),
                );
            }
        }
    }
    Ok(())
}

fn row(scenario: &str, policy: &str, report: &Report) {
    print!("| {scenario} | {policy} |");
    for measure in [Measure::P50, Measure::P90, Measure::P99, Measure::P999] {
        let seconds = report.measure(measure).unwrap_or(f64::NAN);
        print!(" {:.1} |", seconds * 1e3);
    }
    println!(" {:.2} % |", 100.0 * report.success_rate());
}
