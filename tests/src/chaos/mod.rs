//! Chaos: real servers that fail in every way there is, under full load, and what holds all the same.
//!
//! A run consists of **rounds**. In each there are new clients, whose callers never pause, and two **sides** of
//! nodes on each of which one fault after the other happens. At the end of a round the faults are over, and
//! everything has to be well again: see [`round`]. Which fault strikes when, and what the callers draw,
//! follows from a seed. What the machine does meanwhile does not, so a seed repeats what was done
//! to the servers rather than every interleaving.

pub mod clients;
pub mod fault;
pub mod impostor;
mod judge;
pub mod key;
pub mod node;
pub mod occupant;
pub mod report;
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
    let mut nodes = Vec::new();
    for (home, role) in Role::ALL.into_iter().enumerate() {
        nodes.push(Node::start(role, home).await?);
    }
    let names: Vec<String> = nodes.iter().map(Node::name).collect();
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
        let client = kind.build(&names)?;
        Key::all(kind, KEYS, &client, &names).map(Arc::new)
    });
    let [plain, tight, replicated] = keys;
    let keys = [plain?, tight?, replicated?];
    // The clients that said where keys live are gone by then.
    for node in &nodes {
        node.deserted().await;
    }
    let right = nodes.split_off(nodes.len() / 2);
    let mut sides = Vec::new();
    for nodes in [nodes, right] {
        sides.push(Side::new(random.u64(..), nodes));
    }

    let measured = stage.pace.start();
    let mut report = Report::new(options.seed, names.len());
    report.memory_at_first = Vitals::now()?.memory;
    while measured.elapsed() < options.duration && stage.broken.count() == 0 {
        let left = options.duration.saturating_sub(measured.elapsed());
        let round = Round {
            stage: &stage,
            names: &names,
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
