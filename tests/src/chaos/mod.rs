//! Chaos: real servers that fail in every way there is, under full load, and what holds all the same.
//!
//! A run consists of **rounds**. In each there are new clients, whose callers never pause, and three **sides** of
//! nodes on each of which one fault after the other happens. At the end of a round the faults are over, and
//! everything has to be well again: see [`round`]. Which fault strikes when, and what the callers draw,
//! follows from a seed. What the machine does meanwhile does not, so a seed repeats what was done
//! to the servers rather than every interleaving.

pub mod clients;
pub mod cluster;
pub mod fault;
pub mod guard;
pub mod impostor;
mod judge;
pub mod key;
pub mod line;
pub mod node;
pub mod occupant;
pub mod report;
pub mod roster;
pub mod round;
pub mod schedule;
pub mod side;
pub mod stage;
pub mod subject;
pub mod tally;
pub mod workload;

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use fastrand::Rng;
use steersman_testkit::ledger::Ledger;

use self::clients::Kind;
use self::cluster::Cluster;
use self::guard::Guard;
use self::key::Key;
use self::node::{Node, Role};
use self::report::Report;
use self::round::Round;
use self::side::Side;
use self::stage::Stage;
use self::tally::Broken;
use crate::pace::Pace;
use crate::vitals::Vitals;

/// How long faults happen in one round.
const ROUND: Duration = Duration::from_secs(14);
/// How many nodes of which one at a time is struck.
const NODES_OF_A_SIDE: usize = 3;
/// How many keys there are of each kind of client that has its own.
const KEYS: usize = 1_200;
/// By how much the process may grow: what the clients may hold in their buffers and queues, and the ledger.
const MEMORY_BOUND: u64 = 128 << 20;

/// What is to be done.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// What everything that is drawn follows from.
    pub seed: u64,
    /// How long faults happen in all, about.
    pub duration: Duration,
}

/// Lets servers fail for a while.
///
/// # Errors
///
/// If a server cannot be started or be made to fail. A broken promise is no error but in the report.
///
/// # Panics
///
/// Outside of a Tokio runtime of several threads.
pub async fn run(options: Options) -> Result<Report, Box<dyn Error>> {
    let mut random = Rng::with_seed(options.seed);
    let guard = Guard::new()?;
    let mut nodes = Vec::new();
    for (home, role) in Role::ALL.into_iter().enumerate() {
        nodes.push(Node::start(role, home, &guard).await?);
    }
    let names = nodes.iter().map(Node::name).collect();
    let cluster = Arc::new(Cluster::new(names, guard));
    let stage = Arc::new(Stage {
        ledger: Ledger::new(),
        broken: Broken::default(),
        pace: Pace::watch(),
        stop: AtomicBool::new(false),
    });
    for node in nodes.iter().filter(|node| node.role == Role::Full) {
        stage.ledger.may_lack_memory(node.home);
    }
    let keys = Kind::ALL.map(|kind| {
        let client = kind.builder(&cluster.names[kind.homes()]).build()?;
        Key::all(kind, KEYS, &client, &cluster.names).map(Arc::new)
    });
    let [plain, tight, replicated, guarded] = keys;
    let keys = [plain?, tight?, replicated?, guarded?];
    // The clients that said where keys live are gone by then.
    for node in &nodes {
        node.deserted().await;
    }
    let mut sides = Vec::new();
    while !nodes.is_empty() {
        let others = nodes.split_off(NODES_OF_A_SIDE);
        sides.push(Side::new(random.u64(..), nodes));
        nodes = others;
    }

    let measured = stage.pace.start();
    let mut report = Report::new(options.seed, cluster.names.len());
    report.memory_at_first = Vitals::now()?.memory;
    while measured.elapsed() < options.duration && stage.broken.count() == 0 {
        let left = options.duration.saturating_sub(measured.elapsed());
        let round = Round {
            stage: &stage,
            cluster: &cluster,
            keys: &keys,
            seed: random.u64(..),
            lasts: left.min(ROUND),
        };
        sides = round.run(sides, &mut report).await?;
        eprintln!("{report:#}");
    }
    let growth = report.peak_memory.saturating_sub(report.memory_at_first);
    if growth > MEMORY_BOUND {
        stage.broken.report(format_args!(
            "the process has grown by {growth} bytes, which is more than {MEMORY_BOUND}"
        ));
    }
    report.seconds = measured.elapsed().as_secs_f64();
    report.seconds_lost = stage.pace.lost().as_secs_f64();
    report.broken_promises = stage.broken.count();
    report.broken = stage.broken.told();
    Ok(report)
}
