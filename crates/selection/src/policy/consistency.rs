//! Consistency levels, as far as they decide which datacenters may answer.

use std::fmt;
use std::str::FromStr;

use crate::Error;

/// How many replicas, and of which datacenters, have to answer a request of Cassandra's protocol.
///
/// Policies only look at it to tell which requests may go to remote datacenters; see
/// [`DatacenterAware`](crate::DatacenterAware). Requests of other protocols leave it at the
/// default, [`Consistency::One`].
///
/// ```
/// use steersman_selection::Consistency;
///
/// let level: Consistency = "LOCAL_QUORUM".parse()?;
/// assert!(level.is_local());
/// assert_eq!(level.to_string(), "LOCAL_QUORUM");
/// # Ok::<(), steersman_selection::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Consistency {
    /// A write may be stored by any node, as a hint.
    Any,
    /// One replica.
    #[default]
    One,
    /// Two replicas.
    Two,
    /// Three replicas.
    Three,
    /// More than half of all replicas.
    Quorum,
    /// All replicas.
    All,
    /// More than half of the local datacenter's replicas.
    LocalQuorum,
    /// More than half of each datacenter's replicas.
    EachQuorum,
    /// A serial read, by a quorum of all replicas.
    Serial,
    /// A serial read, by a quorum of the local datacenter's replicas.
    LocalSerial,
    /// One replica of the local datacenter.
    LocalOne,
}

impl Consistency {
    /// All levels, in the order of their codes in Cassandra's protocol.
    pub const ALL: [Self; 11] = [
        Self::Any,
        Self::One,
        Self::Two,
        Self::Three,
        Self::Quorum,
        Self::All,
        Self::LocalQuorum,
        Self::EachQuorum,
        Self::Serial,
        Self::LocalSerial,
        Self::LocalOne,
    ];

    /// Whether the local datacenter alone answers at this level.
    pub const fn is_local(self) -> bool {
        matches!(self, Self::LocalQuorum | Self::LocalSerial | Self::LocalOne)
    }

    /// The level's name in CQL.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Any => "ANY",
            Self::One => "ONE",
            Self::Two => "TWO",
            Self::Three => "THREE",
            Self::Quorum => "QUORUM",
            Self::All => "ALL",
            Self::LocalQuorum => "LOCAL_QUORUM",
            Self::EachQuorum => "EACH_QUORUM",
            Self::Serial => "SERIAL",
            Self::LocalSerial => "LOCAL_SERIAL",
            Self::LocalOne => "LOCAL_ONE",
        }
    }
}

impl fmt::Display for Consistency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Consistency {
    type Err = Error;

    /// The level of that name, in capitals. Fails with
    /// [`ErrorKind::UnknownConsistency`](crate::ErrorKind::UnknownConsistency).
    fn from_str(name: &str) -> Result<Self, Error> {
        Self::ALL
            .into_iter()
            .find(|level| level.name() == name)
            .ok_or_else(|| Error::unknown_consistency(name, &Self::ALL.map(Self::name)))
    }
}

/// A set of levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Levels(u16);

impl Levels {
    /// The levels that are not local.
    pub(super) fn across_datacenters() -> Self {
        let mut levels = Self(0);
        for level in Consistency::ALL {
            levels.set(level, !level.is_local());
        }
        levels
    }

    pub(super) fn set(&mut self, level: Consistency, member: bool) {
        let bit = 1 << level as u8;
        self.0 = if member { self.0 | bit } else { self.0 & !bit };
    }

    #[inline]
    pub(super) fn contains(self, level: Consistency) -> bool {
        self.0 & (1 << level as u8) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for level in Consistency::ALL {
            assert_eq!(level.name().parse(), Ok(level));
        }
        let error = "local_one".parse::<Consistency>().unwrap_err();
        assert!(error.to_string().contains("LOCAL_ONE"), "{error}");
    }

    #[test]
    fn a_set_holds_what_was_put_in() {
        let mut levels = Levels::across_datacenters();
        for level in Consistency::ALL {
            assert_eq!(levels.contains(level), !level.is_local(), "{level}");
        }
        levels.set(Consistency::LocalOne, true);
        levels.set(Consistency::Any, false);
        assert!(levels.contains(Consistency::LocalOne));
        assert!(!levels.contains(Consistency::Any));
        assert!(levels.contains(Consistency::All));
    }
}
