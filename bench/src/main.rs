//! Steersman beside its peers and beside what the wire and the server allow.
//!
//! `run quick` and `run full` measure everything (`bench/run` builds the peers and calls them);
//! `report FILE` renders the JSON of such a run again, in the folder `bench`. The other commands are single measurements, each a process of its own: `steersman`, `steersman-tls` and `raw` keep the
//! contract that the peers keep (`contract/`).

mod campaign;
mod certificate;
mod load;
mod machine;
mod plan;
mod raw;
mod report;
mod results;
mod server;
mod subject;

use std::fs;
use std::io;
use std::process::ExitCode;
use std::time::Instant;

use crate::campaign::{Programs, Single};
use crate::load::{Encrypted, Sketch, Steersman};
use crate::machine::Machine;
use crate::plan::{Mode, Part, SHAPES};
use crate::results::{Cell, Results};

const USAGE: &str = "usage: run quick|full, report FILE, or a measurement: steersman, steersman-tls, raw, \
                     alone, counted, crowd, due, growth";

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    match args.next().as_deref() {
        Some("run") => match args.next().as_deref() {
            Some("quick") => run(Mode::Quick),
            Some("full") => run(Mode::Full),
            _ => usage(),
        },
        Some("report") => match args.next() {
            Some(file) => done(read(&file).and_then(|results| report::publish(&results))),
            None => usage(),
        },
        Some("steersman") => steersman_bench_contract::run::<Steersman>(args),
        Some("steersman-tls") => steersman_bench_contract::run::<Encrypted>(args),
        Some("sketch") => steersman_bench_contract::run::<Sketch>(args),
        Some("raw") => raw::run(args),
        Some("nodes") => match args.next().and_then(|count| count.parse().ok()) {
            Some(count) => done(load::nodes(count).map_err(io::Error::other)),
            None => usage(),
        },
        Some(name) => load::run(name, &args.collect::<Vec<_>>()).unwrap_or_else(usage),
        None => usage(),
    }
}

fn usage() -> ExitCode {
    eprintln!("{USAGE}");
    ExitCode::from(2)
}

fn run(mode: Mode) -> ExitCode {
    let began = Instant::now();
    let results = measure(mode);
    eprintln!("Measured in {} s", began.elapsed().as_secs());
    done(results.and_then(|results| report::publish(&results)))
}

fn read(file: &str) -> io::Result<Results> {
    Ok(serde_json::from_str(&fs::read_to_string(file)?)?)
}

fn done(result: io::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(mode: Mode) -> io::Result<Results> {
    let programs = Programs::new()?;
    let unavailable = campaign::unavailable(&programs)?;
    let mut measured = Vec::new();
    for part in Part::ALL {
        measured.extend(campaign::measure(part, mode, &programs, &unavailable)?);
    }
    let mut results = Results {
        mode,
        machine: Machine::look(),
        unavailable,
        measured,
        single: Single::default(),
        instructions: Vec::new(),
    };
    let highest = results.rate("steersman", Cell::new(Part::Reads, SHAPES[1]));
    results.single = campaign::measure_single(mode, &programs, highest)?;
    if mode == Mode::Full {
        let failures = &mut results.single.failures;
        match campaign::instructions(&programs) {
            Ok(counted) => results.instructions = counted,
            Err(reason) => failures.push(reason),
        }
        match campaign::flame_graph(&programs) {
            Ok(svg) => fs::write(report::flame_graph(mode), svg)?,
            Err(reason) => failures.push(reason),
        }
    }
    Ok(results)
}
