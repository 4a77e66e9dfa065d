//! The command line: `--seed N` runs one seed, `--seeds A..B` many, on all processors.

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use steersman_fault_simulation::{Report, replay, run};

const USAGE: &str = "\
Runs a memcached cluster and its clients in virtual time, with faults that a seed decides.

Usage: steersman-fault-simulation --seed N [--trace]     one run; --trace prints all that happens
       steersman-fault-simulation --seeds A..B [--twice] runs from A up to and without B; --twice makes each of
                                                         them twice and compares all that happened";

/// So many violations of a run are shown.
const SHOWN: usize = 10;

enum Wanted {
    One { seed: u64, trace: bool },
    Many { from: u64, to: u64, twice: bool },
}

fn parse(arguments: &[String]) -> Option<Wanted> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["--seed", seed, rest @ ..] if rest.is_empty() || rest == ["--trace"] => {
            Some(Wanted::One {
                seed: seed.parse().ok()?,
                trace: !rest.is_empty(),
            })
        }
        ["--seeds", seeds, rest @ ..] if rest.is_empty() || rest == ["--twice"] => {
            let (from, to) = seeds.split_once("..")?;
            Some(Wanted::Many {
                from: from.parse().ok()?,
                to: to.parse().ok()?,
                twice: !rest.is_empty(),
            })
        }
        _ => None,
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match parse(&arguments) {
        Some(Wanted::One { seed, trace }) => one(&run(seed, trace)),
        Some(Wanted::Many { from, to, twice }) => many(from, to, twice),
        None => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn one(report: &Report) -> ExitCode {
    println!(
        "seed {}: {} events, {} calls ({} failed or dropped), {} faults, {:.1} s of virtual time, {} KiB, hash \
         {:016x}",
        report.seed,
        report.events,
        report.calls,
        report.failed,
        report.faults,
        report.time.as_secs_f64(),
        report.memory / 1024,
        report.hash
    );
    for violation in report.violations.iter().take(SHOWN) {
        println!("  {violation}");
    }
    if let Some(more @ 1..) = report.violations.len().checked_sub(SHOWN) {
        println!("  and {more} more");
    }
    if report.violations.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

#[derive(Default)]
struct Totals {
    runs: u64,
    events: u64,
    calls: u64,
    failed: u64,
    faults: u64,
    most_memory: u64,
    virtual_seconds: f64,
    violated: Vec<u64>,
}

fn many(from: u64, to: u64, twice: bool) -> ExitCode {
    let (next, totals) = (AtomicU64::new(from), Mutex::new(Totals::default()));
    let begun = Instant::now();
    let work = || loop {
        let seed = next.fetch_add(1, Ordering::Relaxed);
        if seed >= to {
            return;
        }
        let report = run(seed, false);
        let is_the_same = !twice || run(seed, false).hash == report.hash;
        let mut totals = totals.lock().expect("nobody panics with it");
        totals.add(&report);
        if !report.violations.is_empty() || !is_the_same {
            totals.violated.push(seed);
            one(&report);
            if !is_the_same {
                println!("  two runs of it were not the same");
            }
            println!("  again: {}", replay(seed));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let totals = totals.into_inner().expect("nobody panics with it");
    println!(
        "{} runs: {} events, {} calls, {} of them failed or dropped, {} faults, {:.0} s of virtual time in \
         {:.0} s, at most {} KiB each",
        totals.runs,
        totals.events,
        totals.calls,
        totals.failed,
        totals.faults,
        totals.virtual_seconds,
        begun.elapsed().as_secs_f64(),
        totals.most_memory / 1024
    );
    if totals.violated.is_empty() {
        println!("no invariant was violated");
        ExitCode::SUCCESS
    } else {
        println!(
            "{} runs violated one: {:?}",
            totals.violated.len(),
            totals.violated
        );
        ExitCode::FAILURE
    }
}

impl Totals {
    fn add(&mut self, report: &Report) {
        self.runs += 1;
        self.events += report.events;
        self.calls += report.calls as u64;
        self.failed += report.failed as u64;
        self.faults += report.faults as u64;
        self.most_memory = self.most_memory.max(report.memory);
        self.virtual_seconds += report.time.as_secs_f64();
    }
}
