//! What a read may have seen that it must not see.

use std::fmt;

use super::stamp::Damage;

/// A promise that was broken; [`Ledger`](super::Ledger) says which there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Which promise.
    pub kind: ViolationKind,
    /// The key that was read.
    pub key: String,
    /// The node that was asked.
    pub home: usize,
    /// What was seen, and what is known of the key.
    pub story: String,
}

/// Which promise was broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ViolationKind {
    /// The value is none that was ever written, or only a part of it.
    Damaged,
    /// The value was stored under another key.
    OtherKey,
    /// A later write was confirmed before the read began.
    Stale,
    /// The write of this value was said not to have been executed.
    NotExecuted,
    /// Nobody has written this version to this node.
    NeverWritten,
    /// A miss, though a value was confirmed and nothing can have removed it.
    FalseMiss,
}

impl fmt::Display for ViolationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Damaged => "a damaged value",
            Self::OtherKey => "the value of another key",
            Self::Stale => "an older value than a confirmed one",
            Self::NotExecuted => "a value whose write was said not to have been executed",
            Self::NeverWritten => "a value that nobody has written there",
            Self::FalseMiss => "a miss of a value that must be there",
        })
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            kind,
            key,
            home,
            story,
        } = self;
        write!(f, "{kind}: {key} at node {home}: {story}")
    }
}

impl From<&Damage> for ViolationKind {
    fn from(_: &Damage) -> Self {
        Self::Damaged
    }
}

impl std::error::Error for Violation {}
