//! What can go wrong: a request that can't be sent, and a server that breaks the protocol.

use std::error::Error;
use std::fmt;

use crate::ServerVersion;
use crate::meta::Requirement;

/// Why a request was not taken. Nothing of it was encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestError(Problem);

impl RequestError {
    /// What kind of problem it is.
    pub fn kind(&self) -> RequestErrorKind {
        match self.0 {
            Problem::ValueTooLarge { .. } => RequestErrorKind::ValueTooLarge,
            Problem::DelayTooLong { .. } => RequestErrorKind::DelayTooLong,
            Problem::InvalidStatsArgs => RequestErrorKind::InvalidStatsArgs,
            Problem::NeedsReply { .. } => RequestErrorKind::NeedsReply,
            Problem::Unsupported { .. } => RequestErrorKind::Unsupported,
            Problem::Closed => RequestErrorKind::Closed,
        }
    }

    /// Whether the connection takes other requests: true unless it is closed.
    pub fn can_continue(&self) -> bool {
        self.kind() != RequestErrorKind::Closed
    }

    /// Whether the same request may succeed on another connection.
    pub fn is_retryable(&self) -> bool {
        self.kind() == RequestErrorKind::Closed
    }
}

impl From<Problem> for RequestError {
    fn from(problem: Problem) -> Self {
        Self(problem)
    }
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Problem::ValueTooLarge { len, max } => write!(
                f,
                "the value has {len} bytes, more than the {max} allowed: store less, or raise \
                 the maximum value size here and at the server"
            ),
            Problem::DelayTooLong { delay } => write!(
                f,
                "flush_all in {delay} s: memcached takes a delay of more than 30 days \
                 (2,592,000 s) for a date in the past and flushes at once"
            ),
            Problem::InvalidStatsArgs => {
                f.write_str("arguments of stats are 1 to 250 bytes of printable ASCII")
            }
            Problem::NeedsReply { command } => write!(
                f,
                "{command} can't be sent without waiting for the reply: it has no other effect"
            ),
            Problem::Unsupported { requirement, found } => write!(
                f,
                "{requirement} needs memcached {}, but the server is {found}: do without it, or \
                 update the server",
                requirement.version()
            ),
            Problem::Closed => {
                f.write_str("the connection is closed: send the request on another one")
            }
        }
    }
}

impl Error for RequestError {}

/// The kinds of [`RequestError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RequestErrorKind {
    /// The value is longer than [`Limits::max_value_size`](crate::Limits::max_value_size).
    ValueTooLarge,
    /// The delay of a flush is longer than 30 days.
    DelayTooLong,
    /// Arguments of `stats` that are empty, too long or not printable.
    InvalidStatsArgs,
    /// A request whose reply is its purpose was to be sent without waiting for it.
    NeedsReply,
    /// A meta command, or a flag of one, that a server of that version does not know.
    Unsupported,
    /// The connection is closed.
    Closed,
}

/// What a [`RequestError`] knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    ValueTooLarge {
        len: usize,
        max: usize,
    },
    DelayTooLong {
        delay: u32,
    },
    InvalidStatsArgs,
    NeedsReply {
        command: &'static str,
    },
    Unsupported {
        requirement: Requirement,
        found: ServerVersion,
    },
    Closed,
}

/// The server sent something that is not a reply to what was asked.
///
/// Replies have no names: which request one belongs to follows from their order alone. So
/// whatever breaks that order is fatal: the connection gives out no further reply and has to be
/// closed, and what waits on it may be retried on another (see
/// [`Unanswered`](crate::Unanswered) for which requests may have been executed).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtocolError {
    kind: ProtocolErrorKind,
    message: Box<str>,
}

impl ProtocolError {
    pub(crate) fn new(kind: ProtocolErrorKind, message: String) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }

    /// What kind of violation it is.
    pub fn kind(&self) -> ProtocolErrorKind {
        self.kind
    }

    /// Whether the connection may be used on: never.
    pub fn can_continue(&self) -> bool {
        false
    }

    /// Whether what was asked may succeed on another connection: true unless an answer was
    /// larger than the [`Limits`](crate::Limits) allow, which a retry would not change.
    pub fn is_retryable(&self) -> bool {
        !matches!(
            self.kind,
            ProtocolErrorKind::ValueTooLarge | ProtocolErrorKind::StatsTooLarge
        )
    }
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for ProtocolError {}

/// The kinds of [`ProtocolError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProtocolErrorKind {
    /// Bytes came while no request was waiting for a reply. Servers that take no more
    /// connections do that: the message shows what they said.
    Unsolicited,
    /// A line that is no reply to the request that is next in turn.
    UnexpectedReply,
    /// A value under a key that was not asked, or not at this place, or a reply to a meta command
    /// with another key or opaque number than was sent.
    UnexpectedKey,
    /// The bytes behind a value are not its line end.
    BadValueEnd,
    /// A line longer than [`Limits::max_line`](crate::Limits::max_line).
    LineTooLong,
    /// A value longer than [`Limits::max_value_size`](crate::Limits::max_value_size).
    ValueTooLarge,
    /// More statistics than [`Limits::max_stats_items`](crate::Limits::max_stats_items) or
    /// [`Limits::max_stats_bytes`](crate::Limits::max_stats_bytes).
    StatsTooLarge,
}

/// The beginning of `bytes` in quotes, everything that is not printable ASCII escaped.
pub(crate) fn excerpt(bytes: &[u8]) -> String {
    const SHOWN: usize = 80;
    let (shown, more) = match bytes.get(..SHOWN) {
        Some(start) if bytes.len() > SHOWN => (start, "..."),
        _ => (bytes, ""),
    };
    format!("\"{}\"{more}", shown.escape_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpts_are_short_and_printable() {
        assert_eq!(excerpt(b"a\r\n\"\xff"), r#""a\r\n\"\xff""#);
        assert_eq!(excerpt(&[b'x'; 80]).len(), 82);
        assert_eq!(excerpt(&[b'x'; 81]), format!("\"{}\"...", "x".repeat(80)));
    }

    #[test]
    fn only_closed_connections_refuse_what_others_would_take() {
        let closed = RequestError::from(Problem::Closed);
        assert!(closed.is_retryable() && !closed.can_continue());
        let large = RequestError::from(Problem::ValueTooLarge { len: 2, max: 1 });
        assert!(!large.is_retryable() && large.can_continue());
        assert!(
            large
                .to_string()
                .contains("2 bytes, more than the 1 allowed")
        );
    }
}
