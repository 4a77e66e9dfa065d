//! A figure from several runs with different seeds: the mean, and how far to trust it.

/// The mean of independent values, with its 95 % confidence interval by Student's t distribution.
///
/// # Examples
///
/// ```
/// use steersman_simulator::Estimate;
///
/// let estimate = Estimate::of(&[9.0, 10.0, 11.0]).unwrap();
/// assert_eq!(estimate.mean, 10.0);
/// assert!((estimate.half_width - 2.484).abs() < 0.001);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Estimate {
    /// The mean; infinite if a value is.
    pub mean: f64,
    /// The interval goes so far to both sides; 0 for a single value, of which nothing is known, and where
    /// the mean is infinite.
    pub half_width: f64,
}

/// The 97.5 % quantiles of Student's t distribution for 1 to 30 degrees of freedom.
const STUDENT: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
];

/// The same for more: that of the normal distribution.
const NORMAL: f64 = 1.96;

impl Estimate {
    /// From at least one value.
    #[expect(clippy::cast_precision_loss, reason = "numbers of seeds are small")]
    pub fn of(values: &[f64]) -> Option<Self> {
        if values.is_empty() {
            return None;
        }
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        if values.len() == 1 || !mean.is_finite() {
            return Some(Self {
                mean,
                half_width: 0.0,
            });
        }
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let t = STUDENT.get(values.len() - 2).copied().unwrap_or(NORMAL);
        Some(Self {
            mean,
            half_width: t * (squares / (count - 1.0) / count).sqrt(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_has_no_interval_and_never_stays_never() {
        assert_eq!(Estimate::of(&[]), None);
        assert_eq!(
            Estimate::of(&[3.0]),
            Some(Estimate {
                mean: 3.0,
                half_width: 0.0
            })
        );
        let never = Estimate::of(&[1.0, f64::INFINITY]).unwrap();
        assert_eq!((never.mean, never.half_width), (f64::INFINITY, 0.0));
        let many = Estimate::of(&(0..100).map(|n| f64::from(n % 2)).collect::<Vec<_>>()).unwrap();
        assert!((many.half_width - 1.96 * 0.5025 / 10.0).abs() < 1e-3);
    }
}
