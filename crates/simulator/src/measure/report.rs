//! The report of one run.

use super::episodes::{self, Reactions};
use super::{Histogram, Measure};
use crate::engine::Episode;
use crate::scenario::{Scenario, Span};

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

/// A part of the time of a run: what was asked in it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Bucket<'a> {
    /// When it begins.
    pub from: Span,
    /// By server, how many attempts were sent to it.
    pub attempts: &'a [u32],
    /// The latencies of the requests that were made in it.
    pub latencies: &'a Histogram,
}

/// The time of a run in equal parts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Buckets {
    pub(super) width: u64,
    servers: usize,
    attempts: Vec<u32>,
    latencies: Vec<Histogram>,
}

/// How many parts there are, if requests suffice.
const PARTS: u64 = 600;
/// How many attempts each server should get in each part, so that shares are more than noise.
const ENOUGH: f64 = 20.0;
/// What is assumed of closed loops, in requests a second.
const USUAL_RATE: f64 = 1_000.0;

impl Buckets {
    pub(super) fn new(scenario: &Scenario) -> Self {
        let duration = scenario.duration.nanos();
        let servers = scenario.server_count();
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a span above 0; the cast saturates"
        )]
        let enough =
            (ENOUGH * servers as f64 / scenario.load.rate.unwrap_or(USUAL_RATE) * 1e9) as u64;
        let width = (duration / PARTS).max(enough).min(duration / 20).max(1);
        let parts = usize::try_from(duration.div_ceil(width)).unwrap_or(usize::MAX);
        Self {
            width,
            servers,
            attempts: vec![0; parts * servers],
            latencies: vec![Histogram::default(); parts],
        }
    }

    /// In which bucket a time is; possibly beyond the last.
    #[inline]
    pub(super) fn part_of(&self, time: u64) -> usize {
        usize::try_from(time / self.width).unwrap_or(usize::MAX)
    }

    #[inline]
    pub(super) fn sent(&mut self, now: u64, server: usize) {
        // Retries may go on after the end.
        let part = self.part_of(now);
        if part < self.len() {
            self.attempts[part * self.servers + server] += 1;
        }
    }

    #[inline]
    pub(super) fn done(&mut self, began: u64, latency: u64) {
        let part = self.part_of(began);
        if let Some(latencies) = self.latencies.get_mut(part) {
            latencies.record(latency);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.latencies.len()
    }

    pub(super) fn attempts(&self, part: usize) -> &[u32] {
        &self.attempts[part * self.servers..][..self.servers]
    }

    /// The part of a bucket's attempts that went to a server; none if there were none at all.
    #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
    pub(super) fn share(&self, part: usize, server: usize) -> Option<f64> {
        let attempts = self.attempts(part);
        let total: u64 = attempts.iter().map(|count| u64::from(*count)).sum();
        (total > 0).then(|| f64::from(attempts[server]) / total as f64)
    }
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
        (0_usize..)
            .zip(&self.buckets.latencies)
            .map(|(part, latencies)| Bucket {
                from: Span::from_nanos(part as u64 * self.buckets.width),
                attempts: self.buckets.attempts(part),
                latencies,
            })
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
