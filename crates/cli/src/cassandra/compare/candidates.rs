//! The candidates: four policies, each with and without speculative executions.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use scylla::policies::load_balancing::{
    DefaultPolicy, LatencyAwarenessBuilder, LoadBalancingPolicy,
};
use steersman_selection::{LatencyAware, Mode};

use crate::answer::Failure;
use crate::cassandra::chain::chain;

/// What is compared. Displays as it is shown in progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) kind: Kind,
    /// After which time a read is sent to a second node as well.
    pub(super) speculation: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The driver's default policy.
    Driver,
    /// The same with its latency awareness.
    DriverLatency,
    /// Our chain in a mode.
    Ours(Mode),
}

const KINDS: [Kind; 4] = [
    Kind::Driver,
    Kind::DriverLatency,
    Kind::Ours(Mode::Reference),
    Kind::Ours(Mode::Guarded),
];

/// All of them, those with speculation last.
pub(super) fn candidates(speculation: Option<Duration>) -> impl Iterator<Item = Candidate> {
    let with = |speculation| KINDS.map(|kind| Candidate { kind, speculation });
    let speculating = speculation.map(|after| with(Some(after)));
    with(None)
        .into_iter()
        .chain(speculating.into_iter().flatten())
}

impl Candidate {
    /// The policy afresh, that knows of nothing.
    pub(super) fn policy(
        &self,
        datacenter: Option<&str>,
    ) -> Result<Arc<dyn LoadBalancingPolicy>, Failure> {
        let mode = match self.kind {
            Kind::Ours(mode) => mode,
            Kind::Driver | Kind::DriverLatency => {
                let mut builder = DefaultPolicy::builder();
                if let Some(datacenter) = datacenter {
                    builder = builder.prefer_datacenter(datacenter.to_owned());
                }
                if self.kind == Kind::DriverLatency {
                    builder = builder.latency_awareness(LatencyAwarenessBuilder::default());
                }
                return Ok(builder.build());
            }
        };
        Ok(chain(LatencyAware::builder().mode(mode), datacenter)?)
    }
}

impl Kind {
    /// As the table has it.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Driver => "driver",
            Self::DriverLatency => "driver, latency-aware",
            Self::Ours(Mode::Reference) => "steersman, reference",
            Self::Ours(_) => "steersman",
        }
    }

    /// As scripts know it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Driver => "driver",
            Self::DriverLatency => "driver-latency-aware",
            Self::Ours(Mode::Reference) => "steersman-reference",
            Self::Ours(_) => "steersman",
        }
    }
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.title())?;
        match self.speculation {
            Some(after) => write!(f, ", speculation after {after:?}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_four_policies_and_each_may_speculate() {
        let after = Duration::from_millis(3);
        let all: Vec<Candidate> = candidates(Some(after)).collect();
        assert_eq!(all[..4], candidates(None).collect::<Vec<_>>());
        let kinds = |all: &[Candidate]| all.iter().map(|one| one.kind).collect::<Vec<_>>();
        assert_eq!(kinds(&all[..4]), kinds(&all[4..]));
        assert!(all[4..].iter().all(|one| one.speculation == Some(after)));
        assert_eq!(all[7].to_string(), "steersman, speculation after 3ms");
    }
}
