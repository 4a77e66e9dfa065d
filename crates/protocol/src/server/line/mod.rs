//! One request line to a command: which words it needs and what each of them means.

mod meta;

use bytes::Bytes;

use super::tokens::{parse_i32, parse_u32, parse_u64, words};
use super::{Command, Event, Keys, MAX_KEY_LEN, MetaRequest, Rejection, Request, StoreMode, Verb};

/// What a request line asks for.
#[derive(Debug)]
pub(super) enum Line {
    /// All of a request.
    Request(Request),
    /// The header of a storage command: its data block follows.
    Store(StoreHeader),
    /// A storage command that is refused once its data block, of this length, has been skipped.
    Skip { reason: Rejection, value_len: usize },
    /// An answer; not given if the client said `noreply`.
    Rejected { reason: Rejection, noreply: bool },
    /// Nothing a memcached client sends.
    Hangup,
}

/// The line of a storage command.
#[derive(Debug)]
pub(super) struct StoreHeader {
    pub(super) storing: Storing,
    pub(super) value_len: usize,
    pub(super) noreply: bool,
}

/// What a storage command says besides the length of its data block.
#[derive(Debug)]
pub(super) enum Storing {
    Classic {
        mode: StoreMode,
        key: Bytes,
        flags: u32,
        exptime: i32,
    },
    Meta(Box<MetaRequest>),
}

impl StoreHeader {
    pub(super) fn into_request(self, value: Bytes) -> Request {
        let command = match self.storing {
            Storing::Classic {
                mode,
                key,
                flags,
                exptime,
            } => Command::Store {
                mode,
                key,
                flags,
                exptime,
                value,
            },
            Storing::Meta(request) => Command::MetaSet { request, value },
        };
        Request {
            command,
            noreply: self.noreply,
        }
    }

    /// The length of the key, and the client's flags.
    pub(super) fn size(&self) -> (usize, u32) {
        match &self.storing {
            Storing::Classic { key, flags, .. } => (key.len(), *flags),
            Storing::Meta(request) => (request.key.len(), request.client_flags),
        }
    }

    /// What becomes of it if its item is too large. A meta command removes the item that is
    /// there in every mode, like a `set`.
    pub(super) fn into_too_large(self) -> Event {
        let (mode, key) = match self.storing {
            Storing::Classic { mode, key, .. } => (mode, key),
            Storing::Meta(request) => (StoreMode::Set, request.key),
        };
        Event::TooLarge {
            mode,
            key,
            noreply: self.noreply,
        }
    }
}

/// memcached looks at this many words of a line at most (of a reading command: at all of them).
const MAX_WORDS: usize = 23;

/// The largest declared length: the block and its end of line must fit a C `int`.
const MAX_DECLARED_LEN: i32 = i32::MAX - 2;

/// Reads a request line, which comes without its end of line.
pub(super) fn parse(mut line: Bytes) -> Line {
    // The C code takes the line for a string, which ends at the first zero byte.
    if let Some(end) = memchr::memchr(0, &line) {
        line.truncate(end);
    }
    let mut rest = words(&line);
    let Some(word) = rest.next() else {
        return rejected(Rejection::Error);
    };
    let Some(verb) = Verb::from_word(word) else {
        return unknown(&line, word);
    };
    let text = rest.rest();
    let mut words = [[].as_slice(); MAX_WORDS];
    let mut count = 0;
    for (slot, word) in words.iter_mut().zip(rest) {
        *slot = word;
        count += 1;
    }
    let arguments = Arguments {
        line: &line,
        text,
        words: &words[..count],
    };
    arguments
        .parse(verb)
        .unwrap_or_else(|reason| Line::Rejected {
            reason,
            // Too few or too many words are an error before anything is looked at.
            noreply: reason != Rejection::Error && arguments.noreply(),
        })
}

fn rejected(reason: Rejection) -> Line {
    Line::Rejected {
        reason,
        noreply: false,
    }
}

/// A word that is no command: somebody speaking HTTP is hung up on. (Which first letters are
/// exempt follows from the order in which memcached compares the words.)
fn unknown(line: &Bytes, word: &[u8]) -> Line {
    if word == b"shutdown" {
        return rejected(Rejection::ShutdownDisabled);
    }
    let last = words(line).take(MAX_WORDS).last().unwrap_or_default();
    let exempt = word.len() < 2
        || matches!(word[0], b'g' | b's' | b'a' | b'c' | b'i' | b'd' | b't')
        || (word[0] == b'm' && word.len() == 2);
    if !exempt && last.starts_with(b"HTTP/") {
        return Line::Hangup;
    }
    rejected(Rejection::Error)
}

fn request(command: Command, noreply: bool) -> Line {
    Line::Request(Request { command, noreply })
}

/// The length of a data block.
fn declared_len(word: &[u8]) -> Result<usize, Rejection> {
    let declared = parse_i32(word).filter(|&declared| declared <= MAX_DECLARED_LEN);
    declared
        .and_then(|declared| usize::try_from(declared).ok())
        .ok_or(Rejection::BadFormat)
}

/// All keys are checked before the first is looked up: one that is too long spoils the reply.
fn checked_keys(line: &Bytes, keys: &[u8]) -> Result<Keys, Rejection> {
    if words(keys).any(|key| key.len() > MAX_KEY_LEN) {
        return Err(Rejection::BadFormat);
    }
    Ok(Keys::new(line.slice_ref(keys)))
}

/// What stands behind the verb, as text and as words.
struct Arguments<'a> {
    line: &'a Bytes,
    text: &'a [u8],
    words: &'a [&'a [u8]],
}

impl Arguments<'_> {
    fn parse(&self, verb: Verb) -> Result<Line, Rejection> {
        let noreply = self.noreply();
        let command = match verb {
            // These never read "noreply": they always answer, or know it as a key.
            Verb::Get | Verb::Gets => return self.read(verb == Verb::Gets),
            Verb::Gat | Verb::Gats => return self.read_and_touch(verb == Verb::Gats),
            Verb::Version => return Ok(request(Command::Version, false)),
            Verb::Stats => {
                let args = self
                    .words
                    .iter()
                    .map(|word| self.line.slice_ref(word))
                    .collect();
                return Ok(request(Command::Stats { args }, false));
            }
            Verb::Config => return self.config(),
            Verb::MetaGet
            | Verb::MetaSet
            | Verb::MetaDelete
            | Verb::MetaArithmetic
            | Verb::MetaDebug => return Ok(self.meta(verb).unwrap_or_else(rejected)),
            Verb::MetaNoop => return Ok(request(Command::MetaNoop, false)),
            Verb::Quit => return Ok(request(Command::Quit, false)),
            Verb::Set => return self.store(StoreMode::Set),
            Verb::Add => return self.store(StoreMode::Add),
            Verb::Replace => return self.store(StoreMode::Replace),
            Verb::Append => return self.store(StoreMode::Append),
            Verb::Prepend => return self.store(StoreMode::Prepend),
            Verb::Cas => return self.store(StoreMode::Cas(0)),
            Verb::Incr | Verb::Decr => {
                self.expect(2..=3)?;
                let key = self.key()?;
                let delta = parse_u64(self.words[1]).ok_or(Rejection::InvalidDelta)?;
                if verb == Verb::Incr {
                    Command::Increment { key, delta }
                } else {
                    Command::Decrement { key, delta }
                }
            }
            Verb::Touch => {
                self.expect(2..=3)?;
                let key = self.key()?;
                let exptime = parse_i32(self.words[1]).ok_or(Rejection::InvalidExptime)?;
                Command::Touch { key, exptime }
            }
            Verb::Delete => return self.delete(),
            Verb::FlushAll => {
                self.expect(0..=2)?;
                let delay = match self.words.len() {
                    0 => 0,
                    1 if noreply => 0,
                    _ => parse_i32(self.words[0]).ok_or(Rejection::InvalidExptime)?,
                };
                Command::FlushAll { delay }
            }
            Verb::Verbosity => {
                self.expect(1..=2)?;
                let level = parse_u32(self.words[0]).ok_or(Rejection::BadFormat)?;
                Command::Verbosity { level }
            }
            Verb::CacheMemlimit => {
                self.expect(1..=2)?;
                return Ok(self.cache_memlimit());
            }
        };
        Ok(request(command, noreply))
    }

    fn expect(&self, count: std::ops::RangeInclusive<usize>) -> Result<(), Rejection> {
        if count.contains(&self.words.len()) {
            Ok(())
        } else {
            Err(Rejection::Error)
        }
    }

    /// The last word decides, even where another argument was meant.
    fn noreply(&self) -> bool {
        self.words.last().is_some_and(|word| *word == b"noreply")
    }

    fn key(&self) -> Result<Bytes, Rejection> {
        let key = self.words[0];
        if key.len() > MAX_KEY_LEN {
            return Err(Rejection::BadFormat);
        }
        Ok(self.line.slice_ref(key))
    }

    fn read(&self, with_cas: bool) -> Result<Line, Rejection> {
        if self.words.is_empty() {
            return Err(Rejection::Error);
        }
        Ok(match checked_keys(self.line, self.text) {
            Ok(keys) => request(Command::Get { keys, with_cas }, false),
            Err(reason) => rejected(reason),
        })
    }

    fn read_and_touch(&self, with_cas: bool) -> Result<Line, Rejection> {
        let mut rest = words(self.text);
        let exptime = rest.next().ok_or(Rejection::Error)?;
        let Some(exptime) = parse_i32(exptime) else {
            return Ok(rejected(Rejection::InvalidExptime));
        };
        Ok(match checked_keys(self.line, rest.rest()) {
            Ok(keys) => request(
                Command::GetAndTouch {
                    exptime,
                    keys,
                    with_cas,
                },
                false,
            ),
            Err(reason) => rejected(reason),
        })
    }

    fn store(&self, mode: StoreMode) -> Result<Line, Rejection> {
        let is_cas = matches!(mode, StoreMode::Cas(_));
        self.expect(if is_cas { 5..=6 } else { 4..=5 })?;
        let key = self.key()?;
        let flags = parse_u32(self.words[1]).ok_or(Rejection::BadFormat)?;
        let exptime = parse_i32(self.words[2]).ok_or(Rejection::BadFormat)?;
        let value_len = declared_len(self.words[3])?;
        let mode = match mode {
            StoreMode::Cas(_) => {
                StoreMode::Cas(parse_u64(self.words[4]).ok_or(Rejection::BadFormat)?)
            }
            other => other,
        };
        let noreply = self.noreply();
        Ok(Line::Store(StoreHeader {
            storing: Storing::Classic {
                mode,
                key,
                flags,
                exptime,
            },
            value_len,
            noreply,
        }))
    }

    /// `delete <key> [0] [noreply]`: older clients send a hold-off time, which may only be 0.
    fn delete(&self) -> Result<Line, Rejection> {
        self.expect(1..=3)?;
        let (hold_is_zero, noreply) = match self.words {
            [_] => (false, false),
            [_, hold, ..] => (*hold == b"0", self.noreply()),
            [] => return Err(Rejection::Error),
        };
        let valid = match self.words.len() {
            1 => true,
            2 => hold_is_zero || noreply,
            _ => hold_is_zero && noreply,
        };
        if !valid {
            return Ok(Line::Rejected {
                reason: Rejection::DeleteUsage,
                noreply,
            });
        }
        match self.key() {
            Ok(key) => Ok(request(Command::Delete { key }, noreply)),
            Err(reason) => Ok(Line::Rejected { reason, noreply }),
        }
    }

    /// `config get <name>`; of its siblings `set` and `delete` no client has any need.
    fn config(&self) -> Result<Line, Rejection> {
        match self.words {
            [b"get", name] => {
                let name = self.line.slice_ref(name);
                Ok(request(Command::ConfigGet { name }, false))
            }
            _ => Err(Rejection::Error),
        }
    }

    fn cache_memlimit(&self) -> Line {
        let noreply = self.noreply();
        match parse_u32(self.words[0]) {
            None => Line::Rejected {
                reason: Rejection::Error,
                noreply,
            },
            Some(..8) => Line::Rejected {
                reason: Rejection::MemlimitTooSmall,
                noreply,
            },
            Some(1_000_000_001..) => Line::Rejected {
                reason: Rejection::MemlimitTooLarge,
                noreply,
            },
            Some(megabytes) => request(Command::CacheMemlimit { megabytes }, noreply),
        }
    }
}
