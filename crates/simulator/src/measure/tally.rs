//! What is counted while a run goes on.

use super::buckets::Buckets;
use super::report::Counts;
use super::{Histogram, Report};
use crate::engine::Episode;
use crate::scenario::{Scenario, Span};

/// Counts of one run.
#[derive(Debug)]
pub(crate) struct Tally {
    counts: Counts,
    latencies: Histogram,
    buckets: Buckets,
    is_remote: Vec<bool>,
    /// Before this nothing is counted, but in buckets.
    warm_up: u64,
    /// What a failure counts at least.
    least_failure: u64,
}

impl Tally {
    pub(crate) fn new(scenario: &Scenario, is_remote: &[bool]) -> Self {
        Self {
            counts: Counts::default(),
            latencies: Histogram::default(),
            buckets: Buckets::new(scenario),
            is_remote: is_remote.to_vec(),
            warm_up: scenario.warm_up.nanos(),
            least_failure: scenario.clients.timeout.map_or(0, Span::nanos),
        }
    }

    /// A request is made.
    #[inline]
    pub(crate) fn asked(&mut self, now: u64) {
        self.counts.requests += u64::from(now >= self.warm_up);
    }

    /// An attempt is made, while there is a choice between impaired servers and others or not.
    #[inline]
    pub(crate) fn sent(&mut self, now: u64, server: usize, impaired: Option<bool>) {
        self.buckets.sent(now, server);
        if now >= self.warm_up {
            self.counts.attempts += 1;
            self.counts.remote += u64::from(self.is_remote[server]);
            if let Some(impaired) = impaired {
                self.counts.choices += 1;
                self.counts.to_impaired += u64::from(impaired);
            }
        }
    }

    /// The attempt that was made last is a hedge.
    pub(crate) fn hedged(&mut self, now: u64) {
        self.counts.hedges += u64::from(now >= self.warm_up);
    }

    /// A request that was made at one time has its answer, or has failed.
    #[inline]
    pub(crate) fn done(&mut self, began: u64, now: u64, succeeded: bool) {
        let took = now - began;
        let latency = if succeeded {
            took
        } else {
            took.max(self.least_failure)
        };
        self.buckets.done(began, latency);
        if began >= self.warm_up {
            self.counts.succeeded += u64::from(succeeded);
            self.latencies.record(latency);
        }
    }

    pub(crate) fn report(
        mut self,
        episodes: &[Episode],
        even_shares: &[f64],
        longest_queue: usize,
    ) -> Report {
        self.counts.longest_queue = longest_queue;
        self.buckets.close();
        Report::new(
            self.counts,
            self.latencies,
            self.buckets,
            episodes,
            even_shares,
        )
    }
}
