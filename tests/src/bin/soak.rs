//! Loads servers that are restarted one after the other, and tells whether anything grows; see
//! `scripts/soak`.

use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use steersman_e2e::soak::{Options, run};

/// Constant load while servers are restarted one after the other: memory, open files and tasks stay as they
/// are, and every answer is right.
#[derive(Debug, Parser)]
#[command(name = "scripts/soak")]
struct Arguments {
    /// For how many minutes.
    #[arg(default_value_t = 20.0)]
    minutes: f64,
    /// What everything that is drawn follows from; another one each time by default.
    #[arg(long)]
    seed: Option<u64>,
    /// How many operations begin in a second.
    #[arg(long, default_value_t = 2_000)]
    rate: u32,
    /// Where the plot goes.
    #[arg(long, value_name = "FILE", default_value = "target/soak.svg")]
    plot: PathBuf,
    /// Prints the report as JSON.
    #[arg(long)]
    json: bool,
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments = Arguments::parse();
    let options = Options {
        seed: arguments.seed.unwrap_or_else(|| fastrand::u64(..1_000_000)),
        duration: Duration::try_from_secs_f64(arguments.minutes * 60.0)?,
        rate: arguments.rate,
    };
    eprintln!(
        "soak for {} minutes, seed {}",
        arguments.minutes, options.seed
    );
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let report = runtime.block_on(run(options))?;
    if let Some(folder) = arguments.plot.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(&arguments.plot, report.plot())?;
    if arguments.json {
        println!("{}", report.json());
    } else {
        println!("{report}");
    }
    eprintln!("the plot is in {}", arguments.plot.display());
    if report.broken_promises == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!(
        "to do the same again: scripts/soak {} --seed {} --rate {}",
        arguments.minutes, options.seed, options.rate
    );
    Ok(ExitCode::FAILURE)
}
