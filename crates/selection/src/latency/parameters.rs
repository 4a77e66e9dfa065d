//! The parameters of latency awareness: defaults, ranges, and what to say of a value outside.

use std::time::Duration;

use crate::Error;
use crate::time::saturating_nanos;

/// The parameters of [`LatencyAware`](crate::LatencyAware).
///
/// The first five and their defaults are those of the `DataStax` Java driver; the others belong to
/// [`Mode::Guarded`](crate::Mode::Guarded) and are without effect in
/// [`Mode::Reference`](crate::Mode::Reference). Values are checked when the policy is built, by
/// [`LatencyParameters::validate`].
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use steersman_selection::LatencyParameters;
///
/// let parameters = LatencyParameters::default()
///     .exclusion_threshold(3.0)
///     .retry_period(Duration::from_secs(5));
/// assert!(parameters.validate().is_ok());
///
/// let error = parameters.scale(Duration::ZERO).validate().unwrap_err();
/// assert!(error.to_string().starts_with("scale"));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LatencyParameters {
    exclusion_threshold: f64,
    scale: Duration,
    retry_period: Duration,
    update_rate: Duration,
    min_measured: u32,
    min_difference: Duration,
    confirmations: u32,
    max_penalised_share: f64,
    first_probe: Duration,
    ramp: Duration,
}

impl Default for LatencyParameters {
    fn default() -> Self {
        Self {
            exclusion_threshold: 2.0,
            scale: Duration::from_millis(100),
            retry_period: Duration::from_secs(10),
            update_rate: Duration::from_millis(100),
            min_measured: 50,
            min_difference: Duration::from_millis(1),
            confirmations: 3,
            max_penalised_share: 0.5,
            first_probe: Duration::from_secs(1),
            ramp: Duration::from_secs(1),
        }
    }
}

impl LatencyParameters {
    /// How many times slower than the fastest a node may be before it is penalised: 1 or more,
    /// infinity included; 2 by default.
    pub fn exclusion_threshold(mut self, factor: f64) -> Self {
        self.exclusion_threshold = factor;
        self
    }

    /// How fast scores forget: a sample that comes this long after the one before makes up 31 % of
    /// the new average. More than 0; 100 ms by default.
    pub fn scale(mut self, scale: Duration) -> Self {
        self.scale = scale;
        self
    }

    /// How long a score is believed without new samples, and how long a penalised node waits from one
    /// series of probes to the next. 0 or more, in guarded mode more than 0; 10 s by default.
    pub fn retry_period(mut self, period: Duration) -> Self {
        self.retry_period = period;
        self
    }

    /// How often the minimum is computed, that is how often [`Policy::tick`](crate::Policy::tick)
    /// should be called. More than 0; 100 ms by default.
    pub fn update_rate(mut self, rate: Duration) -> Self {
        self.update_rate = rate;
        self
    }

    /// How many samples a node needs before it is judged, or is a measure for others. The first
    /// 30 % of them warm it up and do not count in the average. 50 by default.
    pub fn min_measured(mut self, samples: u32) -> Self {
        self.min_measured = samples;
        self
    }

    /// How much slower than the fastest, in absolute terms, a node must be at least before it is
    /// penalised, so that noise among fast nodes does not matter. 0 or more; 1 ms by default.
    pub fn min_difference(mut self, difference: Duration) -> Self {
        self.min_difference = difference;
        self
    }

    /// At how many ticks a node must have been over the limit, without being within it in between,
    /// before it is penalised. A tick does not count if there are no new samples, or if the average
    /// is falling, as after a pause. 1 or more; 3 by default.
    pub fn confirmations(mut self, ticks: u32) -> Self {
        self.confirmations = ticks;
        self
    }

    /// Which share of a datacenter's nodes may be penalised at once, the slowest first. The number
    /// of nodes is rounded down, but one of two or more always may. A node counts until its
    /// [ramp](Self::ramp) is over, for others bear its load until then. More than 0, at most 1; 0.5
    /// by default.
    pub fn max_penalised_share(mut self, share: f64) -> Self {
        self.max_penalised_share = share;
        self
    }

    /// How long after a node was penalised, or its ramp was cut short, it is probed for the first
    /// time, so that one that only made a pause is soon back. Further probes wait for the retry
    /// period; this one does not wait for longer either. 0 or more; 1 s by default.
    pub fn first_probe(mut self, delay: Duration) -> Self {
        self.first_probe = delay;
        self
    }

    /// How long it takes until a node that comes back, or is new, has its full share of requests.
    /// 0 or more; 1 s by default.
    pub fn ramp(mut self, ramp: Duration) -> Self {
        self.ramp = ramp;
        self
    }

    /// Whether all values are within their ranges. Fails with
    /// [`ErrorKind::InvalidParameter`](crate::ErrorKind::InvalidParameter); the message begins with
    /// the parameter's name. No duration may be longer than 292 years.
    pub fn validate(&self) -> Result<(), Error> {
        let factor = self.exclusion_threshold;
        if factor.is_nan() || factor < 1.0 {
            let allowed = "choose 1 or more";
            return Err(Error::invalid_parameter(
                "exclusion_threshold",
                factor,
                allowed,
            ));
        }
        positive("scale", self.scale)?;
        in_range("retry_period", self.retry_period)?;
        positive("update_rate", self.update_rate)?;
        in_range("min_difference", self.min_difference)?;
        if self.confirmations == 0 {
            let allowed = "choose 1 or more";
            return Err(Error::invalid_parameter("confirmations", 0, allowed));
        }
        let share = self.max_penalised_share;
        if !(share > 0.0 && share <= 1.0) {
            let allowed = "choose more than 0 and at most 1";
            return Err(Error::invalid_parameter(
                "max_penalised_share",
                share,
                allowed,
            ));
        }
        in_range("first_probe", self.first_probe)?;
        in_range("ramp", self.ramp)
    }

    pub(crate) fn threshold(&self) -> f64 {
        self.exclusion_threshold
    }

    pub(crate) fn scale_nanos(&self) -> i64 {
        saturating_nanos(self.scale)
    }

    pub(crate) fn retry_nanos(&self) -> i64 {
        saturating_nanos(self.retry_period)
    }

    pub(crate) fn tick_rate(&self) -> Duration {
        self.update_rate
    }

    pub(crate) fn tick_nanos(&self) -> i64 {
        saturating_nanos(self.update_rate)
    }

    pub(crate) fn min_measured_samples(&self) -> u32 {
        self.min_measured
    }

    pub(crate) fn difference_nanos(&self) -> i64 {
        saturating_nanos(self.min_difference)
    }

    pub(crate) fn ticks_to_confirm(&self) -> u32 {
        self.confirmations
    }

    pub(crate) fn penalised_share(&self) -> f64 {
        self.max_penalised_share
    }

    pub(crate) fn first_probe_nanos(&self) -> i64 {
        saturating_nanos(self.first_probe).min(self.retry_nanos())
    }

    pub(crate) fn ramp_nanos(&self) -> i64 {
        saturating_nanos(self.ramp)
    }
}

pub(crate) fn positive(name: &str, value: Duration) -> Result<(), Error> {
    if value.is_zero() {
        return Err(Error::invalid_parameter(name, "0", "choose more than 0"));
    }
    in_range(name, value)
}

pub(crate) fn in_range(name: &str, value: Duration) -> Result<(), Error> {
    if i64::try_from(value.as_nanos()).is_err() {
        let value = format!("{value:?}");
        return Err(Error::invalid_parameter(
            name,
            value,
            "choose at most 292 years",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[test]
    fn each_error_names_its_parameter() {
        let good = LatencyParameters::default;
        let long = Duration::MAX;
        let cases = [
            ("exclusion_threshold", good().exclusion_threshold(f64::NAN)),
            (
                "exclusion_threshold",
                good().exclusion_threshold(1.0_f64.next_down()),
            ),
            ("exclusion_threshold", good().exclusion_threshold(-2.0)),
            ("scale", good().scale(Duration::ZERO)),
            ("scale", good().scale(long)),
            ("retry_period", good().retry_period(long)),
            ("update_rate", good().update_rate(Duration::ZERO)),
            ("update_rate", good().update_rate(long)),
            ("min_difference", good().min_difference(long)),
            ("confirmations", good().confirmations(0)),
            ("max_penalised_share", good().max_penalised_share(0.0)),
            ("max_penalised_share", good().max_penalised_share(1.1)),
            ("max_penalised_share", good().max_penalised_share(f64::NAN)),
            ("first_probe", good().first_probe(long)),
            ("ramp", good().ramp(long)),
        ];
        for (name, parameters) in cases {
            let error = parameters.validate().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidParameter, "{name}");
            assert!(error.to_string().starts_with(name), "{error}");
        }
    }

    #[test]
    fn the_ends_of_the_ranges_are_allowed() {
        let most = Duration::from_nanos(i64::MAX as u64);
        let least = LatencyParameters::default()
            .exclusion_threshold(1.0)
            .scale(Duration::from_nanos(1))
            .retry_period(Duration::ZERO)
            .update_rate(Duration::from_nanos(1))
            .min_measured(0)
            .min_difference(Duration::ZERO)
            .confirmations(1)
            .max_penalised_share(f64::MIN_POSITIVE)
            .first_probe(Duration::ZERO)
            .ramp(Duration::ZERO);
        assert_eq!(least.validate(), Ok(()));
        let greatest = LatencyParameters::default()
            .exclusion_threshold(f64::INFINITY)
            .scale(most)
            .retry_period(most)
            .update_rate(most)
            .min_measured(u32::MAX)
            .min_difference(most)
            .confirmations(u32::MAX)
            .max_penalised_share(1.0)
            .first_probe(most)
            .ramp(most);
        assert_eq!(greatest.validate(), Ok(()));
    }
}
