//! Chance, fixed by a seed: the generator, and what is drawn with it.
//!
//! Every draw of a simulation comes from here. Each concern has a [`Rng`] of its own, derived from the
//! seed, so that two policies under one seed meet the same arrivals, keys and faults.

mod weighted;

pub(crate) use self::weighted::Weighted;

/// The generator xoshiro256++ (Blackman and Vigna, "Scrambled linear pseudorandom number generators",
/// ACM Transactions on Mathematical Software 47(4), 2021), seeded by `SplitMix64` as its authors advise.
#[derive(Debug, Clone)]
pub(crate) struct Rng([u64; 4]);

impl Rng {
    /// The generator of one concern under a seed; concerns are independent of each other.
    pub(crate) fn new(seed: u64, concern: u64) -> Self {
        let mut state = seed ^ mix(concern.wrapping_add(STEP));
        Self(std::array::from_fn(|_| {
            state = state.wrapping_add(STEP);
            mix(state)
        }))
    }

    /// 64 random bits.
    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        let s = &mut self.0;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// A number from 0 to below 1, all multiples of 2^-53 alike.
    #[inline]
    #[expect(clippy::cast_precision_loss, reason = "53 bits are exact in an f64")]
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// A number below `bound`, which is above 0 (Lemire's multiplication; its bias is below 2^-32 for
    /// the small bounds of a simulation).
    #[inline]
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        ((u64::from(bound) * (self.next() >> 32)) >> 32) as u32
    }

    /// An exponential variate of mean 1.
    #[inline]
    pub(crate) fn exponential(&mut self) -> f64 {
        -(1.0 - self.unit()).ln()
    }

    /// A normal variate of mean 0 and deviation 1, by the polar method (Marsaglia and Bray, 1964); its
    /// second result is not kept, so that a generator is nothing but its state.
    #[inline]
    pub(crate) fn normal(&mut self) -> f64 {
        loop {
            let (x, y) = (2.0 * self.unit() - 1.0, 2.0 * self.unit() - 1.0);
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                return x * (-2.0 * square.ln() / square).sqrt();
            }
        }
    }
}

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_fixes_the_numbers_and_concerns_differ() {
        let draw = |seed, concern| {
            let mut rng = Rng::new(seed, concern);
            [rng.next(), rng.next()]
        };
        assert_eq!(draw(1, 2), draw(1, 2));
        assert_ne!(draw(1, 2), draw(2, 1));
        assert_ne!(draw(1, 2), draw(1, 3));
    }

    const DRAWS: u32 = 100_000;

    #[test]
    fn variates_have_the_moments_that_they_should_have() {
        let mut rng = Rng::new(7, 0);
        let mut sums = [0.0_f64; 5];
        for _ in 0..DRAWS {
            let (unit, exponential, normal) = (rng.unit(), rng.exponential(), rng.normal());
            assert!((0.0..1.0).contains(&unit) && exponential >= 0.0 && rng.below(3) < 3);
            for (sum, value) in sums.iter_mut().zip([
                unit,
                exponential,
                exponential * exponential,
                normal,
                normal * normal,
            ]) {
                *sum += value / f64::from(DRAWS);
            }
        }
        for (mean, expected) in sums.into_iter().zip([0.5, 1.0, 2.0, 0.0, 1.0]) {
            assert!((mean - expected).abs() < 0.05, "{sums:?}");
        }
    }
}
