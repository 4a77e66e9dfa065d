//! Building a ranked policy with other parameters than the defaults.

use std::fmt;
use std::time::Duration;

use super::Ranked;
use super::board::Board;
use super::phase::Spans;
use super::ranking::{Ranking, sealed};
use crate::Error;
use crate::latency::{in_range, positive};
use crate::time::saturating_nanos;

/// Builds a [`Ranked`] policy.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use steersman_selection::{PeakEwma, Replicas};
///
/// let policy = PeakEwma::builder()
///     .choices(3)
///     .decay(Duration::from_secs(5))
///     .seed(7)
///     .build(Replicas::in_order())?;
/// # Ok::<(), steersman_selection::Error>(())
/// ```
#[must_use = "build the policy"]
pub struct RankedBuilder<R> {
    pub(super) ranking: R,
    choices: usize,
    ramp: Duration,
    retry_period: Duration,
    seed: u64,
}

impl<R: sealed::Ranking> Default for RankedBuilder<R> {
    fn default() -> Self {
        Self {
            ranking: R::default(),
            choices: R::CHOICES,
            ramp: Duration::from_secs(1),
            retry_period: Duration::from_secs(10),
            seed: 0,
        }
    }
}

impl<R: Ranking> RankedBuilder<R> {
    /// How many nodes of a tier are compared. 1 or more; 2 by default where the policy says nothing
    /// else. With 1, nodes are taken by lot and only those that fail or come in are held back. More than
    /// the default find a fast node among many slow ones, but make clients that know the same do the
    /// same.
    pub fn choices(mut self, nodes: usize) -> Self {
        self.choices = nodes;
        self
    }

    /// How long it takes for a node that comes in among others, or has failed and answers again, to get
    /// its full share. 0 or more; 1 s by default.
    pub fn ramp(mut self, ramp: Duration) -> Self {
        self.ramp = ramp;
        self
    }

    /// The longest time for which a failing node is not tried, for which single failures are remembered,
    /// and what was measured of a node is believed. More than 0; 10 s by default.
    pub fn retry_period(mut self, period: Duration) -> Self {
        self.retry_period = period;
        self
    }

    /// With the lots that this seed gives; 0 by default. Give each client one of its own.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The policy around that child. Fails if a parameter is out of range.
    pub fn build<C>(self, child: C) -> Result<Ranked<C, R>, Error> {
        if self.choices == 0 {
            return Err(Error::invalid_parameter("choices", 0, "choose 1 or more"));
        }
        in_range("ramp", self.ramp)?;
        positive("retry_period", self.retry_period)?;
        self.ranking.validate()?;
        Ok(self.build_valid(child))
    }

    pub(super) fn build_valid<C>(mut self, child: C) -> Ranked<C, R> {
        let ramp = saturating_nanos(self.ramp);
        let spans = Spans {
            ramp,
            joining: ramp.max(R::NOVICE_NANOS),
            retry: saturating_nanos(self.retry_period),
            burden: saturating_nanos(self.retry_period).min(R::BURDEN_NANOS),
        };
        self.ranking.retry_after(spans.retry);
        Ranked {
            child,
            board: Board::new(self.ranking, self.choices, spans, self.seed),
        }
    }
}

impl<R: Ranking> fmt::Debug for RankedBuilder<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RankedBuilder")
            .field("policy", &R::NAME)
            .field("choices", &self.choices)
            .field("ramp", &self.ramp)
            .field("retry_period", &self.retry_period)
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}
