//! What each ingredient of `Steady` is for: the table of `docs/POLICIES.md` that leaves them out one by one.
//!
//! ```text
//! cargo run --release -p steersman-simulator --example ablation -- [SEEDS [SCENARIO...]]
//! ```

mod tables;

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use steersman_selection::{DynPolicy, Pace, RankedBuilder, Steady};
use steersman_simulator::{Estimate, Measure, PolicyKind, Scenario, Seat, Simulation};

type Change = fn(RankedBuilder<Pace>) -> RankedBuilder<Pace>;

/// What is changed, by the name of its column.
const VARIANTS: [(&str, Change); 6] = [
    ("steady", |builder| builder),
    ("two choices", |builder| builder.choices(2)),
    ("no silence", |builder| builder.silence(false)),
    ("no room", |builder| builder.room(1.0)),
    ("in flight ignored", |builder| builder.room(1e9)),
    ("last latency", |builder| {
        builder.decay(Duration::from_millis(1))
    }),
];

fn main() -> ExitCode {
    tables::main(2, print)
}

fn print(seeds: &[u64], names: &[String]) -> Result<(), Box<dyn Error>> {
    tables::head(&VARIANTS.map(|(name, _)| name));
    for name in names {
        for scenario in tables::scenarios(name)? {
            let simulation = Simulation::new(&scenario)?;
            let cells = VARIANTS.map(|(_, change)| cell(&simulation, change, seeds));
            println!("| {} | {} |", scenario.name, cells.join(" | "));
        }
    }
    Ok(())
}

/// What 99 % of the requests do not exceed, and the share that was answered.
fn cell(simulation: &Simulation<'_>, change: Change, seeds: &[u64]) -> String {
    let (mut p99, mut success) = (Vec::new(), Vec::new());
    for &seed in seeds {
        let scenario = simulation.scenario();
        let report = simulation.run(seed, |seat| policy(scenario, seat, change));
        p99.extend(report.measure(Measure::P99));
        success.push(report.success_rate());
    }
    let figures = Estimate::of(&p99).zip(Estimate::of(&success));
    figures.map_or_else(String::new, |(p99, success)| tables::cell(p99, success))
}

/// Around the chain that the scenario asks for, as for the policies that have a name.
fn policy(scenario: &Scenario, seat: Seat, change: Change) -> Steady<Box<dyn DynPolicy>> {
    let seed = seat.seed;
    let child = PolicyKind::RoundRobin.chain(scenario, seat);
    // Not that of the child.
    let builder = change(Steady::builder().seed(seed.rotate_left(32)));
    builder.build(child).expect("the variants are valid")
}
