//! How a server can break the protocol, in words: what was expected, and what came.

use memchr::memchr;

use crate::error::{ProtocolError, ProtocolErrorKind, excerpt};
use crate::meta::Kind;
use crate::parse::Expected;
use crate::{Key, Limits, ServerError};

#[cold]
pub(super) fn unsolicited(input: &[u8]) -> ProtocolError {
    let end = memchr(b'\n', input).unwrap_or(input.len());
    let line = input[..end].trim_ascii_end();
    let message = match ServerError::parse(line) {
        Some(error) => format!("{error}, though no request was waiting for a reply"),
        None => {
            format!(
                "expected nothing, as no request was waiting, but received {}",
                excerpt(line)
            )
        }
    };
    ProtocolError::new(ProtocolErrorKind::Unsolicited, message)
}

#[cold]
pub(super) fn unexpected(expected: Expected, line: &[u8]) -> ProtocolError {
    let message = format!(
        "expected {}, but received {}",
        expected.describe(),
        excerpt(line)
    );
    ProtocolError::new(ProtocolErrorKind::UnexpectedReply, message)
}

#[cold]
pub(super) fn unexpected_key(next: Option<&[u8]>, line: &[u8]) -> ProtocolError {
    let expected = match next {
        Some(key) => format!("the value of key {} or of one asked after it", excerpt(key)),
        None => "no further value".to_owned(),
    };
    let message = format!("expected {expected}, but received {}", excerpt(line));
    ProtocolError::new(ProtocolErrorKind::UnexpectedKey, message)
}

#[cold]
pub(super) fn unexpected_echo(
    kind: Kind,
    key: Option<&[u8]>,
    opaque: Option<&[u8]>,
    line: &[u8],
) -> ProtocolError {
    let of = |name: &str, sent: Option<&[u8]>| match sent {
        Some(sent) => format!(" with {name} {}", excerpt(sent)),
        None => String::new(),
    };
    let message = format!(
        "expected {}{}{}, but received {}",
        kind.describe(),
        of("key", key),
        of("opaque", opaque),
        excerpt(line)
    );
    ProtocolError::new(ProtocolErrorKind::UnexpectedKey, message)
}

#[cold]
pub(super) fn bad_value_end(key: Option<&[u8]>, length: usize, behind: &[u8]) -> ProtocolError {
    let behind = excerpt(&behind[..behind.len().min(Key::MAX_LEN)]);
    let message = format!(
        "expected a line end after the {length} bytes of the value of key {}, but received {behind}",
        excerpt(key.unwrap_or_default()),
    );
    ProtocolError::new(ProtocolErrorKind::BadValueEnd, message)
}

#[cold]
pub(super) fn line_too_long(limits: &Limits, expected: Expected, input: &[u8]) -> ProtocolError {
    let message = format!(
        "expected {}, but received a line of more than {} bytes that begins with {}",
        expected.describe(),
        limits.max_line,
        excerpt(input),
    );
    ProtocolError::new(ProtocolErrorKind::LineTooLong, message)
}

#[cold]
pub(super) fn value_too_large(max: usize, line: &[u8]) -> ProtocolError {
    let message = format!(
        "expected a value of at most {max} bytes, but received {}: raise the maximum value size \
         to read it",
        excerpt(line)
    );
    ProtocolError::new(ProtocolErrorKind::ValueTooLarge, message)
}

#[cold]
pub(super) fn stats_too_large(limits: &Limits) -> ProtocolError {
    let message = format!(
        "expected at most {} statistics and {} bytes of them, but received more",
        limits.max_stats_items, limits.max_stats_bytes
    );
    ProtocolError::new(ProtocolErrorKind::StatsTooLarge, message)
}
