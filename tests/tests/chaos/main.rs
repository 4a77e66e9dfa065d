//! Lets servers fail under full load, and tells whether every promise held; see [`steersman_e2e::chaos`].
//!
//! `scripts/chaos` runs it for longer. As one of all tests it takes [`BRIEFLY`].

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use steersman_e2e::chaos::{Options, run};

/// In minutes: long enough for each fault of most nodes to strike once.
const BRIEFLY: f64 = 2.0;

/// Real servers that fail in every way, under full load: never a value of another key or an old one, no call
/// without an end, no outage taken for a miss, and afterwards everything is well.
#[derive(Debug, Parser)]
#[command(name = "scripts/chaos")]
struct Arguments {
    /// For how many minutes faults happen; fractions will do.
    #[arg(default_value_t = BRIEFLY)]
    minutes: f64,
    /// What everything that is drawn follows from; another one each time by default.
    #[arg(long)]
    seed: Option<u64>,
    /// Prints the report as JSON.
    #[arg(long)]
    json: bool,
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    // What cargo gives all tests alike is the name of one of them.
    if std::env::args()
        .nth(1)
        .is_some_and(|name| is_of_others(&name))
    {
        return Ok(ExitCode::SUCCESS);
    }
    let arguments = Arguments::parse();
    let seed = arguments.seed.unwrap_or_else(|| fastrand::u64(..1_000_000));
    let options = Options {
        seed,
        duration: Duration::try_from_secs_f64(arguments.minutes * 60.0)?,
    };
    eprintln!("chaos for {} minutes, seed {seed}", arguments.minutes);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let report = runtime.block_on(run(options))?;
    if arguments.json {
        println!("{}", report.json());
    } else {
        println!("{report}");
    }
    if report.broken_promises == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!(
        "to do the same to the servers again: scripts/chaos {} --seed {seed}",
        arguments.minutes
    );
    Ok(ExitCode::FAILURE)
}

/// Whether the first argument selects other tests.
fn is_of_others(argument: &str) -> bool {
    let is_ours = argument.parse::<f64>().is_ok()
        || ["--seed", "--json", "--help"]
            .iter()
            .any(|ours| argument.starts_with(ours));
    !is_ours
}
