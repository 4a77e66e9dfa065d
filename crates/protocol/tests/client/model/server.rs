//! What the server answers, as bytes and as replies.

use std::collections::BTreeMap;

use bytes::Bytes;
use steersman_memcached_protocol::{Reply, Value};

use super::encoded::{Line, data, distinct_keys};
use super::{Ask, ERROR_KEY, KEYS};

/// The server: what it has, the bytes it has answered, and who should get what.
#[derive(Debug, Default)]
pub(super) struct Server {
    items: BTreeMap<usize, (Bytes, u64)>,
    pub(super) answered: Vec<u8>,
    pub(super) answers: Vec<Answer>,
    counter: u64,
}

/// What a request is answered.
#[derive(Debug)]
pub(super) struct Answer {
    /// Where the answer to its line ends.
    pub(super) end: usize,
    pub(super) token: Option<usize>,
    pub(super) ask: Ask,
    pub(super) expected: Expected,
}

#[derive(Clone, Debug)]
pub(super) enum Expected {
    Reply(Reply),
    /// An error line with this text.
    Error(String),
}

impl Server {
    pub(super) fn answer(&mut self, line: &Line) {
        self.counter += 1;
        let error = format!("refused {}", self.counter);
        let mut by_key = BTreeMap::new();
        let mut single = Expected::Reply(Reply::Ok);
        match line.ask {
            Ask::Read(kind, _) => {
                let keys = distinct_keys(line);
                // The keys up to an error, and of these those up to the last value.
                let good = keys.iter().take_while(|&&key| KEYS[key] != ERROR_KEY);
                let good: Vec<_> = good.copied().collect();
                let last_hit = good.iter().rposition(|key| self.items.contains_key(key));
                let failed = good.len() < keys.len();
                for (n, &key) in keys.iter().enumerate() {
                    let expected = if let Some((data, cas)) = self.items.get(&key)
                        && n < good.len()
                    {
                        let cas = kind.has_cas().then_some(*cas);
                        let end = cas.map(|cas| format!(" {cas}")).unwrap_or_default();
                        let line = format!("VALUE {} 3 {}{end}\r\n", KEYS[key], data.len());
                        self.answered.extend(line.bytes());
                        self.answered.extend_from_slice(data);
                        self.answered.extend(b"\r\n");
                        let (data, flags) = (data.clone(), 3);
                        Expected::Reply(Reply::Value(Value { data, flags, cas }))
                    } else if failed && last_hit.is_none_or(|last| n > last) {
                        // Nothing tells a miss from a key that was not looked up any more.
                        Expected::Error(error.clone())
                    } else {
                        Expected::Reply(Reply::Miss)
                    };
                    by_key.insert(key, expected);
                }
                let end = if failed {
                    format!("SERVER_ERROR {error}")
                } else {
                    "END".to_owned()
                };
                self.answered.extend(format!("{end}\r\n").bytes());
            }
            Ask::Set(key, _) | Ask::Delete(key) if KEYS[key] == ERROR_KEY => {
                self.answered
                    .extend(format!("SERVER_ERROR {error}\r\n").bytes());
                single = Expected::Error(error);
            }
            Ask::Set(key, len) => {
                self.items.insert(key, (data(key, len), self.counter));
                self.answered.extend(b"STORED\r\n");
                single = Expected::Reply(Reply::Stored);
            }
            Ask::Delete(key) => {
                let (word, reply) = match self.items.remove(&key) {
                    Some(_) => ("DELETED", Reply::Deleted),
                    None => ("NOT_FOUND", Reply::NotFound),
                };
                self.answered.extend(format!("{word}\r\n").bytes());
                single = Expected::Reply(reply);
            }
            Ask::Version => {
                let version = format!("{} of the model", self.counter);
                self.answered
                    .extend(format!("VERSION {version}\r\n").bytes());
                single = Expected::Reply(Reply::Version(version));
            }
        }
        let end = self.answered.len();
        for &(token, ask) in &line.requests {
            let expected = match ask {
                Ask::Read(_, key) => by_key[&key].clone(),
                _ => single.clone(),
            };
            self.answers.push(Answer {
                end,
                token,
                ask,
                expected,
            });
        }
    }
}
