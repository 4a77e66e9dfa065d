//! The policies of reads that have a name, for sources of options that have no code.

use std::fmt;
use std::str::FromStr;

use steersman_selection::{
    CubicInFlight, DynPolicy, HotColdLexicographic, LatencyAware, LeastInFlight, PeakEwma,
    RankedBuilder, Ranking, Replicas, Steady,
};

use crate::error::{Error, Result};

/// The probes that may go with a read, as in Prequal.
const PROBES: usize = 3;

/// A policy of [`steersman_selection`] over the replicas of a key, by its name; for
/// [`Replication::read_policy`](crate::Replication::read_policy).
///
/// ```
/// use steersman_memcached::ReadPolicy;
///
/// let policy: ReadPolicy = "peak-ewma".parse()?;
/// assert_eq!(policy, ReadPolicy::PeakEwma);
/// assert_eq!(policy.to_string(), "peak-ewma");
/// # Ok::<(), steersman_memcached::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReadPolicy {
    /// `latency-aware`: [`LatencyAware`] in the placement's order: the owner, unless it is much slower
    /// than others.
    LatencyAware,
    /// `steady`: [`Steady`]: the replica with the least latency and the fewest requests in flight, by lot
    /// among those that are alike.
    #[default]
    Steady,
    /// `peak-ewma`: [`PeakEwma`].
    PeakEwma,
    /// `least-in-flight`: [`LeastInFlight`].
    LeastInFlight,
    /// `hot-cold`: [`HotColdLexicographic`], with up to three probes (`mn`) a read, and ten a second of
    /// each node.
    HotCold,
    /// `cubic-in-flight`: [`CubicInFlight`]. Experimental.
    CubicInFlight,
    /// `in-order`: the owner, and others only when it fails or takes long.
    InOrder,
    /// `shuffled`: a replica at random.
    Shuffled,
}

impl ReadPolicy {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::LatencyAware,
        Self::Steady,
        Self::PeakEwma,
        Self::LeastInFlight,
        Self::HotCold,
        Self::CubicInFlight,
        Self::InOrder,
        Self::Shuffled,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LatencyAware => "latency-aware",
            Self::Steady => "steady",
            Self::PeakEwma => "peak-ewma",
            Self::LeastInFlight => "least-in-flight",
            Self::HotCold => "hot-cold",
            Self::CubicInFlight => "cubic-in-flight",
            Self::InOrder => "in-order",
            Self::Shuffled => "shuffled",
        }
    }

    /// The policy, with lots of its own.
    pub(super) fn build(self) -> Box<dyn DynPolicy> {
        let seed = fastrand::u64(..);
        let child = Replicas::in_order();
        match self {
            Self::LatencyAware => Box::new(LatencyAware::new(child)),
            Self::Steady => ranked(Steady::builder(), seed),
            Self::PeakEwma => ranked(PeakEwma::builder(), seed),
            Self::LeastInFlight => ranked(LeastInFlight::builder(), seed),
            Self::HotCold => ranked(HotColdLexicographic::builder().probes(PROBES), seed),
            Self::CubicInFlight => ranked(CubicInFlight::builder(), seed),
            Self::InOrder => Box::new(child),
            Self::Shuffled => Box::new(Replicas::shuffled(seed)),
        }
    }
}

fn ranked<R: Ranking>(builder: RankedBuilder<R>, seed: u64) -> Box<dyn DynPolicy> {
    let built = builder.seed(seed).build(Replicas::in_order());
    Box::new(built.expect("the defaults are within their ranges"))
}

impl fmt::Display for ReadPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for ReadPolicy {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let named = Self::ALL.into_iter().find(|policy| policy.name() == name);
        named.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            Error::config("read_policy", format!("it is none of {names}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_policy_has_a_name_and_can_be_built() {
        for policy in ReadPolicy::ALL {
            assert_eq!(policy.name().parse::<ReadPolicy>().unwrap(), policy);
            assert!(policy.build().dyn_preferred().is_none(), "{policy}");
        }
        assert_eq!(ReadPolicy::default(), ReadPolicy::Steady);
        let error = "fastest".parse::<ReadPolicy>().unwrap_err().to_string();
        assert!(
            error.contains("latency-aware, steady, peak-ewma"),
            "{error}"
        );
    }
}
