//! One of many by weight, in constant time: for keys of unequal popularity and clients of unequal demand.

use super::Rng;

/// The alias method (Walker, 1977) with Vose's construction ("A linear algorithm for generating random
/// numbers with a given distribution", 1991).
#[derive(Debug, Clone)]
pub(crate) struct Weighted {
    /// For each item the probability, scaled to 32 bits, that its column is itself, and who it is else.
    columns: Vec<(u32, u32)>,
}

impl Weighted {
    /// Items by their weights, which are finite, not negative and not all 0.
    pub(crate) fn new(weights: &[f64]) -> Self {
        let count = u32::try_from(weights.len()).expect("scenarios bound what is drawn");
        let total: f64 = weights.iter().sum();
        let mut scaled: Vec<f64> = weights
            .iter()
            .map(|weight| weight * f64::from(count) / total)
            .collect();
        let (mut small, mut large): (Vec<u32>, Vec<u32>) =
            (0..count).partition(|&item| scaled[item as usize] < 1.0);
        let mut columns: Vec<(u32, u32)> = (0..count).map(|item| (u32::MAX, item)).collect();
        while let (Some(low), Some(&high)) = (small.pop(), large.last()) {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "from 0 to below 1, scaled to the range of the type"
            )]
            let own = (scaled[low as usize] * f64::from(u32::MAX)) as u32;
            columns[low as usize] = (own, high);
            scaled[high as usize] -= 1.0 - scaled[low as usize];
            if scaled[high as usize] < 1.0 {
                large.pop();
                small.push(high);
            }
        }
        Self { columns }
    }

    /// Zipf's law: the item of rank r, from 1, has the weight 1 / r^exponent.
    pub(crate) fn zipf(count: u32, exponent: f64) -> Vec<f64> {
        (1..=count)
            .map(|rank| f64::from(rank).powf(-exponent))
            .collect()
    }

    #[inline]
    pub(crate) fn draw(&self, rng: &mut Rng) -> u32 {
        // A scenario has at least one of everything, and at most 2^20.
        let bits = rng.next();
        let count = self.columns.len() as u64;
        let column = ((count * (bits >> 32)) >> 32) as u32;
        let (own, other) = self.columns[column as usize];
        // The low half of the bits, which the column does not depend on.
        if (bits & 0xffff_ffff) as u32 <= own {
            column
        } else {
            other
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_come_as_often_as_their_weights_say() {
        let mut rng = Rng::new(3, 0);
        for weights in [
            vec![1.0],
            vec![1.0, 0.0, 3.0],
            Weighted::zipf(50, 0.99),
            vec![5.0; 7],
        ] {
            let weighted = Weighted::new(&weights);
            let total: f64 = weights.iter().sum();
            let mut counts = vec![0_u32; weights.len()];
            for _ in 0..100_000 {
                counts[weighted.draw(&mut rng) as usize] += 1;
            }
            for (count, weight) in counts.iter().zip(&weights) {
                let share = f64::from(*count) / 100_000.0;
                assert!(
                    (share - weight / total).abs() < 0.01,
                    "{weights:?} {counts:?}"
                );
            }
        }
    }
}
