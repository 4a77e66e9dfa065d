//! What the examples share that make tables of `docs/POLICIES.md` from seeds and scenarios: their arguments, and
//! how a figure is shown.

use std::process::ExitCode;

use steersman_simulator::{Error, Estimate, Scenario};

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
/// all; each with its 95 % confidence interval where several seeds differ.
pub(crate) fn cell(p99: Estimate, success: Estimate) -> String {
    let latency = format!("{} ms", figure(p99, 1e3));
    if success.mean < 0.9999 {
        format!("{latency}, {} %", figure(success, 100.0))
    } else {
        latency
    }
}

/// A figure in another unit: four digits, and as many decimals for what it may be off.
fn figure(
    Estimate {
        mean, half_width, ..
    }: Estimate,
    unit: f64,
) -> String {
    let (mean, half_width) = (mean * unit, half_width * unit);
    let decimals = match mean {
        _ if mean >= 1_000.0 => 0,
        _ if mean >= 100.0 => 1,
        _ => 2,
    };
    let [mean, apart] = [mean, half_width].map(|value| format!("{value:.decimals$}"));
    if apart.bytes().all(|digit| matches!(digit, b'0' | b'.')) {
        mean
    } else {
        format!("{mean} ± {apart}")
    }
}
