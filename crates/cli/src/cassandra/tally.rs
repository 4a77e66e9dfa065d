//! What came of reads, counted.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use crate::histogram::Histogram;
use crate::json::Object;

/// What came of some reads.
#[derive(Debug, Clone, Default)]
pub(super) struct Tally {
    /// How long reads took, those that failed included.
    pub(super) latency: Histogram,
    /// How many each node answered.
    pub(super) answered: BTreeMap<SocketAddr, u64>,
    pub(super) failures: u64,
    /// Why the last one failed.
    pub(super) reason: Option<String>,
}

impl Tally {
    /// Counts a read: who answered, or why it failed.
    pub(super) fn record(&mut self, took: Duration, answer: Result<SocketAddr, String>) {
        self.latency.record(took);
        match answer {
            Ok(node) => *self.answered.entry(node).or_default() += 1,
            Err(reason) => {
                self.failures += 1;
                self.reason = Some(reason);
            }
        }
    }

    /// How many reads were answered.
    pub(super) fn answers(&self) -> u64 {
        self.answered.values().sum()
    }

    /// What was counted here and not yet in `earlier`, an older state of the same tally.
    pub(super) fn since(&self, earlier: &Self) -> Self {
        let before = |node| earlier.answered.get(node).copied().unwrap_or_default();
        let answered = self.answered.iter();
        let failures = self.failures - earlier.failures;
        Self {
            latency: self.latency.since(&earlier.latency),
            answered: answered
                .map(|(node, count)| (*node, count - before(node)))
                .collect(),
            failures,
            reason: self.reason.clone().filter(|_| failures > 0),
        }
    }
}

/// Which part of a whole, in percent.
#[expect(clippy::cast_precision_loss, reason = "one digit is shown")]
pub(super) fn percent(part: u64, whole: u64) -> f64 {
    part as f64 * 100.0 / whole.max(1) as f64
}

/// Rounded to one digit behind the point.
pub(super) fn tenths(percent: f64) -> f64 {
    (percent * 10.0).round() / 10.0
}

/// Adds the quantiles of interest to an object, in microseconds, or null if there are none.
pub(super) fn quantiles(object: Object, latency: &Histogram) -> Object {
    let quantiles = [("p50_us", 0.5), ("p99_us", 0.99), ("p999_us", 0.999)];
    quantiles.into_iter().fold(object, |object, (name, part)| {
        let quantile = latency.quantile(part);
        object.with(
            name,
            quantile.and_then(|time| u64::try_from(time.as_micros()).ok()),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_counts_and_differences_are_tallies() {
        let [a, b] = ["127.0.0.1:9042", "127.0.0.2:9042"].map(|node| node.parse().unwrap());
        let ms = Duration::from_millis;
        let mut tally = Tally::default();
        tally.record(ms(1), Ok(a));
        tally.record(ms(100), Err("lost".to_owned()));
        let earlier = tally.clone();
        tally.record(ms(2), Ok(a));
        tally.record(ms(3), Ok(b));
        assert_eq!((tally.answers(), tally.failures), (3, 1));
        assert_eq!(tally.latency.total(), 4);
        assert_eq!(tally.reason.as_deref(), Some("lost"));
        let fresh = tally.since(&earlier);
        assert_eq!(fresh.answered, BTreeMap::from([(a, 1), (b, 1)]));
        assert_eq!((fresh.latency.total(), fresh.failures), (2, 0));
        assert_eq!(fresh.reason, None);
    }
}
