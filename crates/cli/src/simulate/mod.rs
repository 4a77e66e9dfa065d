//! `simulate`: policies in virtual time, side by side.

mod report;
mod source;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use steersman_simulator::{Comparison, PolicyKind, Scenario, Simulation, plot};

use crate::answer::{Answer, Failure};
use crate::args::simulate::Simulate;
use crate::printable::printable;
use crate::status_line::StatusLine;

impl From<steersman_simulator::Error> for Failure {
    fn from(error: steersman_simulator::Error) -> Self {
        Self::told(error)
    }
}

/// Runs what was asked for, one scenario after the other.
pub(crate) fn run(args: &Simulate, json: bool, out: &mut dyn Write) -> Result<Answer, Failure> {
    if args.list {
        report::list(json, out)?;
        return Ok(Answer::Yes);
    }
    if !args.record.is_empty() {
        return replay(args, json, out);
    }
    let scenarios = source::scenarios(&args.scenarios)?;
    for (number, scenario) in (1..).zip(&scenarios) {
        let simulation = Simulation::new(scenario)?;
        let comparison = compare(args, &simulation);
        if json {
            report::json(scenario, &comparison).write_line(out)?;
        } else {
            if number > 1 {
                writeln!(out)?;
            }
            report::text(scenario, &comparison, out)?;
        }
        if let Some(path) = &args.plot {
            let path = numbered(path, number, scenarios.len());
            write_plot(&path, scenario, &comparison)?;
        }
        // The next one may take a while.
        out.flush()?;
    }
    Ok(Answer::Yes)
}

fn replay(args: &Simulate, json: bool, out: &mut dyn Write) -> Result<Answer, Failure> {
    let recording = source::recording(&args.record)?;
    let simulation = Simulation::replay(&recording)?;
    let comparison = compare(args, &simulation);
    if json {
        report::replayed_json(&recording, &comparison).write_line(out)?;
    } else {
        report::replayed(&recording, &comparison, out)?;
    }
    if let Some(path) = &args.plot {
        write_plot(path, simulation.scenario(), &comparison)?;
    }
    Ok(Answer::Yes)
}

/// Runs all policies with all seeds, with a bar on a terminal.
fn compare(args: &Simulate, simulation: &Simulation<'_>) -> Comparison {
    let policies = if args.policies.is_empty() {
        &PolicyKind::ALL[..]
    } else {
        &args.policies
    };
    let seeds: Vec<u64> = (0..u64::from(args.seeds))
        .map(|number| args.seed.wrapping_add(number))
        .collect();
    let (line, done) = (StatusLine::new(), AtomicUsize::new(0));
    let all = policies.len() * seeds.len();
    let name = printable(&simulation.scenario().name);
    let show = |done| line.show(&format!("{name} {} {done} of {all} runs", bar(done, all)));
    show(0);
    let comparison = Comparison::run(simulation, policies, &seeds, &|| {
        show(done.fetch_add(1, Ordering::Relaxed) + 1);
    });
    line.clear();
    comparison
}

fn bar(done: usize, all: usize) -> String {
    const WIDTH: usize = 30;
    let full = done * WIDTH / all.max(1);
    format!(
        "[{}{}]",
        "#".repeat(full),
        "-".repeat(WIDTH.saturating_sub(full))
    )
}

fn write_plot(path: &Path, scenario: &Scenario, comparison: &Comparison) -> Result<(), Failure> {
    std::fs::write(path, plot(scenario, comparison))
        .map_err(|error| Failure::told(format!("--plot: cannot write {}: {error}", path.display())))
}

/// The path of one of several plots: `plot.svg` becomes `plot-1.svg` and so on.
fn numbered(path: &Path, number: usize, all: usize) -> PathBuf {
    if all == 1 {
        return path.to_owned();
    }
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{number}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plots_of_several_scenarios_have_numbers() {
        for (path, all, expected) in [
            ("a/p.svg", 1, "a/p.svg"),
            ("a/p.svg", 2, "a/p-2.svg"),
            ("a.b/p", 2, "a.b/p-2"),
        ] {
            assert_eq!(numbered(Path::new(path), 2, all), Path::new(expected));
        }
    }

    #[test]
    fn a_bar_grows_as_runs_are_done() {
        assert_eq!(bar(0, 3), format!("[{}]", "-".repeat(30)));
        assert_eq!(bar(1, 3), format!("[{}{}]", "#".repeat(10), "-".repeat(20)));
        assert_eq!(bar(3, 3), format!("[{}]", "#".repeat(30)));
    }
}
