//! What can go wrong, in a word, and how far an operation has come then.

/// What went wrong.
///
/// [`Error::is_retryable`](crate::Error::is_retryable) and
/// [`Error::maybe_executed`](crate::Error::maybe_executed) say what follows from it. A request may have
/// been executed if the kind is `Timeout`, `ConnectionLost`, `Stalled` or `Protocol`; if its node was
/// removed (`UnknownNode`) or the client ended (`Closed`, `Runtime`) while it was under way; and a read
/// whose value cannot be decoded (`Codec`) has been. With all other kinds nothing was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A builder option is invalid; [`Error::option`](crate::Error::option) names it.
    Config,
    /// The key breaks memcached's rules (1 to 250 bytes, no control bytes, no spaces).
    InvalidKey,
    /// Another argument cannot be sent: a value over the limit, a malformed stats argument.
    InvalidArgument,
    /// The node is not a member of the cluster, or not any more.
    UnknownNode,
    /// The operation took longer than its time-out.
    Timeout,
    /// Too many requests wait for the node already; send less or raise `max_waiting`.
    Overloaded,
    /// The node cannot be connected to at the moment; the client goes on trying.
    Unreachable,
    /// TLS could not be agreed on with the node, for a reason that waiting does not mend: a
    /// certificate that is not trusted, a server without TLS. `Error::tls_failure` says which.
    Tls,
    /// The server refused the client's credentials, or wants some, or their provider failed.
    Authentication,
    /// No node of the cluster can be reached at the moment.
    NoNodeReachable,
    /// The connection was lost while the request was on it.
    ConnectionLost,
    /// The server stopped answering and its connection was given up.
    Stalled,
    /// The server sent what memcached's protocol does not allow, and the connection was closed.
    /// Is it a memcached?
    Protocol,
    /// The server is too old for what was asked of it; nothing was sent. The message names what it
    /// lacks and the version that has it.
    Unsupported,
    /// The server answered with an error line (`ERROR`, `CLIENT_ERROR`, `SERVER_ERROR`).
    Server,
    /// A value could not be encoded, or what had been stored could not be decoded.
    /// [`Error::codec_error`](crate::Error::codec_error) says why.
    Codec,
    /// The client was closed.
    Closed,
    /// There is no Tokio runtime to work on, or the one that the client lives on is gone.
    Runtime,
}

impl ErrorKind {
    /// How many kinds there are.
    #[cfg(any(feature = "metrics", test))]
    pub(crate) const COUNT: usize = Self::Runtime as usize + 1;

    /// Its name in metrics and spans, as in `connection_lost`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Config => "config",
            Self::InvalidKey => "invalid_key",
            Self::InvalidArgument => "invalid_argument",
            Self::UnknownNode => "unknown_node",
            Self::Timeout => "timeout",
            Self::Overloaded => "overloaded",
            Self::Unreachable => "unreachable",
            Self::Tls => "tls",
            Self::Authentication => "authentication",
            Self::NoNodeReachable => "no_node_reachable",
            Self::ConnectionLost => "connection_lost",
            Self::Stalled => "stalled",
            Self::Protocol => "protocol",
            Self::Unsupported => "unsupported",
            Self::Server => "server",
            Self::Codec => "codec",
            Self::Closed => "closed",
            Self::Runtime => "runtime",
        }
    }
}

/// How far an operation had come when it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// Arguments or options were checked; nothing left the process.
    Validation,
    /// The key was looked up in the cluster.
    Routing,
    /// The request waited for a place on a connection.
    Waiting,
    /// There was no connection to the node: it was being made, or it could not be.
    Connecting,
    /// The request was on a connection.
    Exchange,
    /// The value had come, and was decoded.
    Decoding,
}

#[cfg(test)]
mod tests {
    use super::ErrorKind::{
        Authentication, Closed, Codec, Config, ConnectionLost, InvalidArgument, InvalidKey,
        NoNodeReachable, Overloaded, Protocol, Runtime, Server, Stalled, Timeout, Tls, UnknownNode,
        Unreachable, Unsupported,
    };
    use super::*;
    use crate::Error;

    const ALL: [ErrorKind; ErrorKind::COUNT] = [
        Config,
        InvalidKey,
        InvalidArgument,
        UnknownNode,
        Timeout,
        Overloaded,
        Unreachable,
        Tls,
        Authentication,
        NoNodeReachable,
        ConnectionLost,
        Stalled,
        Protocol,
        Unsupported,
        Server,
        Codec,
        Closed,
        Runtime,
    ];

    #[test]
    fn the_page_on_errors_says_of_each_kind_whether_it_may_be_repeated() {
        let page = include_str!("../../../../docs/errors.md");
        let rows = page.lines().filter_map(|line| {
            let cells: Vec<_> = line.split('|').map(str::trim).collect();
            let kind = cells.get(1)?.strip_prefix('`')?.strip_suffix('`')?;
            (kind != "ErrorKind").then(|| (kind.to_owned(), cells[3], cells[4]))
        });
        let rows: Vec<_> = rows.collect();
        assert_eq!(rows.len(), ALL.len());
        for (kind, (name, retryable, executed)) in ALL.into_iter().zip(rows) {
            assert_eq!(name, format!("{kind:?}"));
            let error = Error::new(kind, Stage::Exchange, "");
            assert_eq!(error.is_retryable(), retryable == "yes", "{name}");
            assert!(!executed.is_empty(), "{name}");
        }
    }
}
