//! When requests come, in an open loop; and how often a worker may ask, in a closed one.

use std::slice;

use crate::random::Rng;
use crate::scenario::{Arrivals, Load};

/// When requests come.
#[derive(Debug)]
pub(super) enum Schedule<'a> {
    /// At a rate.
    Rated(Rates),
    /// When they came in a recording, in order of time.
    Recorded(slice::Iter<'a, u64>),
    /// As fast as they are answered.
    Unlimited,
}

impl Schedule<'_> {
    pub(super) fn new(load: &Load) -> Self {
        Rates::new(load).map_or(Self::Unlimited, Self::Rated)
    }

    /// When the request after that of `now` comes, if one does.
    pub(super) fn next(&mut self, now: u64, rng: &mut Rng) -> Option<u64> {
        match self {
            Self::Rated(rates) => Some(rates.next(now, rng)),
            Self::Recorded(times) => times.next().copied(),
            Self::Unlimited => None,
        }
    }

    /// Requests in a nanosecond, if a rate says so, at a time not before that of any earlier question.
    pub(super) fn rate_at(&mut self, now: u64) -> Option<f64> {
        match self {
            Self::Rated(rates) => Some(rates.at(now)),
            Self::Recorded(_) | Self::Unlimited => None,
        }
    }
}

/// The rate over time, from one request to the next.
#[derive(Debug)]
pub(super) struct Rates {
    /// From when on how many requests come in a nanosecond, the first from 0 on.
    steps: Vec<(u64, f64)>,
    current: usize,
    arrivals: Arrivals,
}

impl Rates {
    fn new(load: &Load) -> Option<Self> {
        let first = (0, load.rate? / 1e9);
        let steps = load
            .steps
            .iter()
            .map(|step| (step.at.nanos(), step.rate / 1e9));
        Some(Self {
            steps: std::iter::once(first).chain(steps).collect(),
            current: 0,
            arrivals: load.arrivals,
        })
    }

    /// Requests in a nanosecond at a time not before that of any earlier question.
    fn at(&mut self, now: u64) -> f64 {
        while self
            .steps
            .get(self.current + 1)
            .is_some_and(|(from, _)| *from <= now)
        {
            self.current += 1;
        }
        self.steps[self.current].1
    }

    /// When the request after that of `now` comes.
    fn next(&mut self, now: u64, rng: &mut Rng) -> u64 {
        let mut left = match self.arrivals {
            Arrivals::Poisson => rng.exponential(),
            Arrivals::Regular => 1.0,
        };
        let mut now = now;
        loop {
            let rate = self.at(now);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "not negative, and the cast saturates"
            )]
            let next = now.saturating_add((left / rate).round() as u64);
            match self.steps.get(self.current + 1) {
                // What is left of the wait goes by at the new rate.
                #[expect(clippy::cast_precision_loss, reason = "spans are below 2^52")]
                Some(&(step, _)) if step < next => {
                    left -= (step - now) as f64 * rate;
                    now = step;
                }
                _ => return next,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_change_at_their_time() {
        let load: Load = toml::from_str(
            "rate = 100\narrivals = 'regular'\nsteps = [{ at = '1s', rate = 1000 }, { at = '2s', rate = 10 }]",
        )
        .unwrap();
        for poisson in [false, true] {
            let mut schedule = Rates::new(&load).unwrap();
            if poisson {
                schedule.arrivals = Arrivals::Poisson;
            }
            let mut rng = Rng::new(1, 0);
            let mut counts = [0_u32; 4];
            let mut now = 0;
            while now < 4_000_000_000 {
                counts[usize::try_from(now / 1_000_000_000).unwrap()] += 1;
                now = schedule.next(now, &mut rng);
            }
            let expected = [100_u32, 1_000, 10, 10];
            for (count, expected) in counts.into_iter().zip(expected) {
                let spread = if poisson { 4 * expected.isqrt() } else { 1 };
                assert!(count.abs_diff(expected) <= spread, "{counts:?}");
            }
        }
    }
}
