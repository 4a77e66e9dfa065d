//! A latency that is estimated from answers, and believed for some time.

use crate::latency::{ScoreCell, float, truncated};
use crate::policy::Condition;
use crate::{Score, Timestamp};

/// The estimate for one node, which threads share.
#[derive(Debug, Default)]
pub struct Estimate(ScoreCell);

impl Estimate {
    /// Whatever its age.
    #[inline]
    pub(super) fn load(&self) -> Option<Score> {
        self.0.load()
    }

    /// The estimate, unless the last answer is longer ago.
    #[inline]
    pub(super) fn within(&self, nanos: i64, now: Timestamp) -> Option<Score> {
        self.load()
            .filter(|score| now.nanos_since(score.updated) <= nanos)
    }

    /// Takes an answer in. Of an estimate that is not older than `believed`
    /// nanoseconds `next` makes the new one; else the latency is.
    #[inline]
    pub(super) fn learn(
        &self,
        latency: i64,
        now: Timestamp,
        believed: i64,
        next: impl Fn(Score) -> i64,
    ) {
        self.0.update(|before| {
            let average_nanos = match before {
                Some(score) if now.nanos_since(score.updated) <= believed => next(score),
                _ => latency,
            };
            let samples = before.map_or(0, |score| score.samples);
            Some(Score {
                updated: now,
                average_nanos,
                samples: samples.saturating_add(1),
            })
        });
    }

    /// Raises it to a time for which there was no answer, if it is below.
    #[inline]
    pub(super) fn raise(&self, latency: i64) {
        self.0.update(|before| {
            let score = before.filter(|score| latency > score.average_nanos)?;
            Some(Score {
                average_nanos: latency,
                ..score
            })
        });
    }

    /// How a node is regarded that is ranked by it.
    pub(super) fn condition(&self, believed: i64, now: Timestamp) -> Condition {
        if self.load().is_none() {
            Condition::Unmeasured
        } else if self.within(believed, now).is_none() {
            Condition::Silent
        } else {
            Condition::Ranked
        }
    }

    pub(super) fn clear(&self) {
        self.0.clear();
    }
}

/// The average after a sample, of which one that is `decay` younger keeps 1/e.
#[inline]
pub(super) fn decayed(score: Score, latency: i64, now: Timestamp, decay: i64) -> i64 {
    weighed(score, latency, kept(score, now, decay))
}

/// As [`decayed`], and of few samples the plain mean: else the first one would count for as much as all of the
/// time before it.
#[inline]
pub(super) fn averaged(score: Score, latency: i64, now: Timestamp, decay: i64) -> i64 {
    let samples = float(i64::try_from(score.samples).unwrap_or(i64::MAX));
    let plain = samples / (samples + 1.0);
    weighed(score, latency, kept(score, now, decay).min(plain))
}

/// How much is kept of an average.
#[inline]
fn kept(score: Score, now: Timestamp, decay: i64) -> f64 {
    // Answers may be recorded in another order than that of their times.
    let elapsed = now.nanos_since(score.updated).max(0);
    (-float(elapsed) / float(decay)).exp()
}

#[inline]
fn weighed(score: Score, latency: i64, kept: f64) -> i64 {
    truncated(kept * float(score.average_nanos) + (1.0 - kept) * float(latency))
}
