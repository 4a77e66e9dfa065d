//! What each ingredient of `Steady` is for: the table of `docs/POLICIES.md` that leaves them out one by one.
//!
//! ```text
//! cargo run --release -p steersman-simulator --example ablation -- [SEEDS [SCENARIO...]]
//! ```

use std::process::ExitCode;
use std::time::Duration;

use steersman_selection::{
    DatacenterAware, DynPolicy, Pace, RankedBuilder, Replicas, RoundRobin, Steady, TokenAware,
};
use steersman_simulator::{Error, Measure, Scenario, Seat, Simulation};

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
    let mut args = std::env::args().skip(1);
    let seeds = args.next().map_or(Ok(2), |seeds| seeds.parse());
    let Ok(seeds) = seeds else {
        eprintln!("error: SEEDS is a number");
        return ExitCode::from(2);
    };
    let mut names: Vec<String> = args.collect();
    if names.is_empty() {
        names = Scenario::names().map(str::to_owned).collect();
    }
    match table(seeds, &names) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn table(seeds: u32, names: &[String]) -> Result<(), Error> {
    let columns = VARIANTS.map(|(name, _)| name);
    println!("| scenario | {} |", columns.join(" | "));
    println!("| --- |{}", " --- |".repeat(columns.len()));
    for name in names {
        for scenario in Scenario::builtin(name)? {
            let simulation = Simulation::new(&scenario)?;
            let cells = VARIANTS.map(|(_, change)| cell(&simulation, change, seeds));
            println!("| {} | {} |", scenario.name, cells.join(" | "));
        }
    }
    Ok(())
}

/// The means of what 99 % of the requests do not exceed and of the share that was answered.
fn cell(simulation: &Simulation<'_>, change: Change, seeds: u32) -> String {
    let (mut p99, mut success) = (0.0, 0.0);
    for seed in 1..=seeds {
        let scenario = simulation.scenario();
        let report = simulation.run(seed.into(), |seat| policy(scenario, seat, change));
        let mean = |measure| report.measure(measure).unwrap_or(f64::NAN) / f64::from(seeds);
        p99 += mean(Measure::P99);
        success += mean(Measure::Success);
    }
    let p99_ms = p99 * 1e3;
    if success < 0.9999 {
        format!("{p99_ms:.2} ms, {:.2} %", success * 100.0)
    } else {
        format!("{p99_ms:.2} ms")
    }
}

/// Around the chain that the scenario asks for, as for the policies that have a name.
fn policy(scenario: &Scenario, seat: Seat, change: Change) -> Steady<Box<dyn DynPolicy>> {
    let Seat { seed, .. } = seat;
    let clients = &scenario.clients;
    let first = i32::try_from(seed >> 33).unwrap_or_default();
    let datacenters = clients.datacenter.as_deref().map(|name| {
        DatacenterAware::new(name)
            .remote_nodes(clients.remote_nodes)
            .starting_at(first)
    });
    let child: Box<dyn DynPolicy> = match (&scenario.keys, datacenters) {
        (None, None) => Box::new(RoundRobin::starting_at(first)),
        (None, Some(datacenters)) => Box::new(datacenters),
        (Some(_), None) => Box::new(Replicas::shuffled(seed)),
        (Some(_), Some(datacenters)) => Box::new(TokenAware::new(datacenters).seed(seed)),
    };
    let builder = change(Steady::builder().seed(seed.rotate_left(32)));
    builder.build(child).expect("the variants are valid")
}
