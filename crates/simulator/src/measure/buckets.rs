//! The time of a run in equal parts: what was asked of whom in each, and how long it took.

use super::Histogram;
use crate::scenario::{Scenario, Span};

/// A part of the time of a run: what was asked in it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Bucket<'a> {
    /// When it begins.
    pub from: Span,
    /// By server, how many attempts were sent to it.
    pub attempts: &'a [u32],
    /// How many requests were made in it.
    pub requests: u64,
    /// The median of their latencies, in seconds; 0 if there are none.
    pub p50: f64,
    /// The latency that 99 % of them do not exceed, in seconds; 0 if there are none.
    pub p99: f64,
}

/// The time of a run in equal parts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Buckets {
    pub(super) width: u64,
    servers: usize,
    attempts: Vec<u32>,
    latencies: Latencies,
}

/// Of each part: histograms as long as the run goes on, which take more room than what is kept of them.
#[derive(Debug, Clone, PartialEq)]
enum Latencies {
    Open(Vec<Histogram>),
    /// How many requests, and two quantiles.
    Closed(Vec<(u64, f64, f64)>),
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
            latencies: Latencies::Open(vec![Histogram::default(); parts]),
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
        if let Latencies::Open(latencies) = &mut self.latencies
            && let Some(latencies) = latencies.get_mut(part)
        {
            latencies.record(latency);
        }
    }

    /// The run is over.
    pub(super) fn close(&mut self) {
        if let Latencies::Open(latencies) = &self.latencies {
            let closed = latencies.iter().map(|latencies| {
                let quantile = |part| latencies.quantile(part).unwrap_or_default();
                (latencies.total(), quantile(0.5), quantile(0.99))
            });
            self.latencies = Latencies::Closed(closed.collect());
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Bucket<'_>> {
        let closed: &[_] = match &self.latencies {
            Latencies::Open(_) => &[],
            Latencies::Closed(closed) => closed,
        };
        closed
            .iter()
            .enumerate()
            .map(|(part, &(requests, p50, p99))| Bucket {
                from: Span::from_nanos(part as u64 * self.width),
                attempts: self.attempts(part),
                requests,
                p50,
                p99,
            })
    }

    pub(super) fn len(&self) -> usize {
        self.attempts.len() / self.servers
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
