//! What can be wrong with the configuration of a placement or a policy.
//!
//! Every message is written here, so that all of them say the same three things: what was asked,
//! what is wrong with it, and what to do instead.

use std::fmt;

/// A placement or a policy that cannot be built or changed as asked.
///
/// Looking up a key and planning never fail; only configuration does: the members, the scheme,
/// parameters.
/// The same call fails in the same way every time, so there is nothing to retry. A failed change
/// leaves the placement as it was.
///
/// # Examples
///
/// ```
/// use steersman_selection::{ErrorKind, Member, Placement, Scheme};
///
/// let twice = [Member::new("cache-a:11211"), Member::new("cache-a:11211")];
/// let error = Placement::new(Scheme::default(), twice).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::DuplicateName);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    message: Box<str>,
}

/// What kind of mistake an [`Error`] reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Two members have the same name.
    DuplicateName,
    /// Two members have different names with the same 64-bit hash, so neither could be preferred.
    DuplicateHash,
    /// A name that the scheme cannot use, such as an empty one or a port that is no number.
    InvalidName,
    /// A weight of zero, or weights whose sum is too large, or a weight under a scheme that has
    /// none.
    InvalidWeight,
    /// More members than a placement can hold.
    TooManyNodes,
    /// A scheme's name that is not one of [`Scheme::NAMES`](crate::Scheme::NAMES).
    UnknownScheme,
    /// Slot bits out of range, or given to a scheme without a slot table.
    InvalidSlotBits,
    /// A number of replicas out of range.
    InvalidReplicas,
    /// A policy's parameter out of range; the message begins with its name.
    InvalidParameter,
    /// A consistency level's name that is none of CQL's.
    UnknownConsistency,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into().into_boxed_str(),
        }
    }

    /// What kind of mistake it is.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    pub(crate) fn duplicate_name(name: &str) -> Self {
        Self::new(
            ErrorKind::DuplicateName,
            format!("node {name:?} is already a member; give each node a name of its own"),
        )
    }

    pub(crate) fn duplicate_hash(name: &str, other: &str) -> Self {
        Self::new(
            ErrorKind::DuplicateHash,
            format!(
                "node {name:?} hashes to the same value as node {other:?}; rename one of the two"
            ),
        )
    }

    pub(crate) fn invalid_name(name: &str, problem: &str) -> Self {
        Self::new(
            ErrorKind::InvalidName,
            format!("node {name:?} cannot be placed: {problem}"),
        )
    }

    pub(crate) fn zero_weight(name: &str) -> Self {
        Self::new(
            ErrorKind::InvalidWeight,
            format!(
                "node {name:?} has weight 0, the least is 1; leave the node out to give it no keys"
            ),
        )
    }

    pub(crate) fn weights_too_large(name: &str, weight: u32, max: usize) -> Self {
        Self::new(
            ErrorKind::InvalidWeight,
            format!(
                "node {name:?} with weight {weight} brings the sum of all weights above {max}; \
                 divide all weights by a common factor"
            ),
        )
    }

    pub(crate) fn unsupported_weight(name: &str, weight: u32, scheme: &str) -> Self {
        Self::new(
            ErrorKind::InvalidWeight,
            format!(
                "node {name:?} has weight {weight}, but {scheme} ignores weights; \
                 drop the weight or choose another placement"
            ),
        )
    }

    pub(crate) fn too_many_nodes(max: usize) -> Self {
        Self::new(
            ErrorKind::TooManyNodes,
            format!(
                "a placement holds at most {max} nodes; split the nodes over several placements"
            ),
        )
    }

    pub(crate) fn index_out_of_range(index: usize, max: usize) -> Self {
        Self::new(
            ErrorKind::TooManyNodes,
            format!("node index {index} is out of range; a placement holds at most {max} nodes"),
        )
    }

    pub(crate) fn unknown_scheme(name: &str, names: &[impl AsRef<str>]) -> Self {
        let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
        Self::new(
            ErrorKind::UnknownScheme,
            format!(
                "unknown placement {name:?}; choose one of {}",
                names.join(", ")
            ),
        )
    }

    pub(crate) fn slot_bits_out_of_range(bits: u8, min: u8, max: u8) -> Self {
        Self::new(
            ErrorKind::InvalidSlotBits,
            format!("slot bits of {bits} are out of range; choose {min} to {max}"),
        )
    }

    pub(crate) fn no_slots(scheme: &str) -> Self {
        Self::new(
            ErrorKind::InvalidSlotBits,
            format!(
                "placement {scheme} has no slot table; \
                 drop the slot bits or choose the placement rendezvous"
            ),
        )
    }

    pub(crate) fn invalid_parameter(name: &str, value: impl fmt::Display, allowed: &str) -> Self {
        Self::new(
            ErrorKind::InvalidParameter,
            format!("{name} of {value} is out of range; {allowed}"),
        )
    }

    pub(crate) fn unknown_consistency(name: &str, names: &[&str]) -> Self {
        Self::new(
            ErrorKind::UnknownConsistency,
            format!(
                "unknown consistency level {name:?}; choose one of {}",
                names.join(", ")
            ),
        )
    }

    pub(crate) fn invalid_replicas(replicas: usize, max: usize) -> Self {
        Self::new(
            ErrorKind::InvalidReplicas,
            format!("{replicas} replicas are out of range; choose 1 to {max}"),
        )
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
