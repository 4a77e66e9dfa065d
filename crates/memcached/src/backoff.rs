//! How long the pool waits before it tries to connect again, and what chance leaves out of waits.

use std::time::Duration;

use crate::error::Error;

/// Longer waits are as good as for ever, and would overflow on the way.
const LONGEST: Duration = Duration::from_secs(u32::MAX as u64);

/// The largest share of the wait until a regular look that chance leaves out.
const REGULAR_JITTER: f64 = 0.1;

/// The wait until a regular look, shortened by chance, so that many clients or nodes do not look at the
/// same moment.
pub(crate) fn jittered(wait: Duration) -> Duration {
    wait.mul_f64(1.0 - REGULAR_JITTER * fastrand::f64())
}

/// Exponential back-off with jitter between attempts to connect to a node.
///
/// The n-th wait is `initial * 2^(n-1)`, at most `max`, of which a random share up to `jitter`
/// is left out, so that many clients do not return to a restarted server at the same moment.
/// By default 1 s, 2 s, 4 s ... 60 s, with a jitter of one half.
///
/// ```
/// use std::time::Duration;
/// use steersman_memcached::Backoff;
///
/// let quick = Backoff { initial: Duration::from_millis(100), ..Backoff::default() };
/// assert_eq!(quick.max, Duration::from_secs(60));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Backoff {
    /// The wait after the first failure. Above zero; 1 s by default.
    pub initial: Duration,
    /// The longest wait. At least `initial`; 60 s by default.
    pub max: Duration,
    /// The largest share of a wait that chance leaves out, 0.0 to 1.0; 0.5 by default.
    pub jitter: f64,
}

impl Default for Backoff {
    fn default() -> Self {
        Self {
            initial: Duration::from_secs(1),
            max: Duration::from_secs(60),
            jitter: 0.5,
        }
    }
}

impl Backoff {
    pub(crate) fn validate(&self) -> Result<(), Error> {
        if self.initial.is_zero() {
            return Err(Error::config(
                "backoff",
                "the initial wait must be above zero",
            ));
        }
        if self.max < self.initial {
            return Err(Error::config(
                "backoff",
                "the longest wait is below the initial one",
            ));
        }
        if !(0.0..=1.0).contains(&self.jitter) {
            return Err(Error::config(
                "backoff",
                "the jitter must be from 0.0 to 1.0",
            ));
        }
        Ok(())
    }

    /// The wait after `failures` failures in a row (1 or more); `random` is from 0.0 to 1.0.
    pub(crate) fn wait(&self, failures: u32, random: f64) -> Duration {
        let doublings = failures.saturating_sub(1).min(31);
        let full = self
            .initial
            .saturating_mul(1 << doublings)
            .min(self.max)
            .min(LONGEST);
        full.mul_f64(1.0 - self.jitter * random)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest() {
        let backoff = Backoff {
            jitter: 0.0,
            ..Backoff::default()
        };
        let waits: Vec<u64> = (1..=9).map(|n| backoff.wait(n, 0.7).as_secs()).collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
        assert_eq!(backoff.wait(u32::MAX, 0.0).as_secs(), 60);
        let endless = Backoff {
            initial: Duration::MAX,
            max: Duration::MAX,
            jitter: 0.0,
        };
        assert!(endless.wait(u32::MAX, 1.0) > Duration::from_secs(1_000_000_000));
    }

    #[test]
    fn jitter_shortens_by_at_most_its_share() {
        let backoff = Backoff {
            jitter: 0.25,
            ..Backoff::default()
        };
        assert_eq!(backoff.wait(3, 0.0), Duration::from_secs(4));
        assert_eq!(backoff.wait(3, 1.0), Duration::from_secs(3));
    }

    #[test]
    fn nonsense_is_refused() {
        let bad = [
            Backoff {
                initial: Duration::ZERO,
                ..Backoff::default()
            },
            Backoff {
                max: Duration::from_millis(1),
                ..Backoff::default()
            },
            Backoff {
                jitter: f64::NAN,
                ..Backoff::default()
            },
            Backoff {
                jitter: 1.1,
                ..Backoff::default()
            },
        ];
        for backoff in bad {
            assert_eq!(backoff.validate().unwrap_err().option(), Some("backoff"));
        }
    }
}
