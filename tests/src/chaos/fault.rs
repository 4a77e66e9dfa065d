//! What can go wrong with a node.

use std::fmt;

/// One kind of trouble.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// Killed (`kill -9`), down for a while, started again at the same port.
    Down,
    /// Killed, and started again at once.
    Restart,
    /// Stopped by a signal (`SIGSTOP`), and continued.
    Paused,
    /// Stopped by a signal with its queue of new connections full, so that connecting hangs.
    BacklogFull,
    /// Killed, and something else at its port that speaks garbage.
    Impostor,
    /// Everything that is sent disappears, as behind a firewall.
    BlackHole,
    /// Connections that stood are dead without a word; new ones do.
    HalfOpen,
    /// Connections are reset, again and again.
    Resets,
    /// Replies break off anywhere, and the connection with them.
    CutReplies,
    /// Replies come late and in small pieces.
    Slow,
    /// Connecting is refused, what stands is closed.
    Refused,
    /// Replies are held back, and come after all.
    HeldBack,
    /// New connections are reset as soon as they are accepted.
    ResetAccepted,
    /// No memory left and nothing may be evicted (`SERVER_ERROR out of memory`).
    OutOfMemory,
    /// At its limit of connections, which it says (`ERROR Too many open connections`).
    ConnectionLimit,
    /// At its limit of connections, and new ones wait to be accepted.
    ConnectionTableFull,
    /// Answers with garbage now and then.
    Garbage,
    /// Answers with error lines.
    ErrorLines,
    /// The client has a wrong password, and needs it: its connections are reset.
    WrongPassword,
    /// Killed, and back at once with another password, which the client is told later.
    PasswordChanged,
    /// Not in the list that the client discovers, and then again.
    NoMember,
}

impl Fault {
    /// Every kind.
    pub const ALL: [Self; 21] = [
        Self::Down,
        Self::Restart,
        Self::Paused,
        Self::BacklogFull,
        Self::Impostor,
        Self::BlackHole,
        Self::HalfOpen,
        Self::Resets,
        Self::CutReplies,
        Self::Slow,
        Self::Refused,
        Self::HeldBack,
        Self::ResetAccepted,
        Self::OutOfMemory,
        Self::ConnectionLimit,
        Self::ConnectionTableFull,
        Self::Garbage,
        Self::ErrorLines,
        Self::WrongPassword,
        Self::PasswordChanged,
        Self::NoMember,
    ];

    /// Its name in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Down => "killed, down for a while",
            Self::Restart => "killed, back at once",
            Self::Paused => "stopped by SIGSTOP",
            Self::BacklogFull => "stopped, backlog full",
            Self::Impostor => "garbage at its port",
            Self::BlackHole => "black hole",
            Self::HalfOpen => "half-open connections",
            Self::Resets => "connections reset",
            Self::CutReplies => "replies cut short",
            Self::Slow => "slow, in pieces",
            Self::Refused => "connecting refused",
            Self::HeldBack => "replies held back",
            Self::ResetAccepted => "reset when accepted",
            Self::OutOfMemory => "out of memory",
            Self::ConnectionLimit => "connection limit",
            Self::ConnectionTableFull => "connection table full",
            Self::Garbage => "garbage for replies",
            Self::ErrorLines => "error lines",
            Self::WrongPassword => "wrong password",
            Self::PasswordChanged => "killed, another password",
            Self::NoMember => "no member for a while",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
