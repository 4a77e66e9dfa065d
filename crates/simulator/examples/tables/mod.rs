//! What the examples share that make tables of `docs/POLICIES.md` from seeds and scenarios: their arguments, and
//! how a figure is shown.

use std::error::Error;
use std::process::ExitCode;

use steersman_simulator::{Estimate, Scenario};

/// Prints a table for those seeds and scenarios.
type Print = fn(&[u64], &[String]) -> Result<(), Box<dyn Error>>;

/// Prints a table for the arguments `[SEEDS [SCENARIO...]]`: a number of seeds or the first and the last, as `101-103`;
/// names of scenarios, all by default, or files.
pub(crate) fn main(seeds: u64, print: Print) -> ExitCode {
    let mut args = std::env::args().skip(1);
    let seeds = args
        .next()
        .map_or(Some((1..=seeds).collect()), |text| parse(&text));
    let Some(seeds) = seeds else {
        eprintln!("error: SEEDS is a number, or two as in 101-103");
        return ExitCode::from(2);
    };
    let mut names: Vec<String> = args.collect();
    if names.is_empty() {
        names = Scenario::names().map(str::to_owned).collect();
    }
    match print(&seeds, &names) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn parse(seeds: &str) -> Option<Vec<u64>> {
    let (first, last) = seeds.split_once('-').unwrap_or(("1", seeds));
    let seeds: Vec<u64> = (first.parse().ok()?..=last.parse().ok()?).collect();
    (!seeds.is_empty()).then_some(seeds)
}

/// The scenarios of a name or a file.
pub(crate) fn scenarios(name: &str) -> Result<Vec<Scenario>, Box<dyn Error>> {
    Ok(match name.strip_suffix(".toml") {
        Some(_) => Scenario::parse(&std::fs::read_to_string(name)?)?,
        None => Scenario::builtin(name)?,
    })
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
