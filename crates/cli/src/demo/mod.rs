//! `demo`: what Steersman does, shown and checked on a cluster inside this process.
//!
//! The script is here: of the first half, in which keys have one node each and nodes fail; that of
//! the second half, in which a latency-aware client avoids a slow one, is in `replicas`. It acts on
//! the `cluster` under `load`, writes down what happened, and leaves the judgement to `check` and
//! the words to `report`. At a terminal `live` shows it while it happens.

mod check;
mod cluster;
mod data;
mod live;
mod load;
mod replicas;
mod report;

use std::io::Write;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use steersman_memcached::{Event, EventStream};
use tokio::time::Instant;

use self::check::{Observed, Promise};
use self::cluster::Cluster;
use self::live::{Screen, State};
use self::load::{Load, between};
use crate::answer::{Answer, Failure};
use crate::args;
use crate::context::Settings;
use crate::words::grouped;

/// How long a phase may be measured: long enough to see a slow read.
const PHASE: RangeInclusive<Duration> = Duration::from_millis(100)..=Duration::from_secs(60);

/// How late the slow node answers.
const LATE: Duration = Duration::from_millis(25);

/// How long the client may take to notice that a node died or came back. It takes some 100 ms.
const PATIENCE: Duration = Duration::from_secs(10);

/// Both halves as they were observed.
struct Story {
    failures: Observed,
    replicas: replicas::Observed,
    took: Duration,
}

impl Story {
    /// The promises of both halves.
    fn promises(&self) -> Vec<Promise> {
        let mut promises = self.failures.promises();
        promises.extend(self.replicas.promises());
        promises
    }
}

pub(crate) async fn run(
    args: &args::Demo,
    settings: &Settings,
    out: &mut dyn Write,
) -> Result<Answer, Failure> {
    if !PHASE.contains(&args.phase) {
        return Err(Failure::told(format!(
            "--phase {:?} is out of range; choose 100ms to 1m",
            args.phase
        )));
    }
    let cluster = Arc::new(Cluster::start(args, settings).await?);
    let started = Instant::now();
    let mut screen = Screen::new(out, !settings.json, &cluster.names);
    let failures = play(&cluster, args, &mut screen).await?;
    screen.clear()?;
    cluster.client.close().await;

    let names = replicas::taking_part(&cluster);
    let mut screen = Screen::new(out, !settings.json, names);
    let replicas = replicas::play(&cluster, args, settings, &mut screen).await?;
    screen.clear()?;

    let story = Story {
        failures,
        replicas,
        took: started.elapsed(),
    };
    if settings.json {
        report::json(&story).write_line(out)?;
    } else {
        report::write(&story, out)?;
    }
    let promises = story.promises();
    Ok(Answer::of(promises.iter().all(|promise| promise.kept)))
}

/// The script of the first half, from loading the keys to the node that comes back.
async fn play(
    cluster: &Arc<Cluster>,
    args: &args::Demo,
    screen: &mut Screen<'_>,
) -> Result<Observed, Failure> {
    let started = Instant::now();
    let (slow, dead) = choose(cluster.names.len(), args.seed);
    let (slow_name, dead_name) = (&cluster.names[slow], &cluster.names[dead]);
    let all = 0..cluster.keys.len();

    screen.owners(&cluster.home);
    screen.title(format!("loading {} keys", grouped(all.len())));
    let unloaded = screen.during(cluster.fill(all)).await?;
    let loading = started.elapsed();
    let loaded = screen.during(cluster.sweep()).await?;
    let items = cluster.items().await?;

    let load = Load::start(cluster, args.seed);
    screen.watch(&load);
    let window = || tokio::time::sleep(args.phase);

    screen.title("all nodes are well".to_owned());
    let beginning = load.snapshot();
    screen.during(window()).await?;
    let calm = load.snapshot();

    screen.title(format!("{slow_name} answers {LATE:?} late"));
    screen.state(slow, State::Slow);
    cluster.servers[slow].faults().set_latency(LATE);
    screen.during(window()).await?;
    cluster.servers[slow].faults().set_latency(Duration::ZERO);
    let slowed = load.snapshot();
    screen.state(slow, State::Well);

    screen.title(format!("{dead_name} was killed under load"));
    screen.state(dead, State::Dead);
    let mut events = cluster.client.events();
    let killed_at = Instant::now();
    cluster.servers[dead].stop().await;
    let gone =
        |event: &Event| matches!(event, Event::NodeUnhealthy { node, .. } if **node == **dead_name);
    let failover = screen.during(told(&mut events, gone, killed_at)).await?;
    let while_dead = cluster.owners()?;
    screen.owners(&while_dead);
    screen.during(window()).await?;
    let sweep_while_dead = screen.during(cluster.sweep()).await?;
    let killed = load.snapshot();

    screen.title(format!("{dead_name} came back empty"));
    let started_at = Instant::now();
    cluster.servers[dead]
        .restart()
        .await
        .map_err(|error| Failure::told(format!("cannot start {dead_name} again: {error}")))?;
    let back =
        |event: &Event| matches!(event, Event::NodeHealthy { node } if **node == **dead_name);
    let comeback = screen.during(told(&mut events, back, started_at)).await?;
    screen.state(dead, State::Well);
    let at_the_end = cluster.owners()?;
    screen.owners(&at_the_end);
    screen.during(window()).await?;
    let all_seen = load.stop().await;

    // What nobody happened to read since the node came back is filled now.
    let unread = cluster.sweep().await;
    let unfilled = cluster.fill(unread.missing.iter().copied()).await;
    let last = cluster.sweep().await;
    Ok(Observed {
        names: cluster.names.clone(),
        seed: args.seed,
        slow,
        dead,
        loading,
        unloaded,
        loaded,
        items,
        calm: between(&beginning, &calm),
        slowed: between(&calm, &slowed),
        killed: between(&slowed, &killed),
        failover,
        sweep_while_dead,
        returned: between(&killed, &all_seen),
        comeback,
        unread,
        unfilled,
        last,
        home: cluster.home.clone(),
        while_dead,
        at_the_end,
        seen: all_seen,
    })
}

/// Which node becomes slow and which is killed.
fn choose(nodes: usize, seed: u64) -> (usize, usize) {
    let mut random = fastrand::Rng::with_seed(seed);
    let slow = random.usize(..nodes);
    let dead = (slow + random.usize(1..nodes)) % nodes;
    (slow, dead)
}

/// How long after `since` the event came; `None` if it did not come.
async fn told(
    events: &mut EventStream,
    is_meant: impl Fn(&Event) -> bool,
    since: Instant,
) -> Option<Duration> {
    let wait = async {
        while let Some(event) = events.recv().await {
            if is_meant(&event) {
                return Some(since.elapsed());
            }
        }
        None
    };
    tokio::time::timeout(PATIENCE, wait).await.ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::choose;

    #[test]
    fn two_different_nodes_suffer_the_same_for_equal_seeds() {
        for nodes in [2, 3, 64] {
            for seed in 0..100 {
                let (slow, dead) = choose(nodes, seed);
                assert_ne!(slow, dead);
                assert!(slow.max(dead) < nodes);
                assert_eq!(choose(nodes, seed), (slow, dead));
            }
        }
    }
}
