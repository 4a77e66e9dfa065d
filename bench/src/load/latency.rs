//! How long reads took.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// So many threads can record at once without waiting for each other.
const STRIPES: usize = 8;

/// The longest latency that is told apart: a minute, in nanoseconds.
const MOST: u64 = 60_000_000_000;

/// Threads have numbers, in the order in which they record for the first time.
static THREADS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static STRIPE: usize = THREADS.fetch_add(1, Ordering::Relaxed) % STRIPES;
}

/// Latencies, recorded by any number of tasks; each thread has a histogram of its own, which stays
/// in its cache.
pub(super) struct Latencies(Vec<Mutex<Histogram<u64>>>);

/// Percentiles of latencies, in microseconds.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Percentiles {
    pub(crate) count: u64,
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    pub(crate) p999_us: f64,
    pub(crate) most_us: f64,
}

impl Latencies {
    pub(super) fn new() -> Result<Self, String> {
        // Three digits: a percentile is off by a thousandth at most.
        let stripe = || Histogram::new_with_bounds(1, MOST, 3).map(Mutex::new);
        let stripes: Result<_, _> = (0..STRIPES).map(|_| stripe()).collect();
        stripes
            .map(Self)
            .map_err(|error| format!("no histogram: {error}"))
    }

    pub(super) fn record(&self, latency: Duration) {
        let nanoseconds = u64::try_from(latency.as_nanos()).unwrap_or(MOST);
        let mut stripe = self.0[STRIPE.with(|stripe| *stripe)]
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        stripe.saturating_record(nanoseconds);
    }

    pub(super) fn percentiles(&self) -> Result<Percentiles, String> {
        let mut all = Histogram::<u64>::new_with_bounds(1, MOST, 3)
            .map_err(|error| format!("no histogram: {error}"))?;
        for stripe in &self.0 {
            let stripe = stripe.lock().unwrap_or_else(PoisonError::into_inner);
            all.add(&*stripe)
                .map_err(|error| format!("no sum: {error}"))?;
        }
        let micros = |nanoseconds: u64| nanoseconds as f64 / 1e3;
        Ok(Percentiles {
            count: all.len(),
            p50_us: micros(all.value_at_quantile(0.5)),
            p99_us: micros(all.value_at_quantile(0.99)),
            p999_us: micros(all.value_at_quantile(0.999)),
            most_us: micros(all.max()),
        })
    }
}
