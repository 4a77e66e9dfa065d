//! The balancer of `steersman-scylla` on a real Apache Cassandra cluster.
//!
//! A cluster takes long to start, so all scenarios share one and change it as they go: they run one
//! after the other, in this order. Those about time need a machine that does nothing else, and an
//! optimised build, so they run when asked for, by `--timed`:
//!
//! ```text
//! cargo test --release -p steersman-e2e --test cassandra -- --timed
//! ```
//!
//! Another argument selects the scenarios whose name contains it, of both kinds, and `--repeat=N` runs
//! each N times, to see how steady it is.

mod command_line;
mod history;
mod misplaced;
mod requests;
mod slow;
mod topology;
mod world;

use std::panic::AssertUnwindSafe;
use std::process::ExitCode;
use std::time::Instant;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;

use self::world::World;

struct Scenario {
    name: &'static str,
    about_time: bool,
    run: for<'a> fn(&'a World) -> LocalBoxFuture<'a, ()>,
}

macro_rules! scenarios {
    ($($kind:ident $module:ident::$name:ident,)*) => {
        &[$(Scenario {
            name: concat!(stringify!($module), "::", stringify!($name)),
            about_time: $kind,
            run: |world| $module::$name(world).boxed_local(),
        }),*]
    };
}

const TIMED: bool = true;
const UNTIMED: bool = false;

const SCENARIOS: &[Scenario] = scenarios![
    UNTIMED requests::replicas_answer,
    UNTIMED requests::transactions_meet_at_one_node,
    UNTIMED misplaced::a_wrong_name_is_told_once,
    UNTIMED history::time_outs_count_at_once_and_once,
    UNTIMED history::losers_count_at_once,
    UNTIMED command_line::watches_and_compares,
    TIMED requests::equal_nodes_have_equal_shares,
    TIMED slow::loses_its_requests_and_gets_them_back,
    TIMED slow::costs_little,
    TIMED slow::probes_cost_little,
    TIMED slow::time_outs_are_noticed,
    TIMED slow::losers_of_speculation_are_noticed,
    TIMED slow::hanging_is_noticed,
    UNTIMED topology::killed_and_restarted,
    UNTIMED topology::a_node_leaves,
    UNTIMED topology::a_node_joins,
    UNTIMED topology::requests_stay_in_their_datacenter,
];

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let filters: Vec<_> = arguments
        .iter()
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    let about_time = arguments.iter().any(|argument| argument == "--timed");
    let is_wanted = |scenario: &Scenario| match &filters[..] {
        [] => scenario.about_time == about_time,
        filters => filters
            .iter()
            .any(|filter| scenario.name.contains(filter.as_str())),
    };
    let repeat = arguments
        .iter()
        .find_map(|argument| argument.strip_prefix("--repeat="))
        .map_or(1, |times| times.parse().expect("--repeat takes a number"));
    let wanted: Vec<_> = SCENARIOS
        .iter()
        .filter(|scenario| is_wanted(scenario))
        .flat_map(|scenario| std::iter::repeat_n(scenario, repeat))
        .collect();
    if wanted.is_empty() {
        return ExitCode::SUCCESS;
    }
    if arguments.iter().any(|argument| argument == "--list") {
        for scenario in wanted {
            println!("{}: test", scenario.name);
        }
        return ExitCode::SUCCESS;
    }
    let runtime = tokio::runtime::Runtime::new().expect("there are threads");
    let failed = runtime.block_on(run(&wanted));
    println!(
        "{} of {} scenarios passed",
        wanted.len() - failed,
        wanted.len()
    );
    ExitCode::from(u8::from(failed > 0))
}

/// Runs the scenarios and says how many failed.
async fn run(scenarios: &[&Scenario]) -> usize {
    let began = Instant::now();
    let about_time = scenarios.iter().any(|scenario| scenario.about_time);
    let world = World::create(about_time).await;
    println!("the cluster is up after {:.0?}", began.elapsed());
    let mut failed = 0;
    for Scenario { name, run, .. } in scenarios {
        let began = Instant::now();
        let outcome = AssertUnwindSafe(run(&world)).catch_unwind().await;
        failed += usize::from(outcome.is_err());
        let verdict = if outcome.is_ok() { "ok" } else { "FAILED" };
        println!("test {name} ... {verdict} ({:.0?})", began.elapsed());
    }
    failed
}
