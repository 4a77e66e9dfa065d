//! Latencies, counted in classes of at most 1.6% width.

use std::time::Duration;

/// Each power of two is divided into 2^6 classes.
const SUB_BITS: u32 = 6;
const CLASSES: usize = 1 << SUB_BITS;

/// How often each latency was seen; whole microseconds, all of 64 bits.
///
/// The classes are those of the HDR histogram of Gil Tene: linear within a power of two, so that
/// the relative error is the same everywhere and recording is an increment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Histogram {
    counts: Vec<u64>,
    total: u64,
}

impl Histogram {
    pub(crate) fn record(&mut self, latency: Duration) {
        let class = class_of(u64::try_from(latency.as_micros()).unwrap_or(u64::MAX));
        if self.counts.len() <= class {
            self.counts.resize(class + 1, 0);
        }
        self.counts[class] += 1;
        self.total += 1;
    }

    /// Adds all that was recorded in another one.
    pub(crate) fn add(&mut self, other: &Self) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        self.total += other.total;
    }

    /// How many latencies were recorded.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// The latency that this part of all, 0.0 to 1.0, do not exceed; the lower bound of its class.
    pub(crate) fn quantile(&self, part: f64) -> Option<Duration> {
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a rank among counts far below 2^52, never negative"
        )]
        let rank = ((self.total as f64 * part).ceil() as u64).max(1);
        let mut seen = 0;
        let class = self.counts.iter().position(|count| {
            seen += count;
            seen >= rank
        })?;
        Some(Duration::from_micros(lower_bound(class)))
    }

    /// What was recorded here and not yet in `earlier`, an older state of the same histogram.
    pub(crate) fn since(&self, earlier: &Self) -> Self {
        let before = earlier.counts.iter().copied().chain(std::iter::repeat(0));
        let counts = self.counts.iter().zip(before).map(|(now, then)| now - then);
        Self {
            counts: counts.collect(),
            total: self.total - earlier.total,
        }
    }
}

fn class_of(value: u64) -> usize {
    // The position of the highest bit beyond those that are kept.
    let shift = (u64::BITS - value.leading_zeros()).saturating_sub(SUB_BITS + 1);
    let kept = usize::try_from(value >> shift).unwrap_or(usize::MAX);
    shift as usize * CLASSES + kept
}

fn lower_bound(class: usize) -> u64 {
    let shift = (class / CLASSES).saturating_sub(1);
    ((class - shift * CLASSES) as u64) << shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_in_order_and_narrow() {
        let mut last = 0;
        for value in (0..10_000)
            .chain((14..64).map(|bit| 1 << bit))
            .chain([u64::MAX])
        {
            let class = class_of(value);
            assert!(class == last || value > 0 && class > last, "{value}");
            let bound = lower_bound(class);
            assert!(
                bound <= value && value - bound <= value / 64,
                "{value} {bound}"
            );
            assert_eq!(class_of(bound), class);
            last = class;
        }
    }

    #[test]
    fn quantiles_are_ranks() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.quantile(0.5), None);
        for us in 1..=100 {
            histogram.record(Duration::from_micros(us));
        }
        let earlier = histogram.clone();
        for (part, us) in [(0.0, 1), (0.5, 50), (0.99, 99), (1.0, 100)] {
            assert_eq!(histogram.quantile(part), Some(Duration::from_micros(us)));
        }
        histogram.record(Duration::from_secs(1));
        let fresh = histogram.since(&earlier);
        assert_eq!(fresh.total(), 1);
        let second = fresh.quantile(0.5).unwrap();
        assert!(second > Duration::from_millis(984) && second <= Duration::from_secs(1));
    }

    #[test]
    fn histograms_add_up_to_that_of_all() {
        let (mut one, mut other, mut all) = Default::default();
        for us in [0, 1, 63, 64, 1_000, 3_600_000_000_u64] {
            let latency = Duration::from_micros(us);
            let part: &mut Histogram = if us % 2 == 0 { &mut one } else { &mut other };
            part.record(latency);
            Histogram::record(&mut all, latency);
        }
        other.add(&one);
        assert_eq!(other, all);
        other.add(&Histogram::default());
        assert_eq!(other, all);
    }
}
