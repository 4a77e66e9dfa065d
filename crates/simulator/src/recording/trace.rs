//! What one node was like over time, as far as it was asked.

use steersman_selection::Outcome;

use crate::random::Rng;

/// An attempt that was really made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Measured {
    pub(crate) began: u64,
    pub(crate) latency: u64,
    pub(crate) outcome: Outcome,
}

/// The attempts at one node, in order of when they began.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trace {
    attempts: Vec<Measured>,
}

/// Attempts that began within this of each other are alike, in nanoseconds: short enough to keep what
/// happened when, long enough that one slow answer does not befall everybody who asks next.
const ABOUT: u64 = 250_000_000;

impl Trace {
    /// The attempts.
    pub(super) fn attempts(&self) -> &[Measured] {
        &self.attempts
    }

    /// Adds an attempt that did not begin before the others.
    pub(super) fn push(&mut self, attempt: Measured) {
        self.attempts.push(attempt);
    }

    /// One of the attempts that began about then, or the nearest one if there is none.
    pub(crate) fn draw(&self, now: u64, rng: &mut Rng) -> Option<Measured> {
        let from = self.first_from(now.saturating_sub(ABOUT));
        let until = self.first_from(now + ABOUT + 1);
        let about = &self.attempts[from..until];
        match u32::try_from(about.len()) {
            Ok(0) | Err(_) => {
                let before = from.checked_sub(1).and_then(|last| self.attempts.get(last));
                let after = self.attempts.get(until);
                let nearest = before.into_iter().chain(after);
                nearest
                    .min_by_key(|attempt| attempt.began.abs_diff(now))
                    .copied()
            }
            Ok(count) => about.get(rng.below(count) as usize).copied(),
        }
    }

    fn first_from(&self, time: u64) -> usize {
        self.attempts
            .partition_point(|attempt| attempt.began < time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_drawn_was_measured_about_then() {
        let mut trace = Trace::default();
        let mut rng = Rng::new(0, 0);
        assert_eq!(trace.draw(0, &mut rng), None);
        for began in [1_000_000_000, 1_100_000_000, 3_000_000_000] {
            let attempt = Measured {
                began,
                latency: began / 1_000,
                outcome: Outcome::Success,
            };
            trace.push(attempt);
        }
        let mut drawn = |now| {
            let mut latencies: Vec<_> = (0..50)
                .map(|_| trace.draw(now, &mut rng).unwrap().latency)
                .collect();
            latencies.sort_unstable();
            latencies.dedup();
            latencies
        };
        assert_eq!(drawn(1_050_000_000), [1_000_000, 1_100_000]);
        assert_eq!(drawn(1_350_000_000), [1_100_000]);
        assert_eq!(drawn(0), [1_000_000]);
        assert_eq!(drawn(2_000_000_000), [1_100_000]);
        assert_eq!(drawn(2_200_000_000), [3_000_000]);
        assert_eq!(drawn(9_000_000_000), [3_000_000]);
    }
}
