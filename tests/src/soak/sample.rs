//! How everything was in one stretch of time.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;

use crate::vitals::Vitals;

/// How everything was in one stretch of time.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Sample {
    /// When it ended, in seconds after the beginning.
    pub seconds: f64,
    /// How long it took, in seconds.
    pub lasted: f64,
    /// Calls that ended.
    pub calls: usize,
    /// Those that failed.
    pub failed: usize,
    /// Latencies, in microseconds, failed calls included: the median,
    pub p50: u32,
    /// the 99th percentile,
    pub p99: u32,
    /// and the 99.9th.
    pub p999: u32,
    /// Resident memory at its end, in bytes.
    pub memory: u64,
    /// Open files at its end.
    pub files: usize,
    /// Tasks at its end.
    pub tasks: usize,
}

/// What calls have taken since somebody last looked.
#[derive(Debug, Default)]
pub struct Latencies {
    ended: Mutex<Ended>,
}

#[derive(Debug, Default)]
struct Ended {
    microseconds: Vec<u32>,
    failed: usize,
}

impl Latencies {
    /// A call has ended.
    pub fn record(&self, took: Duration, failed: bool) {
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let took = took.as_micros().try_into().unwrap_or(u32::MAX);
        ended.microseconds.push(took);
        ended.failed += usize::from(failed);
    }

    /// What has been recorded since the last time.
    pub fn take(&self, seconds: f64, lasted: f64, vitals: Vitals) -> Sample {
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let Ended {
            microseconds,
            failed,
        } = &mut *ended;
        microseconds.sort_unstable();
        let rank = |per_mille: usize| {
            let rank = (microseconds.len() * per_mille).div_ceil(1_000);
            microseconds.get(rank.max(1) - 1).copied().unwrap_or(0)
        };
        let sample = Sample {
            seconds,
            lasted,
            calls: microseconds.len(),
            failed: *failed,
            p50: rank(500),
            p99: rank(990),
            p999: rank(999),
            memory: vitals.memory,
            files: vitals.files,
            tasks: vitals.tasks,
        };
        // The room is kept, so that what it takes shows in no trend.
        microseconds.clear();
        *failed = 0;
        sample
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_ranks_and_begin_anew() {
        let latencies = Latencies::default();
        for number in (1..=1_000).rev() {
            latencies.record(Duration::from_micros(number), number % 100 == 0);
        }
        let vitals = Vitals {
            memory: 1,
            files: 2,
            tasks: 3,
        };
        let sample = latencies.take(2.0, 1.0, vitals);
        assert_eq!((sample.p50, sample.p99, sample.p999), (500, 990, 999));
        assert_eq!((sample.calls, sample.failed), (1_000, 10));
        let nothing = latencies.take(3.0, 1.0, vitals);
        assert_eq!((nothing.calls, nothing.failed, nothing.p999), (0, 0, 0));
    }
}
