//! What servers answer, owned by the caller.

use std::error::Error;
use std::fmt;

use bytes::Bytes;

use crate::meta;

/// The reply to one request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reply {
    /// The value asked for.
    Value(Value),
    /// The server has no item under the key that was to be read.
    Miss,
    /// The value is stored.
    Stored,
    /// The condition of the store does not hold; nothing has changed.
    NotStored,
    /// The item has changed since its cas number was read; nothing has changed.
    Exists,
    /// The server has no item under the key that was to be changed.
    NotFound,
    /// The item is removed.
    Deleted,
    /// The item has its new expiry.
    Touched,
    /// Done.
    Ok,
    /// The number after the change.
    Number(u64),
    /// The version of the server; bytes that are not UTF-8 are replaced.
    Version(String),
    /// Names and values of statistics, in the order of the server. Values may be empty and may
    /// hold spaces.
    Stats(Vec<(Bytes, Bytes)>),
    /// The reply to a meta command.
    Meta(Box<meta::Reply>),
    /// The server has refused this request, or failed at it. The connection is in order.
    Error(ServerError),
}

/// A value with what the server keeps beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// The value. A large one shares memory with what was read from the connection; see
    /// [`Limits::copy_below`](crate::Limits::copy_below).
    pub data: Bytes,
    /// The number that was stored with it.
    pub flags: u32,
    /// The number that tells this version of the item from others, if it was asked for.
    pub cas: Option<u64>,
}

/// An error line that a server sent in the place of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerError {
    kind: ServerErrorKind,
    message: Box<str>,
}

impl ServerError {
    /// Which error line it was.
    pub fn kind(&self) -> ServerErrorKind {
        self.kind
    }

    /// What the server said behind the kind, such as `out of memory storing object`; the whole
    /// line if the kind is [`ServerErrorKind::Other`]. May be empty. Bytes that are not UTF-8
    /// are replaced, control characters are not: `Display` escapes those, and shows the first 200
    /// characters.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Recognises the error lines that may answer any request.
    pub(crate) fn parse(line: &[u8]) -> Option<Self> {
        let (word, text) = split_word(line);
        let kind = match word {
            b"ERROR" => ServerErrorKind::Error,
            b"CLIENT_ERROR" => ServerErrorKind::Client,
            b"SERVER_ERROR" => ServerErrorKind::Server,
            _ => return None,
        };
        Some(Self::new(kind, text))
    }

    /// Recognises the refusals that answer administrative requests alone.
    pub(crate) fn parse_refusal(line: &[u8]) -> Option<Self> {
        let (word, _) = split_word(line);
        let known = matches!(
            word,
            b"BUSY"
                | b"BADCLASS"
                | b"NOSPARE"
                | b"NOTFULL"
                | b"UNSAFE"
                | b"SAME"
                | b"MEMLIMIT_TOO_SMALL"
                | b"MEMLIMIT_ADJUST_FAILED"
        );
        known.then(|| Self::new(ServerErrorKind::Other, line))
    }

    fn new(kind: ServerErrorKind, message: &[u8]) -> Self {
        Self {
            kind,
            message: String::from_utf8_lossy(message).into(),
        }
    }
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.kind {
            ServerErrorKind::Error => "ERROR",
            ServerErrorKind::Client => "CLIENT_ERROR",
            ServerErrorKind::Server => "SERVER_ERROR",
            ServerErrorKind::Other => "",
        };
        f.write_str("the server answered")?;
        for text in [word, &self.message] {
            if !text.is_empty() {
                write!(f, " {}", shown(text))?;
            }
        }
        Ok(())
    }
}

impl Error for ServerError {}

/// The kinds of error lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ServerErrorKind {
    /// `ERROR`: the server does not know the command, or takes no more connections.
    Error,
    /// `CLIENT_ERROR`: the server finds fault with the request.
    Client,
    /// `SERVER_ERROR`: the server could not do it, for want of memory for instance.
    Server,
    /// A refusal of an administrative request, such as `BUSY` or `MEMLIMIT_TOO_SMALL`.
    Other,
}

/// The beginning of what a server said, fit for a log and a terminal.
fn shown(text: &str) -> String {
    const SHOWN: usize = 200;
    let mut shown = String::new();
    for (count, char) in text.chars().enumerate() {
        if count == SHOWN {
            shown.push_str("...");
            break;
        }
        if char.is_control() {
            shown.extend(char.escape_default());
        } else {
            shown.push(char);
        }
    }
    shown
}

fn split_word(line: &[u8]) -> (&[u8], &[u8]) {
    match line.iter().position(|&byte| byte == b' ') {
        Some(space) => (&line[..space], &line[space + 1..]),
        None => (line, b""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_lines() {
        let parse = |line: &str| {
            ServerError::parse(line.as_bytes()).map(|e| (e.kind(), e.message().to_owned()))
        };
        let some = |kind, message: &str| Some((kind, message.to_owned()));
        assert_eq!(parse("ERROR"), some(ServerErrorKind::Error, ""));
        assert_eq!(
            parse("ERROR Too many open connections"),
            some(ServerErrorKind::Error, "Too many open connections")
        );
        assert_eq!(
            parse("CLIENT_ERROR bad"),
            some(ServerErrorKind::Client, "bad")
        );
        assert_eq!(
            parse("SERVER_ERROR out of memory"),
            some(ServerErrorKind::Server, "out of memory")
        );
        for other in [
            "ERRORS", "ERR", "", " ERROR", "error", "STORED", "BUSY", "END",
        ] {
            assert_eq!(parse(other), None, "{other}");
        }
    }

    #[test]
    fn refusals_keep_the_whole_line() {
        let line = b"MEMLIMIT_TOO_SMALL cannot set maxbytes to less than 8m";
        let error = ServerError::parse_refusal(line).unwrap();
        assert_eq!(error.kind(), ServerErrorKind::Other);
        assert_eq!(error.message().as_bytes(), line);
        assert_eq!(ServerError::parse_refusal(b"STORED"), None);
    }

    #[test]
    fn messages() {
        let show = |line: &[u8]| ServerError::parse(line).unwrap().to_string();
        assert_eq!(show(b"ERROR"), "the server answered ERROR");
        assert_eq!(
            show(b"SERVER_ERROR \xff"),
            "the server answered SERVER_ERROR \u{fffd}"
        );
        let refusal = ServerError::parse_refusal(b"BUSY running").unwrap();
        assert_eq!(refusal.to_string(), "the server answered BUSY running");
        // What it says commands no terminal and forges no line of a log; it is there as it is, too.
        assert_eq!(
            show(b"CLIENT_ERROR \x1b[2J\rok\xc2\x9b"),
            "the server answered CLIENT_ERROR \\u{1b}[2J\\rok\\u{9b}"
        );
        let long = [&b"SERVER_ERROR "[..], &[b'x'; 8000]].concat();
        let error = ServerError::parse(&long).unwrap();
        assert_eq!(error.message().len(), 8000);
        let shown = format!("the server answered SERVER_ERROR {}...", "x".repeat(200));
        assert_eq!(error.to_string(), shown);
    }
}
