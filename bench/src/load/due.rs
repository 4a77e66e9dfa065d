//! Reads that are due at a given rate, whether earlier ones are answered or not.
//!
//! A thread wakes up every tick and lets the reads begin that are due by then; as many tasks as reach the
//! highest rate take them in turn. A read's latency counts from when it was due, not from when a task
//! came to begin it: what comes late because everything is busy counts as late (Tene, "How NOT to
//! Measure Latency": coordinated omission).

use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use steersman_bench_contract::{WARM_UP, keys, runtime, within};
use steersman_memcached::Client;
use tokio::sync::Semaphore;

use super::latency::{Latencies, Percentiles};
use super::{argument, connect};
use crate::plan::VALUE;

const TICK: Duration = Duration::from_micros(200);

/// A rate that leaves reads over for longer than this is too high; those that nobody began failed.
const PATIENCE: Duration = Duration::from_secs(1);

/// How many tasks read: as many as the highest rate was measured with.
const TASKS: usize = 512;

/// How many different keys are read.
const KEYS: usize = 1024;

/// How a rate was served.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Due {
    /// Reads a second that were due.
    pub(crate) rate: f64,
    pub(crate) latency: Percentiles,
    pub(crate) errors: u64,
}

/// `SERVER RATE SECONDS`
pub(super) fn run(args: &[String]) -> Result<Due, String> {
    let server: String = argument(args, 0, "SERVER")?;
    let rate: f64 = argument(args, 1, "RATE")?;
    let span = Duration::from_secs_f64(argument(args, 2, "SECONDS")?);
    let runtime = runtime(None)?;
    let client = within(&runtime, async move { connect(&server, 2).await })?;
    let keys = keys(0, KEYS, VALUE);
    let reads = Arc::new(Reads {
        client,
        keys,
        rate,
        began: Instant::now(),
        due: Semaphore::new(0),
        next: AtomicUsize::new(0),
        latencies: Latencies::new()?,
        errors: AtomicU64::new(0),
    });
    let tasks: Vec<_> = (0..TASKS)
        .map(|_| runtime.spawn(reads.clone().read()))
        .collect();
    let failed = |error| format!("the timer's slack: {error}");
    rustix::thread::set_current_timer_slack(NonZeroU64::new(1000)).map_err(failed)?;
    reads.pace(WARM_UP + span);
    within(&runtime, async move {
        for task in tasks {
            task.await.map_err(|error| error.to_string())?;
        }
        Ok(())
    })?;
    Ok(Due {
        rate,
        latency: reads.latencies.percentiles()?,
        errors: reads.errors.load(Ordering::Relaxed),
    })
}

struct Reads {
    client: Client,
    keys: Vec<String>,
    rate: f64,
    began: Instant,
    /// A permit for each read that is due and that no task has begun.
    due: Semaphore,
    /// The number of the next read.
    next: AtomicUsize,
    latencies: Latencies,
    errors: AtomicU64,
}

impl Reads {
    /// Lets reads begin as they become due, tick after tick.
    fn pace(&self, span: Duration) {
        let mut given = 0;
        let mut tick = Duration::ZERO;
        while tick < span {
            tick += TICK;
            thread::sleep(tick.saturating_sub(self.began.elapsed()));
            let due = (tick.as_secs_f64() * self.rate) as usize;
            self.due.add_permits(due - given);
            given = due;
        }
        // What is left over is not waited for at length.
        let patience = Instant::now() + PATIENCE;
        while self.due.available_permits() > 0 && Instant::now() < patience {
            thread::sleep(TICK);
        }
        self.errors
            .fetch_add(self.due.available_permits() as u64, Ordering::Relaxed);
        self.due.close();
    }

    /// Reads what is due until nothing is any more. Reads of the warm-up do not count.
    async fn read(self: Arc<Self>) {
        while let Ok(permit) = self.due.acquire().await {
            permit.forget();
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let due = Duration::from_secs_f64(number as f64 / self.rate);
            let found = self.client.get(&self.keys[number % KEYS]).await;
            let right = matches!(&found, Ok(Some(value)) if value.data.len() == VALUE);
            if !right {
                self.errors.fetch_add(1, Ordering::Relaxed);
            } else if due >= WARM_UP {
                self.latencies
                    .record(self.began.elapsed().saturating_sub(due));
            }
        }
    }
}
