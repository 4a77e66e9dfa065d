//! The report of one run.

use super::buckets::{Bucket, Buckets};
use super::episodes::{self, Reactions};
use super::{Histogram, Measure};
use crate::engine::Episode;

/// What one run was like.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    counts: Counts,
    latencies: Histogram,
    buckets: Buckets,
    even_shares: Vec<f64>,
    reactions: Reactions,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) requests: u64,
    pub(super) succeeded: u64,
    pub(super) attempts: u64,
    pub(super) hedges: u64,
    pub(super) remote: u64,
    pub(super) choices: u64,
    pub(super) to_impaired: u64,
    pub(super) longest_queue: usize,
}

impl Report {
    pub(super) fn new(
        counts: Counts,
        latencies: Histogram,
        buckets: Buckets,
        episodes: &[Episode],
        even_shares: &[f64],
    ) -> Self {
        let reactions = episodes::reactions(&buckets, episodes, even_shares);
        Self {
            counts,
            latencies,
            buckets,
            even_shares: even_shares.to_vec(),
            reactions,
        }
    }

    /// How many requests were made after the warm-up.
    pub fn requests(&self) -> u64 {
        self.counts.requests
    }

    /// How many of them were answered.
    pub fn succeeded(&self) -> u64 {
        self.counts.succeeded
    }

    /// How many attempts were made at them; those of requests made before the warm-up ended may be among
    /// these.
    pub fn attempts(&self) -> u64 {
        self.counts.attempts
    }

    /// How many of these were hedges.
    pub fn hedges(&self) -> u64 {
        self.counts.hedges
    }

    /// The share of requests that were answered; 1 if there were none.
    pub fn success_rate(&self) -> f64 {
        part(self.counts.succeeded, self.counts.requests).unwrap_or(1.0)
    }

    /// The latencies of all requests, those that failed with at least the clients' time-out.
    pub fn latencies(&self) -> &Histogram {
        &self.latencies
    }

    /// The run in order of time.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket<'_>> {
        self.buckets.iter()
    }

    /// By server, its part of all attempts, those of the warm-up too.
    #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
    pub fn shares(&self) -> Vec<f64> {
        let mut counts = vec![0_u64; self.even_shares.len()];
        for bucket in self.buckets() {
            for (count, more) in counts.iter_mut().zip(bucket.attempts) {
                *count += u64::from(*more);
            }
        }
        let total: u64 = counts.iter().sum();
        counts
            .iter()
            .map(|count| *count as f64 / total.max(1) as f64)
            .collect()
    }

    /// By server, the part of the requests that it would get if those for each key were spread evenly over
    /// the servers that hold it, in the clients' datacenter.
    pub fn even_shares(&self) -> &[f64] {
        &self.even_shares
    }

    /// The numbers of the servers that were impaired for the longest time, as long as the first, if any
    /// were.
    pub fn most_impaired(&self) -> &[usize] {
        &self.reactions.most_impaired
    }

    /// One figure; none if the scenario has nothing to measure there.
    pub fn measure(&self, measure: Measure) -> Option<f64> {
        let counts = &self.counts;
        match measure {
            Measure::Success => part(counts.succeeded, counts.requests),
            Measure::P50 => self.latencies.quantile(0.5),
            Measure::P90 => self.latencies.quantile(0.9),
            Measure::P99 => self.latencies.quantile(0.99),
            Measure::P999 => self.latencies.quantile(0.999),
            Measure::SlowShare => part(counts.to_impaired, counts.choices),
            Measure::ExtraLoad => {
                part(counts.attempts, counts.requests).map(|attempts| (attempts - 1.0).max(0.0))
            }
            Measure::Notice => self.reactions.notice,
            Measure::Readmit => self.reactions.readmit,
            #[expect(clippy::cast_precision_loss, reason = "at most 2^20")]
            Measure::LongestQueue => Some(counts.longest_queue as f64),
            Measure::Swing => self.reactions.swing,
            Measure::Starved => self.reactions.starved,
            Measure::RemoteShare => part(counts.remote, counts.attempts),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
fn part(some: u64, all: u64) -> Option<f64> {
    (all > 0).then(|| some as f64 / all as f64)
}
