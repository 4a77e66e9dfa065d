//! Random numbers for policies: reproducible from a seed, and drawn by any number of threads.

use crate::sync::atomic::{AtomicU64, Ordering};

/// A generator that threads share: `SplitMix64` (Steele, Lea and Flood, "Fast splittable
/// pseudorandom number generators", OOPSLA 2014), whose state is a counter.
#[derive(Debug)]
pub(super) struct Dice(AtomicU64);

/// The counter's step, the golden ratio of 2^64.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    /// 64 random bits. Two threads that roll at the very same time may get the same ones, which
    /// costs less than to prevent it.
    #[inline]
    pub(super) fn roll(&self) -> u64 {
        let state = self.0.load(Ordering::Relaxed);
        self.0.store(state.wrapping_add(STEP), Ordering::Relaxed);
        mix(state)
    }
}

/// The random number after `number`, for more than one from one roll.
#[inline]
pub(super) fn reroll(number: u64) -> u64 {
    mix(number.wrapping_add(STEP))
}

/// A number below `bound` from 64 random bits, by multiplication (Lemire, "Fast random integer
/// generation in an interval", 2019; its bias of at most `bound` / 2^64 does not matter here).
#[inline]
pub(super) fn below(number: u64, bound: u64) -> u64 {
    let wide = u128::from(number) * u128::from(bound);
    (wide >> 64) as u64
}

#[inline]
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_fixes_the_numbers_and_they_spread() {
        let (one, two) = (Dice::new(7), Dice::new(7));
        let mut counts = [0_u32; 5];
        for _ in 0..10_000 {
            let number = one.roll();
            assert_eq!(number, two.roll());
            counts[usize::try_from(below(number, 5)).unwrap()] += 1;
        }
        for count in counts {
            assert!((1_800..2_200).contains(&count), "{counts:?}");
        }
        assert_eq!(below(u64::MAX, 5), 4);
        assert_eq!(below(0, 5), 0);
    }
}
