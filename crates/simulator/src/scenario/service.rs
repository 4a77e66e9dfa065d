//! How long a server works on a request, before queues and faults.

use serde::Deserialize;

use super::Span;
use crate::Error;
use crate::random::Rng;

/// A distribution of service times.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Service {
    /// Always the same.
    Fixed(Span),
    /// Exponential, with this mean.
    Exponential(Span),
    /// Normal, cut off at 0.
    Normal {
        /// The mean, before it is cut off.
        mean: Span,
        /// The standard deviation.
        deviation: Span,
    },
    /// Log-normal: the logarithm is normal.
    LogNormal {
        /// The median.
        median: Span,
        /// The standard deviation of the natural logarithm, 0 to 5.
        sigma: f64,
    },
    /// Pareto: a heavy tail.
    Pareto {
        /// The least value.
        least: Span,
        /// The tail's exponent, above 1 so that there is a mean, up to 100.
        shape: f64,
    },
    /// One of these, each as likely: what was measured.
    Recorded(Vec<Span>),
}

impl Service {
    /// One service time in nanoseconds.
    #[inline]
    pub(crate) fn draw(&self, rng: &mut Rng) -> f64 {
        match self {
            Self::Fixed(span) => nanos(*span),
            Self::Exponential(mean) => nanos(*mean) * rng.exponential(),
            Self::Normal { mean, deviation } => {
                (nanos(*mean) + nanos(*deviation) * rng.normal()).max(0.0)
            }
            Self::LogNormal { median, sigma } => nanos(*median) * (sigma * rng.normal()).exp(),
            Self::Pareto { least, shape } => nanos(*least) * (1.0 - rng.unit()).powf(-1.0 / shape),
            Self::Recorded(spans) => {
                // Validation has seen that there are some, and not too many.
                let chosen = rng.below(u32::try_from(spans.len()).unwrap_or(u32::MAX));
                spans.get(chosen as usize).map_or(0.0, |span| nanos(*span))
            }
        }
    }

    /// The mean in nanoseconds, as exactly as some thousand draws tell it.
    pub(crate) fn mean(&self) -> f64 {
        const DRAWS: u32 = 4_096;
        match self {
            Self::Fixed(mean) | Self::Exponential(mean) => nanos(*mean),
            _ => {
                let mut rng = Rng::new(0, 0);
                let sum: f64 = (0..DRAWS).map(|_| self.draw(&mut rng)).sum();
                sum / f64::from(DRAWS)
            }
        }
    }

    pub(super) fn validate(&self) -> Result<(), Error> {
        match self {
            Self::LogNormal { sigma, .. } if !(0.0..=5.0).contains(sigma) => {
                Err(Error::option("log-normal.sigma", sigma, "choose 0 to 5"))
            }
            Self::Pareto { shape, .. } if !(*shape > 1.0 && *shape <= 100.0) => {
                let allowed = "choose more than 1, up to 100";
                Err(Error::option("pareto.shape", shape, allowed))
            }
            Self::Recorded(spans) if spans.is_empty() || spans.len() > 1 << 20 => {
                let allowed = "give 1 to 1,048,576 of them";
                Err(Error::option(
                    "recorded",
                    format!("{} spans", spans.len()),
                    allowed,
                ))
            }
            _ => Ok(()),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "at most 2^52")]
fn nanos(span: Span) -> f64 {
    span.nanos() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_have_the_means_that_they_should_have() {
        let ms = |n: u64| Span::from_nanos(n * 1_000_000);
        let mut rng = Rng::new(1, 1);
        for (service, mean) in [
            (Service::Fixed(ms(4)), 4e6),
            (Service::Exponential(ms(4)), 4e6),
            (
                Service::Normal {
                    mean: ms(40),
                    deviation: ms(5),
                },
                40e6,
            ),
            // exp(sigma^2 / 2)
            (
                Service::LogNormal {
                    median: ms(4),
                    sigma: 0.5,
                },
                4e6 * 0.125_f64.exp(),
            ),
            // least * shape / (shape - 1)
            (
                Service::Pareto {
                    least: ms(4),
                    shape: 3.0,
                },
                6e6,
            ),
            (Service::Recorded(vec![ms(2), ms(8)]), 5e6),
        ] {
            assert_eq!(service.validate(), Ok(()));
            let sum: f64 = (0..100_000).map(|_| service.draw(&mut rng)).sum();
            assert!((sum / 100_000.0 / mean - 1.0).abs() < 0.03, "{service:?}");
            assert!((service.mean() / mean - 1.0).abs() < 0.05, "{service:?}");
        }
    }

    #[test]
    fn what_has_no_mean_or_no_value_is_refused() {
        let least = Span::from_nanos(1);
        for service in [
            Service::Pareto { least, shape: 1.0 },
            Service::Pareto {
                least,
                shape: f64::NAN,
            },
            Service::LogNormal {
                median: least,
                sigma: -0.1,
            },
            Service::Recorded(vec![]),
        ] {
            assert!(service.validate().is_err(), "{service:?}");
        }
    }
}
