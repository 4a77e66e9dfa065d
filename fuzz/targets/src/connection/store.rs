//! A server that is simple enough to be right by inspection.

use std::collections::BTreeMap;

use bytes::{Bytes, BytesMut};
use steersman_memcached_protocol::server::{Command, MetaLine, MetaRequest, Reply, StoreMode};

use super::ask::Ask;

/// What the server has.
#[derive(Debug, Default)]
pub(super) struct Store {
    items: BTreeMap<Bytes, (Bytes, u64)>,
    changes: u64,
}

/// What a request is answered, whatever the protocol.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answer {
    Value(Bytes, u64),
    Miss,
    Done,
    NotDone,
    NotFound,
    /// `incr` of what is no number.
    Refused,
}

impl Store {
    pub(super) fn get(&self, key: &[u8]) -> Answer {
        match self.items.get(key) {
            Some((data, cas)) => Answer::Value(data.clone(), *cas),
            None => Answer::Miss,
        }
    }

    fn put(&mut self, key: &[u8], data: Bytes) -> Answer {
        self.changes += 1;
        self.items
            .insert(Bytes::copy_from_slice(key), (data, self.changes));
        Answer::Done
    }

    pub(super) fn set(&mut self, mode: StoreMode, key: &[u8], data: Bytes) -> Answer {
        match (mode, self.items.get(key)) {
            (StoreMode::Add, Some(_)) | (StoreMode::Append, None) => Answer::NotDone,
            (StoreMode::Append, Some((before, _))) => {
                let both = [&before[..], &data[..]].concat();
                self.put(key, both.into())
            }
            _ => self.put(key, data),
        }
    }

    pub(super) fn delete(&mut self, key: &[u8]) -> Answer {
        match self.items.remove(key) {
            Some(_) => Answer::Done,
            None => Answer::NotFound,
        }
    }

    fn increment(&self, key: &[u8]) -> Answer {
        // What is stored is never a number.
        match self.items.get(key) {
            Some(_) => Answer::Refused,
            None => Answer::NotFound,
        }
    }

    fn touch(&self, key: &[u8]) -> Answer {
        match self.items.get(key) {
            Some(_) => Answer::Done,
            None => Answer::NotFound,
        }
    }

    /// Executes what was asked.
    pub(super) fn ask(&mut self, ask: Ask) -> Answer {
        let key = ask.key().unwrap_or_default().as_bytes();
        match ask {
            Ask::Read(..) | Ask::MetaGet(..) => self.get(key),
            Ask::Set(..) | Ask::MetaSet(..) => self.set(StoreMode::Set, key, ask.data()),
            Ask::Add(..) => self.set(StoreMode::Add, key, ask.data()),
            Ask::Append(..) => self.set(StoreMode::Append, key, ask.data()),
            Ask::Delete(_) | Ask::MetaDelete(..) => self.delete(key),
            Ask::Increment(..) => self.increment(key),
            Ask::Touch(_) => self.touch(key),
            Ask::Version | Ask::MetaNoop => Answer::Done,
            Ask::Flush => {
                self.items.clear();
                Answer::Done
            }
        }
    }

    /// Executes a command that came by the wire, and writes the answer.
    pub(super) fn execute(&mut self, command: Command, out: &mut BytesMut) {
        match command {
            Command::Get { keys, with_cas } | Command::GetAndTouch { keys, with_cas, .. } => {
                for key in keys {
                    if let Answer::Value(data, cas) = self.get(&key) {
                        let cas = with_cas.then_some(cas);
                        Reply::Value {
                            key: &key,
                            flags: 7,
                            data: &data,
                            cas,
                        }
                        .encode(out);
                    }
                }
                Reply::End.encode(out);
            }
            Command::Store {
                mode, key, value, ..
            } => {
                let answer = self.set(mode, &key, value);
                line(&answer, Reply::Stored).encode(out);
            }
            Command::Delete { key } => line(&self.delete(&key), Reply::Deleted).encode(out),
            Command::Increment { key, .. } => line(&self.increment(&key), Reply::Ok).encode(out),
            Command::Touch { key, .. } => line(&self.touch(&key), Reply::Touched).encode(out),
            Command::FlushAll { .. } => {
                self.items.clear();
                Reply::Ok.encode(out);
            }
            Command::Version => Reply::Version("of the model").encode(out),
            Command::MetaGet(request) => match self.get(&request.key) {
                Answer::Value(data, cas) if request.wants_value => {
                    let begun = MetaLine::begin(out, "VA").length(data.len());
                    flags(begun, &request, cas).value(&data);
                }
                Answer::Value(_, cas) => flags(MetaLine::begin(out, "HD"), &request, cas).end(),
                _ => MetaLine::begin(out, "EN").end(),
            },
            Command::MetaSet { request, value } => {
                self.set(StoreMode::Set, &request.key, value);
                flags(MetaLine::begin(out, "HD"), &request, self.changes).end();
            }
            Command::MetaDelete(request) => {
                let word = match self.delete(&request.key) {
                    Answer::Done => "HD",
                    _ => "NF",
                };
                flags(MetaLine::begin(out, word), &request, 0).end();
            }
            Command::MetaNoop => Reply::MetaNoop.encode(out),
            other => panic!("nobody asked {other:?}"),
        }
    }
}

fn line(answer: &Answer, done: Reply<'static>) -> Reply<'static> {
    match answer {
        Answer::Done => done,
        Answer::NotDone => Reply::NotStored,
        Answer::Refused => {
            Reply::Rejected(steersman_memcached_protocol::server::Rejection::NonNumeric)
        }
        _ => Reply::NotFound,
    }
}

/// What is asked back, in the order in which it was asked.
fn flags<'o>(mut line: MetaLine<'o>, request: &MetaRequest, cas: u64) -> MetaLine<'o> {
    for (letter, word) in request.flags() {
        line = match letter {
            b'k' => line.key(&request.key, request.is_binary),
            b'O' => line.word(word),
            b'c' => line.number(b'c', cas),
            _ => line,
        };
    }
    line
}
