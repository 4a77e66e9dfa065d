//! The latest read latencies of a node, and a percentile of them.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// How many of the latest latencies are kept.
const SAMPLES: usize = 256;
/// How many there must be before a percentile says anything.
const ENOUGH: usize = 32;

/// A ring of latencies in nanoseconds. Writers take no lock; a reader that meets a writer sees the
/// sample before, which does no harm to a percentile.
#[derive(Debug)]
pub(super) struct Window {
    samples: Box<[AtomicU64]>,
    taken: AtomicUsize,
    /// As of the latest [`refresh`](Self::refresh); 0 is unknown.
    percentile: AtomicU64,
}

impl Window {
    pub(super) fn new() -> Self {
        Self {
            samples: (0..SAMPLES).map(|_| AtomicU64::new(0)).collect(),
            taken: AtomicUsize::new(0),
            percentile: AtomicU64::new(0),
        }
    }

    pub(super) fn record(&self, latency: Duration) {
        let index = self.taken.fetch_add(1, Ordering::Relaxed) % SAMPLES;
        let nanos = u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX);
        self.samples[index].store(nanos, Ordering::Relaxed);
    }

    /// Computes the latency that this share of the samples does not exceed.
    pub(super) fn refresh(&self, share: f64) {
        let count = self.taken.load(Ordering::Relaxed).min(SAMPLES);
        if count < ENOUGH {
            return;
        }
        let mut latest: Vec<u64> = self.samples[..count]
            .iter()
            .map(|sample| sample.load(Ordering::Relaxed))
            .collect();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "the share is between 0 and 1, the count small"
        )]
        let rank = (count as f64 * share) as usize;
        let (_, &mut nanos, _) = latest.select_nth_unstable(rank.min(count - 1));
        self.percentile.store(nanos, Ordering::Relaxed);
    }

    /// The percentile as of the latest refresh; `None` before there was enough to tell.
    pub(super) fn percentile(&self) -> Option<Duration> {
        match self.percentile.load(Ordering::Relaxed) {
            0 => None,
            nanos => Some(Duration::from_nanos(nanos)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_percentile_is_of_the_latest_samples() {
        let window = Window::new();
        for _ in 0..31 {
            window.record(Duration::from_secs(9));
        }
        window.refresh(0.5);
        assert_eq!(window.percentile(), None);
        for millis in 1..=256 {
            window.record(Duration::from_millis(millis));
        }
        window.refresh(0.5);
        assert_eq!(window.percentile(), Some(Duration::from_millis(129)));
        window.refresh(0.999);
        assert_eq!(window.percentile(), Some(Duration::from_millis(256)));
    }
}
