//! Random numbers that follow from the seed, an own sequence for each purpose: one draw more in one place
//! changes nothing elsewhere.

use std::ops::RangeInclusive;
use std::time::Duration;

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A sequence of random numbers.
#[derive(Debug, Clone)]
pub(crate) struct Chance(fastrand::Rng);

impl Chance {
    /// The sequence of a seed for a purpose.
    pub(crate) fn of(seed: u64, purpose: &str) -> Self {
        Self(fastrand::Rng::with_seed(xxh3_64_with_seed(
            purpose.as_bytes(),
            seed,
        )))
    }

    /// The sequence of a part, which goes on by itself.
    pub(crate) fn fork(&mut self) -> Self {
        Self(self.0.fork())
    }

    pub(crate) fn number(&mut self, range: RangeInclusive<u64>) -> u64 {
        self.0.u64(range)
    }

    pub(crate) fn size(&mut self, range: RangeInclusive<usize>) -> usize {
        self.0.usize(range)
    }

    pub(crate) fn millis(&mut self, range: RangeInclusive<u64>) -> Duration {
        Duration::from_millis(self.number(range))
    }

    /// Whether the one case of so many has come; never if it is none.
    pub(crate) fn one_in(&mut self, cases: u64) -> bool {
        cases > 0 && self.0.u64(..cases) == 0
    }

    /// One of several, which are not none.
    pub(crate) fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.0.usize(..of.len())]
    }
}
