//! The incremental parser: bytes of a connection in, events out.

use bytes::{Buf, Bytes, BytesMut};

use super::line::{self, Line, StoreHeader};
use super::{Rejection, Request, StoreMode};

/// How much a client may make the server hold for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The largest item in bytes, counted as [`item_size`] does. Default: 1 MiB.
    pub max_item_size: usize,
    /// The longest line of a `get` or `gets` in bytes; any other line that does not end within
    /// 2 KiB closes the connection. Default: 4 MiB.
    pub max_line_len: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_item_size: 1024 * 1024,
            max_line_len: 4 * 1024 * 1024,
        }
    }
}

/// What a connection's next bytes mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A request to execute.
    Request(Request),
    /// A request to refuse.
    Rejected {
        /// What to answer.
        reason: Rejection,
        /// The client said `noreply`: answer nothing.
        noreply: bool,
    },
    /// A storage command whose item exceeds [`Limits::max_item_size`], reported once its data
    /// block has been swallowed. It is refused with [`Rejection::TooLarge`]; a `set` also removes
    /// the item it would have replaced, so that nobody reads the old value for the new.
    TooLarge {
        /// Which storage command.
        mode: StoreMode,
        /// Of which key.
        key: Bytes,
        /// The client said `noreply`: answer nothing.
        noreply: bool,
    },
    /// Close the connection once what is due has been answered: the peer is no memcached client,
    /// or asks for more memory than it may have. Nothing follows.
    Close,
}

/// What an item costs in bytes: memcached's header, the key with its terminator, flags unless
/// they are 0, and the value with its end of line.
///
/// ```
/// use steersman_memcached_protocol::server::item_size;
///
/// // The longest value memcached stores under a key of 250 bytes with `-I 1m`.
/// assert_eq!(item_size(250, 0, 1_048_267), 1_048_576);
/// ```
pub fn item_size(key_len: usize, flags: u32, value_len: usize) -> usize {
    const HEADER_AND_CAS: usize = 56;
    let flags_len = if flags == 0 { 0 } else { 4 };
    HEADER_AND_CAS + key_len + 1 + flags_len + value_len + CRLF.len()
}

const CRLF: &[u8] = b"\r\n";
/// A line must end within this many bytes, unless it reads many keys.
const MAX_PLAIN_LINE: usize = 2048;
/// So many spaces may precede a long `get`.
const MAX_LEADING_SPACES: usize = 100;
/// The first byte of every request of the binary protocol.
const BINARY_MAGIC: u8 = 0x80;

/// The incremental parser of one connection.
///
/// However the bytes of a connection are split, the events are the same, with one exception that
/// is memcached's: a line of more than 2 KiB is accepted if it has arrived completely.
///
/// Memory is bounded by [`Limits`]: call [`next`](Parser::next) until it returns `None` before
/// adding more input, and the input never holds more than the larger limit and one read.
#[derive(Debug)]
pub struct Parser {
    limits: Limits,
    state: State,
}

#[derive(Debug)]
enum State {
    /// The first bytes tell the protocol.
    Start,
    /// Before a line; the first `scanned` bytes of the input have no end of line.
    Line { scanned: usize },
    /// Before a data block.
    Body(StoreHeader),
    /// Inside a data block that is not wanted; what to tell behind it.
    Swallow { left: usize, then: Event },
    /// The connection is to be closed once more has been said.
    Closing,
    /// Nothing more is read.
    Closed,
}

const NEXT_LINE: State = State::Line { scanned: 0 };

impl Parser {
    /// A parser at the start of a connection.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            state: State::Start,
        }
    }

    /// Takes the next event from the front of the input; `None` means that it needs more bytes.
    ///
    /// After [`Event::Close`] it discards what comes and returns `None`.
    pub fn next(&mut self, input: &mut BytesMut) -> Option<Event> {
        loop {
            match std::mem::replace(&mut self.state, State::Closed) {
                State::Start => {
                    let Some(&first) = input.first() else {
                        self.state = State::Start;
                        return None;
                    };
                    if first == BINARY_MAGIC {
                        self.state = State::Closing;
                    } else {
                        self.state = NEXT_LINE;
                    }
                }
                State::Line { scanned } => {
                    let line = self.take_line(input, scanned)?;
                    match line {
                        Line::Request(request) => return Some(Event::Request(request)),
                        Line::Rejected { reason, noreply } => {
                            return Some(Event::Rejected { reason, noreply });
                        }
                        Line::Hangup => self.state = State::Closing,
                        Line::Store(header) => self.state = self.expect_block(header),
                        Line::Skip { reason, value_len } => {
                            self.state = State::Swallow {
                                left: value_len + CRLF.len(),
                                then: Event::Rejected {
                                    reason,
                                    noreply: false,
                                },
                            };
                        }
                    }
                }
                State::Body(header) => {
                    let block_len = header.value_len + CRLF.len();
                    if input.len() < block_len {
                        self.state = State::Body(header);
                        return None;
                    }
                    self.state = NEXT_LINE;
                    return Some(take_block(header, input));
                }
                State::Swallow { left, then } => {
                    let now = left.min(input.len());
                    input.advance(now);
                    if now < left {
                        self.state = State::Swallow {
                            left: left - now,
                            then,
                        };
                        return None;
                    }
                    self.state = NEXT_LINE;
                    return Some(then);
                }
                State::Closing => return Some(Event::Close),
                State::Closed => {
                    input.clear();
                    return None;
                }
            }
        }
    }

    /// Takes a line off the input and leaves the state before the next one.
    fn take_line(&mut self, input: &mut BytesMut, scanned: usize) -> Option<Line> {
        let Some(end) = memchr::memchr(b'\n', &input[scanned..]).map(|at| scanned + at) else {
            if input.len() <= MAX_PLAIN_LINE {
                self.state = State::Line {
                    scanned: input.len(),
                };
                return None;
            }
            if !reads_many(input) {
                return Some(Line::Hangup);
            }
            if input.len() > self.limits.max_line_len {
                self.state = State::Closing;
                return Some(Line::Rejected {
                    reason: Rejection::RequestTooLong,
                    noreply: false,
                });
            }
            self.state = State::Line {
                scanned: input.len(),
            };
            return None;
        };
        self.state = NEXT_LINE;
        let mut line = input.split_to(end + 1).freeze();
        line.truncate(end);
        // A carriage return alone is a line of one byte to memcached, not an empty one.
        if line.len() > 1 && line.last() == Some(&b'\r') {
            line.truncate(line.len() - 1);
        }
        Some(line::parse(line))
    }

    fn expect_block(&self, header: StoreHeader) -> State {
        let (key_len, flags) = header.size();
        let size = item_size(key_len, flags, header.value_len);
        if size > self.limits.max_item_size {
            State::Swallow {
                left: header.value_len + CRLF.len(),
                then: header.into_too_large(),
            }
        } else {
            State::Body(header)
        }
    }
}

fn take_block(header: StoreHeader, input: &mut BytesMut) -> Event {
    let mut block = input.split_to(header.value_len + CRLF.len());
    if !block.ends_with(CRLF) {
        return Event::Rejected {
            reason: Rejection::BadDataChunk,
            noreply: header.noreply,
        };
    }
    block.truncate(header.value_len);
    Event::Request(header.into_request(block.freeze()))
}

/// Is this the beginning of a `get` or `gets`, whose line may be long?
fn reads_many(input: &[u8]) -> bool {
    let spaces = input.iter().take_while(|&&byte| byte == b' ').count();
    let command = &input[spaces..];
    spaces <= MAX_LEADING_SPACES && (command.starts_with(b"get ") || command.starts_with(b"gets "))
}

#[cfg(test)]
mod tests;
