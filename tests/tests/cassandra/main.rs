//! The balancer of `steersman-scylla` on a real Apache Cassandra cluster.
//!
//! A cluster takes long to start, so all scenarios share one and change it as they go: they run one
//! after the other, in this order. An argument selects those whose name contains it, and `--repeat=N`
//! runs each N times, to see how steady it is.

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

type Scenario = for<'a> fn(&'a World) -> LocalBoxFuture<'a, ()>;

const SCENARIOS: &[(&str, Scenario)] = &[
    ("replicas_answer", |world| {
        requests::replicas_answer(world).boxed_local()
    }),
    ("transactions_meet_at_one_node", |world| {
        requests::transactions_meet_at_one_node(world).boxed_local()
    }),
    ("equal_nodes_have_equal_shares", |world| {
        requests::equal_nodes_have_equal_shares(world).boxed_local()
    }),
    (
        "a_slow_node_loses_its_requests_and_gets_them_back",
        |world| slow::loses_its_requests_and_gets_them_back(world).boxed_local(),
    ),
    ("a_slow_node_costs_little_more_than_none", |world| {
        slow::costs_little_more_than_none(world).boxed_local()
    }),
    ("time_outs_of_clients_are_noticed", |world| {
        slow::time_outs_are_noticed(world).boxed_local()
    }),
    ("losers_of_speculation_are_noticed", |world| {
        slow::losers_of_speculation_are_noticed(world).boxed_local()
    }),
    ("a_hanging_node_is_noticed", |world| {
        slow::hanging_is_noticed(world).boxed_local()
    }),
    ("a_killed_node_costs_no_request_and_comes_back", |world| {
        topology::killed_and_restarted(world).boxed_local()
    }),
    ("a_node_leaves", |world| {
        topology::a_node_leaves(world).boxed_local()
    }),
    ("a_node_joins_in_another_datacenter", |world| {
        topology::a_node_joins(world).boxed_local()
    }),
    ("requests_stay_in_their_datacenter", |world| {
        topology::requests_stay_in_their_datacenter(world).boxed_local()
    }),
];

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let filters: Vec<_> = arguments
        .iter()
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    let is_wanted = |name: &str| {
        filters.is_empty() || filters.iter().any(|filter| name.contains(filter.as_str()))
    };
    let repeat = arguments
        .iter()
        .find_map(|argument| argument.strip_prefix("--repeat="))
        .map_or(1, |times| times.parse().expect("--repeat takes a number"));
    let wanted: Vec<_> = SCENARIOS
        .iter()
        .filter(|(name, _)| is_wanted(name))
        .flat_map(|scenario| std::iter::repeat_n(scenario, repeat))
        .collect();
    if wanted.is_empty() {
        return ExitCode::SUCCESS;
    }
    if arguments.iter().any(|argument| argument == "--list") {
        for (name, _) in wanted {
            println!("{name}: test");
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
async fn run(scenarios: &[&(&str, Scenario)]) -> usize {
    let began = Instant::now();
    let world = World::create().await;
    println!("the cluster is up after {:.0?}", began.elapsed());
    let mut failed = 0;
    for (name, scenario) in scenarios {
        let began = Instant::now();
        let outcome = AssertUnwindSafe(scenario(&world)).catch_unwind().await;
        failed += usize::from(outcome.is_err());
        let verdict = if outcome.is_ok() { "ok" } else { "FAILED" };
        println!("test {name} ... {verdict} ({:.0?})", began.elapsed());
    }
    failed
}
