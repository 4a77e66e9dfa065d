//! What a plan yields: a node, and how the policies regard it.

use std::fmt;

use crate::NodeIndex;

/// A node of a plan.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Candidate {
    /// Which node.
    pub node: NodeIndex,
    /// How near it is to the data and to the client.
    pub tier: Tier,
    /// Why it stands where it does within its tier.
    pub standing: Standing,
}

impl Candidate {
    /// A node in good standing.
    #[inline]
    pub(crate) fn new(node: NodeIndex, tier: Tier) -> Self {
        Self {
            node,
            tier,
            standing: Standing::Normal,
        }
    }
}

/// How near a node is to the data and to the client. Nodes are taken tier by tier: a penalised
/// node is last in its tier, but never behind a node of a further one.
///
/// A rack is no tier, though its nodes come first within theirs: often only one replica is in the
/// client's rack, and a slow one there is worse than a fast one a rack further.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// A replica of the key, in the preferred datacenter if there is one.
    Replica,
    /// Another node of the preferred datacenter, or any node if none is preferred.
    #[default]
    Local,
    /// A node of another datacenter.
    Remote,
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Replica => "replica",
            Self::Local => "local",
            Self::Remote => "remote",
        })
    }
}

/// How a policy that judges nodes regards one for one request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Standing {
    /// It takes its turn.
    #[default]
    Normal,
    /// It is penalised, and this request tests whether it still deserves it.
    Probe,
    /// Its share of requests is rising, and this request is in it.
    Ramping,
    /// Its share of requests is rising, and this request is not in it: it comes last in its tier.
    Waiting,
    /// It is penalised: it comes last in its tier.
    Penalised,
}

impl Standing {
    /// Whether the node is put behind the others of its tier.
    #[inline]
    pub const fn is_held_back(self) -> bool {
        matches!(self, Self::Waiting | Self::Penalised)
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Normal => "normal",
            Self::Probe => "probe",
            Self::Ramping => "ramping",
            Self::Waiting => "waiting",
            Self::Penalised => "penalised",
        })
    }
}
