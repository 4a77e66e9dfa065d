//! Replays traces of latency-aware selection through the policies in reference mode.
//!
//! ```text
//! cargo run --release -p steersman-selection --example replay -- FILE
//! ```
//!
//! Prints how many traces match and the first difference. Exits with 0 if all match, 1 if not, and
//! 2 if the file cannot be read or has no traces.

mod cast;
mod player;
mod trace;

use std::process::ExitCode;

const USAGE: &str = "\
usage: replay FILE

FILE has traces of latency-aware selection as JSON: lists under `score_traces`, `plan_traces` or
`chained_traces`. Each is replayed in reference mode. Exit codes: 0 all match, 1 some differ,
2 the file cannot be read or has no traces.";

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(path), None) = (arguments.next(), arguments.next()) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    if path == "--help" || path == "-h" {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let text = match std::fs::read(&path) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("{} cannot be read: {error}", path.display());
            return ExitCode::from(2);
        }
    };
    let file: trace::File = match serde_json::from_slice(&text) {
        Ok(file) => file,
        Err(error) => {
            eprintln!("{} is not a file of traces: {error}", path.display());
            return ExitCode::from(2);
        }
    };
    let verdict = player::play(&file);
    if verdict.traces == 0 {
        eprintln!("no traces in {}", path.display());
        return ExitCode::from(2);
    }
    println!("{} of {} traces match", verdict.matching, verdict.traces);
    match verdict.first_difference {
        None => ExitCode::SUCCESS,
        Some(difference) => {
            println!("first difference: {difference}");
            ExitCode::from(1)
        }
    }
}
