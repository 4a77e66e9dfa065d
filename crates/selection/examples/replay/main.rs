//! Replays traces of latency-aware selection through the policies in reference mode.
//!
//! ```text
//! cargo run --release -p steersman-selection --example replay -- FILE
//! ```
//!
//! Prints how many traces match and the first difference. Exits with 0 if all match, 1 if not, and
//! 2 if the file cannot be read.

mod cast;
mod player;
mod trace;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(path), None) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: replay FILE");
        return ExitCode::from(2);
    };
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
    println!("{} of {} traces match", verdict.matching, verdict.traces);
    match verdict.first_difference {
        None => ExitCode::SUCCESS,
        Some(difference) => {
            println!("first difference: {difference}");
            ExitCode::from(1)
        }
    }
}
