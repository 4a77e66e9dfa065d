//! Latencies, counted in classes of at most 0.8 % width.

/// Each power of two is divided into 2^7 classes.
const SUB_BITS: u32 = 7;
const SUBS: usize = 1 << SUB_BITS;

/// How often each latency was seen, in nanoseconds.
///
/// The classes are those of the HDR histogram of Gil Tene: linear within a power of two, so that the
/// relative error is the same everywhere and recording is an increment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Histogram {
    counts: Vec<u64>,
    total: u64,
}

impl Histogram {
    #[inline]
    pub(crate) fn record(&mut self, nanos: u64) {
        let class = class_of(nanos);
        if self.counts.len() <= class {
            self.counts.resize(class + 1, 0);
        }
        self.counts[class] += 1;
        self.total += 1;
    }

    /// How many latencies were recorded.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The latency in seconds that this part of all, 0.0 to 1.0, do not exceed: the middle of its class.
    /// None if there are none.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rank among counts far below 2^52, never negative"
    )]
    pub fn quantile(&self, part: f64) -> Option<f64> {
        let rank = ((self.total as f64 * part).ceil() as u64).max(1);
        let mut seen = 0;
        let class = self.counts.iter().position(|count| {
            seen += count;
            seen >= rank
        })?;
        Some((lower_bound(class) as f64 + (lower_bound(class + 1) - 1) as f64) / 2e9)
    }
}

fn class_of(value: u64) -> usize {
    // The position of the highest bit beyond those that are kept. A thousand hours are below 2^62.
    let value = value.min(1 << 62);
    let shift = (u64::BITS - value.leading_zeros()).saturating_sub(SUB_BITS + 1);
    let kept = (value >> shift) as usize;
    shift as usize * SUBS + kept
}

fn lower_bound(class: usize) -> u64 {
    let shift = (class / SUBS).saturating_sub(1);
    ((class - shift * SUBS) as u64) << shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_in_order_and_narrow() {
        let mut last = 0;
        for value in (0..100_000).chain((17..62).map(|bit| 1 << bit)) {
            let class = class_of(value);
            assert!(class == last || value > 0 && class > last, "{value}");
            let (low, high) = (lower_bound(class), lower_bound(class + 1));
            assert!(
                low <= value && value < high && high - low <= 1 + value / 128,
                "{value}"
            );
            last = class;
        }
        assert_eq!(class_of(u64::MAX), class_of(1 << 62));
    }

    #[test]
    fn quantiles_are_ranks() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.quantile(0.5), None);
        for nanos in 1..=100 {
            histogram.record(nanos);
        }
        for (part, nanos) in [(0.0, 1.0), (0.5, 50.0), (0.99, 99.0), (1.0, 100.0)] {
            assert_eq!(histogram.quantile(part), Some(nanos / 1e9));
        }
        assert_eq!(histogram.total(), 100);
    }
}
