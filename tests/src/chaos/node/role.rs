//! Which servers there are, and what may strike each of them.

use std::ops::Range;

use super::super::fault::Fault;

/// So many connections a server that has a limit takes, its own listeners included.
const LIMIT: &str = "40";
/// How many new connections wait for a server with a short queue.
const BACKLOG: &str = "8";

/// Which of the servers a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Connected to without a proxy, so that the kernel's own ways to fail are seen.
    Direct,
    /// Behind a proxy that makes a network of it.
    Distant,
    /// With little memory, and not allowed to evict.
    Full,
    /// With few connections, and saying so.
    Limited,
    /// With few connections, of which others wait for one to become free.
    Waiting,
    /// In this process.
    Embedded,
    /// With TLS and credentials, connected to without a proxy.
    Guarded,
    /// With TLS and credentials, behind a proxy.
    GuardedDistant,
    /// With TLS and credentials, and not a member of the cluster all the time.
    Guest,
}

impl Role {
    /// All of them, in the order of the nodes; three to a [side](super::super::side::Side).
    pub const ALL: [Self; 9] = [
        Self::Direct,
        Self::Full,
        Self::Limited,
        Self::Distant,
        Self::Waiting,
        Self::Embedded,
        Self::Guarded,
        Self::GuardedDistant,
        Self::Guest,
    ];
    /// The nodes that anybody may use.
    pub const OPEN: Range<usize> = 0..6;
    /// The nodes with TLS and credentials.
    pub const WITH_A_GUARD: Range<usize> = 6..9;

    /// What may strike it.
    pub const fn faults(self) -> &'static [Fault] {
        match self {
            Self::Direct => &[
                Fault::Down,
                Fault::Restart,
                Fault::Paused,
                Fault::BacklogFull,
                Fault::Impostor,
            ],
            Self::Distant => &[
                Fault::Down,
                Fault::BlackHole,
                Fault::HalfOpen,
                Fault::Resets,
                Fault::CutReplies,
                Fault::Slow,
                Fault::Refused,
                Fault::HeldBack,
                Fault::ResetAccepted,
            ],
            Self::Full => &[Fault::OutOfMemory, Fault::Paused],
            Self::Limited => &[Fault::ConnectionLimit],
            Self::Waiting => &[Fault::ConnectionTableFull],
            Self::Embedded => &[
                Fault::Down,
                Fault::Paused,
                Fault::BlackHole,
                Fault::Resets,
                Fault::CutReplies,
                Fault::Garbage,
                Fault::ErrorLines,
            ],
            Self::Guarded => &[
                Fault::Down,
                Fault::Paused,
                Fault::Impostor,
                Fault::PasswordChanged,
            ],
            Self::GuardedDistant => &[
                Fault::BlackHole,
                Fault::HalfOpen,
                Fault::Resets,
                Fault::CutReplies,
                Fault::Slow,
                Fault::WrongPassword,
            ],
            Self::Guest => &[Fault::NoMember, Fault::WrongPassword, Fault::Restart],
        }
    }

    pub(super) const fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Direct => &["-b", BACKLOG],
            Self::Full => &["-M", "-m", "8"],
            Self::Limited => &["-c", LIMIT],
            Self::Waiting => &["-c", LIMIT, "-o", "no_maxconns_fast"],
            Self::Distant | Self::Embedded | Self::Guarded | Self::GuardedDistant | Self::Guest => {
                &[]
            }
        }
    }

    /// Whether it wants TLS and credentials.
    pub(super) const fn has_guard(self) -> bool {
        matches!(self, Self::Guarded | Self::GuardedDistant | Self::Guest)
    }

    pub(super) const fn has_proxy(self) -> bool {
        matches!(
            self,
            Self::Distant | Self::Limited | Self::Waiting | Self::GuardedDistant | Self::Guest
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_with_a_guard_are_those_that_say_so() {
        for (home, role) in Role::ALL.into_iter().enumerate() {
            assert_eq!(Role::OPEN.contains(&home), !role.has_guard());
            assert_eq!(Role::WITH_A_GUARD.contains(&home), role.has_guard());
        }
    }
}
