//! Very many tasks at once: what they get through, and how evenly.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use steersman_bench_contract::{Phase, keys, runtime, within};
use steersman_memcached::Client;

use super::latency::{Latencies, Percentiles};
use super::{argument, connect};
use crate::plan::VALUE;

/// What a crowd of tasks sees.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Crowd {
    pub(crate) tasks: usize,
    /// Reads a second.
    pub(crate) rate: f64,
    pub(crate) latency: Percentiles,
    pub(crate) errors: u64,
}

/// `SERVER TASKS SECONDS`
pub(super) fn run(args: &[String]) -> Result<Crowd, String> {
    let server: String = argument(args, 0, "SERVER")?;
    let tasks: usize = argument(args, 1, "TASKS")?;
    let seconds: f64 = argument(args, 2, "SECONDS")?;
    let runtime = runtime(None)?;
    let client = within(&runtime, async move { connect(&server, 2).await })?;
    let latencies = Arc::new(Latencies::new()?);
    let phase = Phase::default();
    let handles: Vec<_> = (0..tasks)
        .map(|number| {
            let task = read(client.clone(), number, phase.clone(), latencies.clone());
            runtime.spawn(task)
        })
        .collect();
    let seconds = phase.conduct(Duration::from_secs_f64(seconds));
    let mut errors = 0;
    for handle in handles {
        errors += runtime
            .block_on(handle)
            .map_err(|error| error.to_string())?;
    }
    let latency = latencies.percentiles()?;
    Ok(Crowd {
        tasks,
        rate: latency.count as f64 / seconds,
        latency,
        errors,
    })
}

/// Returns how many reads failed.
async fn read(client: Client, number: usize, phase: Phase, latencies: Arc<Latencies>) -> u64 {
    let keys = keys(number, 4, VALUE);
    let mut errors = 0;
    for key in keys.iter().cycle() {
        let counts = phase.is_counting();
        if !counts && !phase.is_warming() {
            break;
        }
        let began = Instant::now();
        let found = client.get(key).await;
        if counts {
            match found {
                Ok(Some(value)) if value.data.len() == VALUE => {
                    latencies.record(began.elapsed());
                }
                _ => errors += 1,
            }
        }
    }
    errors
}
