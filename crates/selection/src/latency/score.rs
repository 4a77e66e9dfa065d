//! The score of a node: an average of its latencies, weighed by the time between them.
//!
//! The arithmetic is that of `LatencyAwarePolicy` of the `DataStax` Java driver 3.11.5, to the bit:
//! the order of the operations, the truncations and `ln(d + 1)` (not `ln_1p`) all matter.

use super::LatencyParameters;
use crate::Timestamp;

/// What has been measured of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Score {
    /// When the last sample that counted was taken.
    pub updated: Timestamp,
    /// The average latency in nanoseconds; negative while the node warms up.
    ///
    /// In arithmetic at its limits (a huge latency within nanoseconds of the sample before) the
    /// average can come out negative later too; the next sample then starts it anew.
    pub average_nanos: i64,
    /// How many samples counted, those of the warm-up included.
    pub samples: u64,
}

impl Score {
    /// The average of a node that is still warming up.
    pub(crate) const WARMING_UP: i64 = -1;
}

/// How scores follow from samples.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Averaging {
    scale: f64,
    warm_up: u64,
}

impl Averaging {
    pub(crate) fn new(parameters: &LatencyParameters) -> Self {
        Self {
            scale: float(parameters.scale_nanos()),
            warm_up: 30 * u64::from(parameters.min_measured_samples()) / 100,
        }
    }

    /// The score after a sample; `None` if the sample does not count, because no time has passed
    /// since the one before.
    #[inline]
    pub(crate) fn next(
        &self,
        before: Option<Score>,
        now: Timestamp,
        latency_nanos: i64,
    ) -> Option<Score> {
        let samples = before.map_or(0, |score| score.samples).wrapping_add(1);
        let average_nanos = if samples < self.warm_up {
            Score::WARMING_UP
        } else {
            match before {
                Some(score) if score.average_nanos >= 0 => {
                    let delay = now.nanos_since(score.updated);
                    if delay <= 0 {
                        return None;
                    }
                    self.weigh(delay, latency_nanos, score.average_nanos)
                }
                _ => latency_nanos,
            }
        };
        Some(Score {
            updated: now,
            average_nanos,
            samples,
        })
    }

    /// The average of a sample and the average before it, of which less remains the longer ago it
    /// was: with d the delay in units of the scale, the part ln(d + 1) / d. That is 95 % after a
    /// tenth of the scale, 69 % after the scale, 24 % after ten times the scale.
    #[inline]
    fn weigh(&self, delay: i64, latency: i64, average: i64) -> i64 {
        let d = float(delay) / self.scale;
        let weight = (d + 1.0).ln() / d;
        truncated((1.0 - weight) * float(latency) + weight * float(average))
    }
}

/// So many times a span, to whole nanoseconds.
#[inline]
pub(crate) fn times(factor: f64, nanos: i64) -> i64 {
    truncated(factor * float(nanos))
}

/// As Java's cast rounds it.
#[inline]
#[expect(clippy::cast_precision_loss, reason = "the reference rounds just so")]
pub(crate) fn float(nanos: i64) -> f64 {
    nanos as f64
}

/// Towards zero; saturates, and NaN is 0: as Java's cast does.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "the reference cuts it just so"
)]
pub(crate) fn truncated(nanos: f64) -> i64 {
    nanos as i64
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    fn averaging(min_measured: u32) -> Averaging {
        let parameters = LatencyParameters::default().min_measured(min_measured);
        Averaging::new(&parameters)
    }

    fn sampled(averaging: Averaging, samples: &[(i64, i64)]) -> Option<Score> {
        samples.iter().fold(None, |score, &(at, latency)| {
            let next = averaging.next(score, Timestamp::from_nanos(at), latency);
            next.or(score)
        })
    }

    #[test]
    fn the_warm_up_is_counted_and_not_averaged() {
        let samples: Vec<_> = (0..15).map(|at| (at, 1_000)).collect();
        assert_eq!(
            sampled(averaging(50), &samples[..14])
                .unwrap()
                .average_nanos,
            -1
        );
        let warm = sampled(averaging(50), &samples).unwrap();
        assert_eq!((warm.average_nanos, warm.samples), (1_000, 15));
    }

    #[test]
    fn after_the_scale_a_sample_weighs_31_percent() {
        let score = sampled(averaging(0), &[(0, 0), (100_000_000, 1_000_000)]).unwrap();
        assert_eq!(score.average_nanos, 306_852);
    }

    #[test]
    fn a_sample_without_a_delay_is_dropped() {
        let averaging = averaging(0);
        let score = sampled(averaging, &[(5, 1_000)]);
        assert_eq!(averaging.next(score, Timestamp::from_nanos(5), 9), None);
        assert_eq!(averaging.next(score, Timestamp::from_nanos(4), 9), None);
    }

    proptest! {
        /// Whatever the clock and the latencies, an average is one of the latencies or between.
        #[test]
        fn an_average_is_within_the_samples(
            scale in 1_u64..10_000_000_000,
            samples in prop::collection::vec((1_000_i64..1_000_000_000, 0_i64..1_000_000_000), 1..50),
        ) {
            let parameters = LatencyParameters::default()
                .min_measured(0)
                .scale(Duration::from_nanos(scale));
            let mut at = 0;
            let timed: Vec<_> = samples
                .iter()
                .map(|&(delay, latency)| { at += delay; (at, latency) })
                .collect();
            let score = sampled(Averaging::new(&parameters), &timed).unwrap();
            let least = samples.iter().map(|sample| sample.1).min().unwrap();
            let most = samples.iter().map(|sample| sample.1).max().unwrap();
            // Each truncation may take a nanosecond.
            prop_assert!(score.average_nanos >= least - 50 && score.average_nanos <= most + 1);
        }
    }
}
