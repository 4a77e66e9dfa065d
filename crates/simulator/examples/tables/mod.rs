//! What the examples share that make tables of `docs/POLICIES.md` from seeds and scenarios: their arguments, and
//! how a figure is shown.

use std::process::ExitCode;

use steersman_simulator::{Error, Scenario};

/// Prints a table for the arguments `[SEEDS [SCENARIO...]]`, of which the scenarios are all by default.
pub(crate) fn main(seeds: u32, print: fn(u32, &[String]) -> Result<(), Error>) -> ExitCode {
    let mut args = std::env::args().skip(1);
    let seeds = args.next().map_or(Ok(seeds), |seeds| seeds.parse());
    let Ok(seeds) = seeds else {
        eprintln!("error: SEEDS is a number");
        return ExitCode::from(2);
    };
    let mut names: Vec<String> = args.collect();
    if names.is_empty() {
        names = Scenario::names().map(str::to_owned).collect();
    }
    match print(seeds, &names) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// The first lines of a table of scenarios.
pub(crate) fn head(columns: &[&str]) {
    println!("| scenario | {} |", columns.join(" | "));
    println!("| --- |{}", " --- |".repeat(columns.len()));
}

/// What 99 % of the requests do not exceed, in seconds, and the share that was answered if that is less than
/// all.
pub(crate) fn cell(p99: f64, success: f64) -> String {
    let p99_ms = p99 * 1e3;
    if success < 0.9999 {
        format!("{p99_ms:.2} ms, {:.2} %", success * 100.0)
    } else {
        format!("{p99_ms:.2} ms")
    }
}
