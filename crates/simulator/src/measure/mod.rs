//! What a run was like: what is counted while it goes on, and the measures that this comes to.

mod buckets;
mod episodes;
mod estimate;
mod histogram;
mod report;
mod tally;

pub use self::buckets::Bucket;
pub use self::estimate::Estimate;
pub use self::histogram::Histogram;
pub use self::report::Report;
pub(crate) use self::tally::Tally;

use std::fmt;

use serde::Deserialize;

/// A figure that a [`Report`] gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Measure {
    /// The share of requests that were answered.
    Success,
    /// The latency that half of the requests do not exceed, in seconds. A request that failed counts with
    /// the clients' time-out if it took less, so that failing fast is not fast.
    P50,
    /// The same of 90 %.
    P90,
    /// The same of 99 %.
    P99,
    /// The same of 99.9 %.
    #[serde(rename = "p99.9")]
    P999,
    /// While some servers are impaired and others are not, the share of attempts that go to those that are.
    SlowShare,
    /// How many more attempts than requests there are, in proportion to requests: retries and hedges.
    ExtraLoad,
    /// How long it takes, in seconds, until an impaired server gets less than half of its even share; the
    /// median of all its impairments, infinite if most are not noticed.
    Notice,
    /// How long it takes, in seconds, until a server that is well again gets half of its even share; the
    /// median of those that were noticed, infinite if most of them do not come back.
    Readmit,
    /// The longest queue of a server.
    LongestQueue,
    /// How far the shares of servers swing: the standard deviation of each one's share over time, in
    /// proportion to its even share; the mean of all that are not impaired.
    Swing,
    /// How much of the time servers that are not impaired get less than half of their even share.
    Starved,
    /// The share of attempts that go to servers of other datacenters.
    RemoteShare,
}

impl Measure {
    /// All of them, in the order of reports.
    pub const ALL: [Self; 13] = [
        Self::Success,
        Self::P50,
        Self::P90,
        Self::P99,
        Self::P999,
        Self::SlowShare,
        Self::ExtraLoad,
        Self::Notice,
        Self::Readmit,
        Self::LongestQueue,
        Self::Swing,
        Self::Starved,
        Self::RemoteShare,
    ];

    /// Its name in scenarios.
    pub fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::P50 => "p50",
            Self::P90 => "p90",
            Self::P99 => "p99",
            Self::P999 => "p99.9",
            Self::SlowShare => "slow-share",
            Self::ExtraLoad => "extra-load",
            Self::Notice => "notice",
            Self::Readmit => "readmit",
            Self::LongestQueue => "longest-queue",
            Self::Swing => "swing",
            Self::Starved => "starved",
            Self::RemoteShare => "remote-share",
        }
    }

    /// What its number is.
    pub fn unit(self) -> Unit {
        match self {
            Self::P50 | Self::P90 | Self::P99 | Self::P999 | Self::Notice | Self::Readmit => {
                Unit::Seconds
            }
            Self::LongestQueue => Unit::Count,
            _ => Unit::Share,
        }
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What the number of a [`Measure`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unit {
    /// Seconds of virtual time.
    Seconds,
    /// A part of a whole that is 1.
    Share,
    /// A number of requests.
    Count,
}
