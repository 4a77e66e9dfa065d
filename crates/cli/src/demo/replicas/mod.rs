//! The demo's second half: each key on two nodes, one of which turns slow for a while. A client
//! whose reads are latency-aware works beside one that always asks a key's owner first.
//!
//! Both send the same reads at the same times, so what differs is what the policy does.

mod check;
mod clients;
mod load;
pub(super) mod report;
mod tally;

use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior};

pub(super) use self::check::Observed;
use self::check::{Phase, Traffic};
use self::clients::{Both, Clients};
use self::load::Load;
use super::choose;
use super::cluster::{self, Cluster};
use super::live::{Screen, State};
use super::load::Seen;
use crate::answer::Failure;
use crate::args;
use crate::context::Settings;
use crate::words::grouped;

/// On how many nodes each key is.
const REPLICAS: usize = 2;

/// The most nodes that take part: among more, too few reads would go to each for its latency to
/// be known soon, and for the slow one to show in the 99th percentile of all.
const MOST_NODES: usize = 5;

/// How late the slow node answers: far beyond the noise of a busy machine.
const LATE: Duration = Duration::from_millis(50);

/// How many reads of each client a phase has at least: enough for a 99th percentile.
const LEAST_READS: u64 = 300;

/// How long anything may take that the demo waits for. The longest, a slow node's way back, takes
/// about a second.
const PATIENCE: Duration = Duration::from_secs(20);

/// How often it is looked whether what is waited for has come.
const POLL: Duration = Duration::from_millis(2);

/// The names of the nodes that take part.
pub(super) fn taking_part(cluster: &Cluster) -> &[String] {
    &cluster.names[..cluster.names.len().min(MOST_NODES)]
}

/// The script, from storing the keys to the slow node that has its share back.
pub(super) async fn play(
    cluster: &Cluster,
    args: &args::Demo,
    settings: &Settings,
    screen: &mut Screen<'_>,
) -> Result<Observed, Failure> {
    let keys = cluster.keys.len();
    let (slow, _) = choose(taking_part(cluster).len(), args.seed);
    let clients = Clients::connect(cluster, settings).await?;
    let name = &cluster.names[slow];
    let faults = cluster.servers[slow].faults();

    screen.title(format!("storing {} keys on 2 nodes each", grouped(keys)));
    let stored = cluster::store(&clients.both.aware, &cluster.keys);
    let unstored = screen.during(stored).await?;

    let load = Load::start(&clients, cluster, args.seed);
    clients.show(screen);
    let measured = || clients.are_all_within();
    screen.title("each key on 2 nodes, all nodes are well".to_owned());
    screen.during(until(measured, Instant::now())).await?;
    let before = phase(&clients, args.phase, screen).await?;
    screen.during(until(measured, Instant::now())).await?;

    screen.title(format!("{name} answers {LATE:?} late"));
    screen.state(slow, State::Slow);
    faults.set_latency(LATE);
    let slowed_at = Instant::now();
    let noticed = || clients.is_penalised(slow);
    let noticed = screen.during(until(noticed, slowed_at)).await?;
    // What was asked of it before is no part of what the policy does about it.
    let idle = || clients.is_idle(slow);
    screen.during(until(idle, Instant::now())).await?;
    screen.title(format!("{name} answers {LATE:?} late and is avoided"));
    let during = phase(&clients, args.phase, screen).await?;

    screen.title(format!("{name} is well again"));
    screen.state(slow, State::Well);
    faults.set_latency(Duration::ZERO);
    let healed_at = Instant::now();
    let (mut probed, mut back) = (None, None);
    if noticed.is_some() {
        let seen = || !clients.is_penalised(slow);
        probed = screen.during(until(seen, healed_at)).await?;
        let full = || clients.has_full_share(slow);
        back = screen.during(until(full, healed_at)).await?;
    }
    let after = phase(&clients, args.phase, screen).await?;

    load.stop().await;
    let observed = Observed {
        name: name.clone(),
        slow,
        keys,
        unstored,
        before,
        during,
        after,
        noticed,
        probed,
        back,
        probes: clients.probes(),
        reads: clients.reads(),
    };
    clients.close().await;
    Ok(observed)
}

/// What was seen in so much time, and in more if it takes longer until there were enough reads.
async fn phase(
    clients: &Clients,
    least: Duration,
    screen: &mut Screen<'_>,
) -> Result<Phase, Failure> {
    let beginning = clients.snapshot();
    screen.during(tokio::time::sleep(least)).await?;
    let fresh = |seen: &Seen, then: &Traffic| seen.latency.total() - then.reads.latency.total();
    let enough = || {
        let Both { aware, plain } = clients.reads();
        let fewest = fresh(&aware, &beginning.aware).min(fresh(&plain, &beginning.plain));
        fewest >= LEAST_READS
    };
    screen.during(until(enough, Instant::now())).await?;
    Ok(clients.snapshot().since(&beginning))
}

/// Waits until it holds; tells how long after `since` that was. `None` if it takes too long.
async fn until(holds: impl Fn() -> bool, since: Instant) -> Option<Duration> {
    let wait = async {
        let mut polls = tokio::time::interval(POLL);
        polls.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while !holds() {
            polls.tick().await;
        }
        since.elapsed()
    };
    tokio::time::timeout(PATIENCE, wait).await.ok()
}
