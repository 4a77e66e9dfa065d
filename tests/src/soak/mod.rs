//! Soak: constant load for a long time while servers are restarted one after the other. What the process
//! holds must not grow, and every answer has to be right.

pub mod plot;
pub mod report;
pub mod sample;
pub mod trend;

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fastrand::Rng;
use futures_util::future::join;
use steersman_memcached::Client;
use steersman_testkit::ledger::Ledger;
use tokio::task::{JoinHandle, block_in_place};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};

use self::report::Report;
use self::sample::Latencies;
use crate::chaos::clients::Kind;
use crate::chaos::key::Key;
use crate::chaos::stage::Stage;
use crate::chaos::tally::{Broken, Tally};
use crate::chaos::workload::Caller;
use crate::memcached::RealMemcached;
use crate::pace::Pace;
use crate::vitals::Vitals;

const SERVERS: usize = 3;
/// How many tasks each client has.
const CALLERS: u32 = 32;
const KEYS: usize = 2_000;
/// From one restart to the next.
const RESTART_EVERY: Duration = Duration::from_secs(5);
/// How long a server is down.
const DOWN: Duration = Duration::from_millis(300);
/// How many samples a run has at most; none takes less than a second.
const SAMPLES: u32 = 240;

/// What is to be done.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// What everything that is drawn follows from.
    pub seed: u64,
    /// For how long.
    pub duration: Duration,
    /// How many operations begin in a second, about.
    pub rate: u32,
}

/// Loads servers that are restarted one after the other.
///
/// # Errors
///
/// If a server cannot be started. A promise that is broken is no error but in the report.
///
/// # Panics
///
/// Outside of a Tokio runtime of several threads.
pub async fn run(options: Options) -> Result<Report, Box<dyn Error>> {
    let mut servers = Vec::new();
    for _ in 0..SERVERS {
        servers.push(block_in_place(RealMemcached::start)?);
    }
    let names: Vec<String> = servers.iter().map(RealMemcached::node).collect();
    let stage = Arc::new(Stage {
        ledger: Ledger::new(),
        broken: Broken::default(),
        pace: Pace::watch(),
        stop: AtomicBool::new(false),
    });
    let latencies = Arc::new(Latencies::default());
    let mut callers = Vec::new();
    let mut clients = Vec::new();
    for (kind, number) in [Kind::Plain, Kind::Replicated].into_iter().zip(0..) {
        let client = kind.builder(&names).build()?;
        client.ready(Duration::from_secs(30)).await?;
        let keys = Arc::new(Key::all(kind, KEYS, &client, &names)?);
        for writer in number * CALLERS..(number + 1) * CALLERS {
            let caller = Caller {
                stage: Arc::clone(&stage),
                kind,
                client: client.clone(),
                keys: Arc::clone(&keys),
                writer,
                random: Rng::with_seed(options.seed ^ u64::from(writer)),
                tally: Tally::new(SERVERS),
                latencies: Some(Arc::clone(&latencies)),
            };
            let every = Duration::from_secs(1) * (2 * CALLERS) / options.rate.max(1);
            callers.push(tokio::spawn(paced(caller, every)));
        }
        clients.push(client);
    }
    let mut report = Report::new(options, SERVERS);
    let began = Instant::now();
    let end = began + options.duration;
    let (samples, marks) = join(
        sample(&latencies, began, end, options.duration),
        restart(&mut servers, &stage, began, end),
    )
    .await;
    (report.samples, report.restarts) = (samples?, marks?);
    stage.stop.store(true, Ordering::Relaxed);
    report.tally = finish(callers, &clients, &stage).await;
    report.seconds_lost = stage.pace.lost().as_secs_f64();
    report.judge(&stage.broken);
    Ok(report)
}

/// Makes a caller's calls at a constant rate, as far as they end in time.
async fn paced(mut caller: Caller, every: Duration) -> Tally {
    let mut ticks = interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let stage = Arc::clone(&caller.stage);
    // Not all at the same moment.
    sleep(every.mul_f64(caller.random.f64())).await;
    while !stage.stop.load(Ordering::Relaxed) {
        ticks.tick().await;
        caller.call().await;
    }
    caller.tally
}

async fn sample(
    latencies: &Latencies,
    began: Instant,
    end: Instant,
    duration: Duration,
) -> std::io::Result<Vec<sample::Sample>> {
    let mut ticks = interval((duration / SAMPLES).max(Duration::from_secs(1)));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks.tick().await;
    let mut samples = Vec::new();
    let mut last = 0.0;
    while Instant::now() < end {
        ticks.tick().await;
        let seconds = began.elapsed().as_secs_f64();
        samples.push(latencies.take(seconds, seconds - last, Vitals::now()?));
        last = seconds;
    }
    Ok(samples)
}

/// Restarts one server after the other; says when.
async fn restart(
    servers: &mut [RealMemcached],
    stage: &Stage,
    began: Instant,
    end: Instant,
) -> std::io::Result<Vec<f64>> {
    let mut marks = Vec::new();
    for home in (0..servers.len()).cycle() {
        sleep(RESTART_EVERY).await;
        if Instant::now() >= end {
            break;
        }
        marks.push(began.elapsed().as_secs_f64());
        let loss = stage.ledger.loss(home);
        block_in_place(|| servers[home].kill())?;
        loss.ended();
        // Its connections went straight to it and ended with it, and with them all that was on its way.
        stage.ledger.settle(home);
        sleep(DOWN).await;
        block_in_place(|| servers[home].restart())?;
    }
    Ok(marks)
}

async fn finish(callers: Vec<JoinHandle<Tally>>, clients: &[Client], stage: &Stage) -> Tally {
    let mut sum = Tally::new(SERVERS);
    for caller in callers {
        match caller.await {
            Ok(tally) => sum.add(&tally),
            Err(failure) => stage.broken.report(failure),
        }
    }
    for client in clients {
        client.close().await;
    }
    sum
}
