//! One run: the plan of a seed is carried out, and what became of it held against the invariants.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use steersman_memcached::{Client, ErrorKind, PoolMetrics, Result};
use tokio::runtime::{Builder, Handle};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::history::{History, Sample};
use crate::invariants::{self, Violation};
use crate::network::Reach;
use crate::plan::Plan;
use crate::trace::Trace;
use crate::workload::{self, Ledger, Worker};
use crate::world::World;

/// How often the figures of pools are looked at.
const SAMPLE_EVERY: Duration = Duration::from_millis(100);

/// How often each key is asked for while all is to become well.
const PROBE_EVERY: Duration = Duration::from_millis(250);

/// A call that is refused because all places are taken is made so many times more.
const MOST_OVERLOADED: usize = 4;

/// So much later than its time-out no call ends.
const GRACE: Duration = Duration::from_secs(10);

/// What became of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The seed.
    pub seed: u64,
    /// A hash of all that happened, in its order: equal for equal seeds.
    pub hash: u64,
    /// How much happened.
    pub events: u64,
    /// How many calls were made.
    pub calls: usize,
    /// How many of them failed or were dropped.
    pub failed: usize,
    /// How many faults there were.
    pub faults: usize,
    /// The most memory that the run took at a time, in bytes.
    pub memory: u64,
    /// The virtual time that it took.
    pub time: Duration,
    /// What must not happen and did.
    pub violations: Vec<Violation>,
}

/// Carries out the plan of a seed, in a thread of its own; prints all that happens, if wanted.
///
/// # Panics
///
/// If the client or the server panics.
pub fn run(seed: u64, prints: bool) -> Report {
    // What a thread keeps for itself begins anew.
    let run = std::thread::spawn(move || {
        let mut report = None;
        let footprint = allocation_counter::measure(|| {
            report = Some(carry_out(seed, prints));
        });
        let mut report = report.expect("measuring runs what it measures");
        report.memory = footprint.bytes_max;
        report.violations.extend(invariants::footprint(
            footprint.bytes_max,
            footprint.bytes_current,
        ));
        report
    });
    run.join().expect("nothing panics in a run")
}

fn carry_out(seed: u64, prints: bool) -> Report {
    fastrand::seed(seed);
    let plan = Arc::new(Plan::of(seed));
    let runtime = Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime without I/O needs nothing");
    let (history, mut report) = runtime.block_on(async {
        let begun = Instant::now();
        let trace = Arc::new(Trace::new(prints));
        trace.note(&*plan);
        let history = simulate(&plan, &trace)
            .await
            .expect("servers need nothing to start");
        let (events, hash) = trace.summary();
        let report = Report {
            seed,
            hash,
            events,
            calls: history.calls.len(),
            failed: history
                .calls
                .iter()
                .filter(|call| call.has_failed())
                .count(),
            faults: plan.faults.len(),
            memory: 0,
            time: begun.elapsed(),
            violations: Vec::new(),
        };
        (history, report)
    });
    drop(runtime);
    report.violations = invariants::check(&history);
    report
}

async fn simulate(plan: &Arc<Plan>, trace: &Arc<Trace>) -> io::Result<History> {
    let world = World::new(plan, Arc::clone(trace)).await?;
    let clients = clients(plan, &world);
    let ledger = Arc::new(Ledger::new(Arc::clone(trace)));
    let mut history = History {
        clients: plan
            .clients
            .iter()
            .map(|client| client.limits(plan.is_plain()))
            .collect(),
        copies: plan.copies(),
        ..History::default()
    };

    let begun = Instant::now();
    let mut workers = JoinSet::new();
    for worker in Worker::all(plan, &clients, &ledger) {
        workers.spawn(worker.work(begun + plan.length));
    }
    let faults = provoke(plan, &world, begun);
    watch(&world, &clients, &mut history, faults).await?;
    world.heal();
    let patience = plan
        .clients
        .iter()
        .map(|client| client.timeout)
        .max()
        .unwrap_or_default();
    let all_ended = async { while workers.join_next().await.is_some() {} };
    // Those that hang are counted below.
    let _ = tokio::time::timeout(patience + GRACE, all_ended).await;
    workers.abort_all();

    let mut probes = vec![0; clients.len()];
    let convalescence = convalesce(plan, &clients, &mut probes);
    watch(&world, &clients, &mut history, convalescence).await?;
    history.probes = probes;
    examine(plan, &clients, &mut history).await;
    trace.note(&"close");
    for client in &clients {
        client.close().await;
        let mut pools: Vec<_> = client.connection_pool_metrics().into_iter().collect();
        pools.sort_by(|one, other| one.0.cmp(&other.0));
        history.closed.push(pools);
    }
    let count = clients.len();
    drop((clients, workers));
    (history.calls, history.remains.calls) = ledger.close();
    history.facts = world.take_facts();
    history.leaps = world.leaps();
    // Everything that is to end has a moment to do so.
    tokio::time::sleep(GRACE).await;
    history.remains.connections = (0..count)
        .map(|client| world.network.open_connections(client))
        .collect();
    world.shut_down().await;
    drop(world);
    tokio::time::sleep(Duration::from_millis(1)).await;
    history.remains.tasks = Handle::current().metrics().num_alive_tasks();
    Ok(history)
}

fn clients(plan: &Plan, world: &World) -> Vec<Client> {
    let clients = plan.clients.iter().enumerate().map(|(number, options)| {
        let reach = Reach {
            network: Arc::clone(&world.network),
            names: Arc::clone(&world.names),
            client: number,
        };
        let mut builder = options.builder().connector(reach);
        if plan.discovers {
            builder = builder.discovery(world.inventory.clone());
        } else {
            builder = builder.nodes(world.first_members());
        }
        if plan.replicas > 1 {
            builder = builder.replicas(plan.replicas);
        }
        builder.build().expect("the plan's options are valid")
    });
    clients.collect()
}

/// Makes the faults begin and end at their time, until the plan's end.
async fn provoke(plan: &Plan, world: &World, begun: Instant) -> io::Result<()> {
    for (at, fault) in &plan.faults {
        tokio::time::sleep_until(begun + *at).await;
        world.apply(fault).await?;
    }
    tokio::time::sleep_until(begun + plan.length).await;
    Ok(())
}

/// Looks at all figures from time to time until something is done.
async fn watch(
    world: &World,
    clients: &[Client],
    history: &mut History,
    work: impl Future<Output = io::Result<()>>,
) -> io::Result<()> {
    let mut work = std::pin::pin!(work);
    loop {
        let done = tokio::time::timeout(SAMPLE_EVERY, work.as_mut()).await;
        let most = world.network.most_under_way();
        history.remains.most_under_way = history.remains.most_under_way.max(most);
        for (client, handle) in clients.iter().enumerate() {
            let pools = handle.connection_pool_metrics().into_iter();
            let mut pools: Vec<(String, PoolMetrics)> = pools.collect();
            pools.sort_by(|one, other| one.0.cmp(&other.0));
            for (node, metrics) in pools {
                let when = world
                    .trace
                    .note(&(client, &node, metrics.operations_executed));
                history.samples.push(Sample {
                    when,
                    client,
                    node,
                    metrics,
                });
            }
        }
        if let Ok(done) = done {
            return done;
        }
    }
}

/// Asks for every key again and again, as callers would, until all has to be well; counts the calls of each
/// client.
async fn convalesce(plan: &Plan, clients: &[Client], probes: &mut [u64]) -> io::Result<()> {
    let until = Instant::now() + plan.convalescence();
    let asking = async {
        loop {
            for (client, probes) in clients.iter().zip(&mut *probes) {
                for key in workload::keys(plan) {
                    *probes += 1;
                    // How it ends does not matter yet.
                    let _ = client.get(key).await;
                }
            }
            tokio::time::sleep(PROBE_EVERY).await;
        }
    };
    let _ = tokio::time::timeout_at(until, asking).await;
    Ok(())
}

/// Finds what is not well though it should be.
async fn examine(plan: &Plan, clients: &[Client], history: &mut History) {
    for (number, client) in clients.iter().enumerate() {
        for node in client.unhealthy_nodes() {
            history
                .ailments
                .push(format!("client {number} takes {node} for unhealthy"));
        }
        for key in workload::keys(plan) {
            let value = format!("well {number}");
            let probes = &mut history.probes[number];
            let set = patiently(probes, || client.set(&key, value.clone())).await;
            if let Err(error) = set {
                let what = format!("client {number} cannot set {key}: {error}");
                history.ailments.push(what);
                continue;
            }
            match patiently(probes, || client.get(&key)).await {
                Ok(Some(found)) if found.data == value => {}
                found => {
                    let what = format!("client {number} has set {key}, and got {found:?}");
                    history.ailments.push(what);
                }
            }
        }
    }
}

/// Makes a call, again and again as long as others have taken all places of a client that lets nobody wait;
/// counts the calls.
async fn patiently<T, C>(probes: &mut u64, call: impl Fn() -> C) -> Result<T>
where
    C: IntoFuture<Output = Result<T>>,
{
    for _ in 0..MOST_OVERLOADED {
        *probes += 1;
        match call().await {
            Err(error) if error.kind() == ErrorKind::Overloaded => {
                tokio::time::sleep(PROBE_EVERY).await;
            }
            answer => return answer,
        }
    }
    *probes += 1;
    call().await
}
