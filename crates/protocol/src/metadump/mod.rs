//! The list of a server's keys, `lru_crawler metadump`: what it is asked by, and reading the reply.
//!
//! The reply has no bound, a line for each item of the server, so it is read line by line and never
//! held. The server gives a listing a connection to itself: nothing else may be sent before its end.
//! That is why it is no [`Request`](crate::Request), and why it is read here and not by a
//! [`Connection`](crate::Connection).
//!
//! The lines are those of memcached's `doc/protocol.txt`, which end in LF alone; keys are
//! percent-encoded, so that any bytes fit in.

use bytes::{Buf, Bytes, BytesMut};
use memchr::memchr;

use crate::error::{ProtocolErrorKind, excerpt};
use crate::parse::split_number;
use crate::{Key, ProtocolError, ServerError};

/// A longer line is no item: the longest key takes 750 bytes, and each number 20 at most.
const MAX_LINE: usize = 2048;

/// Reads the reply to [`Metadump::REQUEST`].
///
/// ```
/// use bytes::BytesMut;
/// use steersman_memcached_protocol::{Metadump, Dumped};
///
/// let mut input = BytesMut::from("key=a%20b exp=-1 la=1796042476 cas=7 fetch=no cls=1 size=63\nEND\r\n");
/// let mut dump = Metadump::new();
/// let Some(Dumped::Item(item)) = dump.next(&mut input)? else { panic!() };
/// assert_eq!(item.key, "a b");
/// assert_eq!((item.expires_at, item.class), (None, Some(1)));
/// assert_eq!(dump.next(&mut input)?, Some(Dumped::End));
/// # Ok::<(), steersman_memcached_protocol::ProtocolError>(())
/// ```
#[derive(Debug, Default)]
pub struct Metadump {
    ended: bool,
    /// How much of the input holds no line end.
    searched: usize,
}

/// A part of the reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dumped {
    /// One item.
    Item(DumpedItem),
    /// There are no more.
    End,
    /// The server does not list its keys, or not now (`BUSY`), or not all; nothing follows.
    Refused(ServerError),
}

/// What a server tells of an item when it lists its keys; what it does not tell is `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DumpedItem {
    /// The key, decoded: 1 to 250 bytes.
    pub key: Bytes,
    /// When it expires by the server's clock, in seconds since 1970; `None` is never.
    pub expires_at: Option<u64>,
    /// When it was last read or stored by the server's clock, in seconds since 1970.
    pub last_access: Option<u64>,
    /// The number that tells this version of the item from others.
    pub cas: Option<u64>,
    /// Whether it has ever been read.
    pub fetched: Option<bool>,
    /// The slab class in which it lies.
    pub class: Option<u32>,
    /// The bytes that it takes, with its key and what surrounds it.
    pub size: Option<u64>,
}

impl Metadump {
    /// What asks for all keys.
    pub const REQUEST: &'static [u8] = b"lru_crawler metadump all\r\n";

    /// At the beginning of a reply.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next part off the input; `None` if more input is needed. After
    /// [`Dumped::End`] and [`Dumped::Refused`] nothing may follow.
    ///
    /// # Errors
    /// If that is no part of such a reply. The connection has to be closed.
    pub fn next(&mut self, input: &mut BytesMut) -> Result<Option<Dumped>, ProtocolError> {
        if self.ended && !input.is_empty() {
            return Err(unexpected(ProtocolErrorKind::Unsolicited, "nothing", input));
        }
        let window = &input[..input.len().min(MAX_LINE)];
        let Some(end) = memchr(b'\n', &window[self.searched..]) else {
            if window.len() == MAX_LINE {
                return Err(ProtocolError::new(
                    ProtocolErrorKind::LineTooLong,
                    format!("a line of the list of keys is longer than {MAX_LINE} bytes"),
                ));
            }
            self.searched = window.len();
            return Ok(None);
        };
        let end = self.searched + end;
        self.searched = 0;
        let line = &input[..end];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let part = parse(line).ok_or_else(|| {
            let expected = "an item or END in reply to lru_crawler metadump";
            unexpected(ProtocolErrorKind::UnexpectedReply, expected, line)
        })?;
        self.ended = !matches!(part, Dumped::Item(_));
        input.advance(end + 1);
        Ok(Some(part))
    }
}

#[cold]
fn unexpected(kind: ProtocolErrorKind, expected: &str, line: &[u8]) -> ProtocolError {
    let message = format!("expected {expected}, but received {}", excerpt(line));
    ProtocolError::new(kind, message)
}

fn parse(line: &[u8]) -> Option<Dumped> {
    match line {
        // The latter is said of a server without any item.
        b"END" | b"NOTSTARTED no items to crawl" => Some(Dumped::End),
        _ if line.starts_with(b"key=") => item(line).map(Dumped::Item),
        _ => ServerError::parse(line)
            .or_else(|| ServerError::parse_refusal(line))
            .map(Dumped::Refused),
    }
}

/// Reads `key=... exp=... NAME=VALUE...`. Fields of other names, which newer servers have, are
/// passed over.
fn item(line: &[u8]) -> Option<DumpedItem> {
    let mut fields = line.split(|&byte| byte == b' ');
    let key = decode(fields.next()?.strip_prefix(b"key=")?)?;
    let mut item = DumpedItem {
        key,
        expires_at: None,
        last_access: None,
        cas: None,
        fetched: None,
        class: None,
        size: None,
    };
    let mut expiry = false;
    for field in fields.filter(|field| !field.is_empty()) {
        let (name, value) = field.split_at(memchr(b'=', field)?);
        let value = &value[1..];
        match name {
            b"exp" => {
                expiry = true;
                item.expires_at = match value {
                    b"-1" => None,
                    at => Some(number(at)?),
                };
            }
            b"la" => item.last_access = Some(number(value)?),
            b"cas" => item.cas = Some(number(value)?),
            b"fetch" => {
                item.fetched = match value {
                    b"yes" => Some(true),
                    b"no" => Some(false),
                    _ => return None,
                }
            }
            b"cls" => item.class = Some(u32::try_from(number(value)?).ok()?),
            b"size" => item.size = Some(number(value)?),
            _ => {}
        }
    }
    // Without it an item that expires would pass for one that does not.
    expiry.then_some(item)
}

fn number(field: &[u8]) -> Option<u64> {
    let (number, rest) = split_number(field)?;
    rest.is_empty().then_some(number)
}

/// Undoes percent-encoding (RFC 3986, section 2.1).
fn decode(mut text: &[u8]) -> Option<Bytes> {
    let mut key = Vec::with_capacity(text.len());
    while let Some((&byte, behind)) = text.split_first() {
        text = behind;
        if byte != b'%' {
            key.push(byte);
            continue;
        }
        let (&[high, low], behind) = text.split_first_chunk()?;
        key.push(digit(high)? << 4 | digit(low)?);
        text = behind;
    }
    (1..=Key::MAX_LEN).contains(&key.len()).then(|| key.into())
}

fn digit(hexadecimal: u8) -> Option<u8> {
    char::from(hexadecimal)
        .to_digit(16)
        .and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests;
