//! The latest latencies of a node, and a percentile of them.

use std::sync::OnceLock;
use std::time::Duration;

use crate::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// How many of the latest latencies are kept.
const SAMPLES: usize = 256;
/// How many there must be before a percentile says anything.
const ENOUGH: usize = 32;

/// A ring of latencies in nanoseconds. Writers take no lock; a reader that meets a writer sees the
/// sample before, which does no harm to a percentile.
#[derive(Debug, Default)]
pub(super) struct Window {
    /// Made with the first one.
    samples: OnceLock<Box<[AtomicU64]>>,
    taken: AtomicUsize,
    /// As of the latest [`refresh`](Self::refresh); 0 is unknown.
    percentile: AtomicU64,
    /// Which node of its number this is of; 0 is none.
    incarnation: AtomicU32,
}

impl Window {
    pub(super) fn record(&self, latency: Duration) {
        if self.incarnation.load(Ordering::Relaxed) == 0 {
            return;
        }
        let samples = self
            .samples
            .get_or_init(|| (0..SAMPLES).map(|_| AtomicU64::new(0)).collect());
        let index = self.taken.fetch_add(1, Ordering::Relaxed) % SAMPLES;
        let nanos = u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX);
        samples[index].store(nanos, Ordering::Relaxed);
    }

    /// Computes the latency that this share of the samples does not exceed.
    pub(super) fn refresh(&self, share: f64) {
        let count = self.taken.load(Ordering::Relaxed).min(SAMPLES);
        let Some(samples) = self.samples.get().filter(|_| count >= ENOUGH) else {
            return;
        };
        let mut latest: Vec<u64> = samples[..count]
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
    #[inline]
    pub(super) fn percentile(&self) -> Option<Duration> {
        match self.percentile.load(Ordering::Relaxed) {
            0 => None,
            nanos => Some(Duration::from_nanos(nanos)),
        }
    }

    /// It is of that node of its number from now on; 0 is none. What is known of another one is forgotten.
    pub(super) fn belongs_to(&self, incarnation: u32) {
        if self.incarnation.swap(incarnation, Ordering::Relaxed) != incarnation {
            self.taken.store(0, Ordering::Relaxed);
            self.percentile.store(0, Ordering::Relaxed);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_percentile_is_of_the_latest_samples() {
        let window = Window::default();
        window.belongs_to(1);
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
        window.belongs_to(1);
        assert!(window.percentile().is_some());
        window.belongs_to(2);
        window.refresh(0.5);
        assert_eq!(window.percentile(), None);
    }
}
