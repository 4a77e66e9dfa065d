//! Reads that are due at a given rate, whether earlier ones are answered or not.
//!
//! A thread wakes up every tick and starts the reads that are due by then, each as a task. A read's
//! latency counts from its tick, not from when it was started: what comes late because everything is
//! busy counts as late (Tene, "How NOT to Measure Latency": coordinated omission).

use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use steersman_bench_contract::{WARM_UP, keys, runtime, within};
use steersman_memcached::Client;
use tokio::runtime::Handle;

use super::latency::{Latencies, Percentiles};
use super::{argument, connect};
use crate::plan::VALUE;

const TICK: Duration = Duration::from_micros(200);

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
    let reader = Arc::new(Reader {
        client,
        keys,
        latencies: Latencies::new()?,
        errors: AtomicU64::new(0),
    });
    let failed = |error| format!("the timer's slack: {error}");
    rustix::thread::set_current_timer_slack(NonZeroU64::new(1000)).map_err(failed)?;
    pace(runtime.handle(), &reader, rate, span);
    // Every read that is not answered holds it.
    while Arc::strong_count(&reader) > 1 {
        thread::sleep(TICK);
    }
    Ok(Due {
        rate,
        latency: reader.latencies.percentiles()?,
        errors: reader.errors.load(Ordering::Relaxed),
    })
}

struct Reader {
    client: Client,
    keys: Vec<String>,
    latencies: Latencies,
    errors: AtomicU64,
}

/// Starts what is due, tick after tick. Reads of the warm-up do not count.
fn pace(runtime: &Handle, reader: &Arc<Reader>, rate: f64, span: Duration) {
    let began = Instant::now();
    let warm = began + WARM_UP;
    let end = warm + span;
    let mut started = 0;
    let mut tick = began;
    while tick < end {
        tick += TICK;
        thread::sleep(tick.saturating_duration_since(Instant::now()));
        let due = ((tick - began).as_secs_f64() * rate) as usize;
        let numbers = started..due;
        started = due;
        let reader = reader.clone();
        // One way into the runtime for a whole tick.
        runtime.spawn(async move {
            for number in numbers {
                tokio::spawn(reader.clone().read(number, tick, tick >= warm));
            }
        });
    }
}

impl Reader {
    async fn read(self: Arc<Self>, number: usize, due: Instant, counts: bool) {
        let found = self.client.get(&self.keys[number % KEYS]).await;
        let right = matches!(&found, Ok(Some(value)) if value.data.len() == VALUE);
        if !right {
            self.errors.fetch_add(1, Ordering::Relaxed);
        } else if counts {
            self.latencies.record(due.elapsed());
        }
    }
}
