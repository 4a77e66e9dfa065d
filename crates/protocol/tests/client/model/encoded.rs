//! What should be written, as command lines and as bytes.

use bytes::Bytes;
use steersman_memcached_protocol::{Limits, ReadKind};

use super::{Ask, KEYS};

/// A command line: who waits for it, and for which of its keys.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) start: usize,
    /// The first request, which says what it is.
    pub(super) ask: Ask,
    /// A token for each request; none for a quiet one.
    pub(super) requests: Vec<(Option<usize>, Ask)>,
}

/// What should be encoded.
#[derive(Clone, Debug, Default)]
pub(super) struct Encoded {
    pub(super) bytes: Vec<u8>,
    pub(super) lines: Vec<Line>,
    /// Whether the last line lacks its end.
    pub(super) open: bool,
}

impl Encoded {
    pub(super) fn close(&mut self) {
        if std::mem::take(&mut self.open) {
            self.bytes.extend(b"\r\n");
        }
    }

    pub(super) fn append(&mut self, other: &mut Self) {
        self.close();
        other.close();
        for line in &mut other.lines {
            line.start += self.bytes.len();
        }
        self.lines.append(&mut other.lines);
        self.bytes.append(&mut other.bytes);
    }

    pub(super) fn push(&mut self, token: Option<usize>, ask: Ask, limits: &Limits, batch: bool) {
        let Ask::Read(kind, key) = ask else {
            self.close();
            let start = self.bytes.len();
            let requests = vec![(token, ask)];
            self.lines.push(Line {
                start,
                ask,
                requests,
            });
            match ask {
                Ask::Set(key, len) => {
                    let data = data(key, len);
                    self.bytes
                        .extend(format!("set {} 0 0 {len}\r\n", KEYS[key]).bytes());
                    self.bytes.extend_from_slice(&data);
                }
                Ask::Delete(key) => self.bytes.extend(format!("delete {}", KEYS[key]).bytes()),
                _ => self.bytes.extend(b"version"),
            }
            self.bytes.extend(b"\r\n");
            return;
        };
        let last = self.lines.last().filter(|_| self.open);
        let keys = last.map(distinct_keys).unwrap_or_default();
        let same_kind = matches!(last, Some(Line { ask: Ask::Read(k, _), .. }) if *k == kind);
        let asked = same_kind && keys.contains(&key);
        if !(asked || same_kind && keys.len() < limits.max_batch_keys) {
            self.close();
            let start = self.bytes.len();
            let requests = Vec::new();
            self.lines.push(Line {
                start,
                ask,
                requests,
            });
            self.open = true;
            let expiry = match kind {
                ReadKind::GetAndTouch(expiry) | ReadKind::GetsAndTouch(expiry) => {
                    format!(" {}", expiry.wire())
                }
                _ => String::new(),
            };
            self.bytes
                .extend(format!("{}{expiry}", kind.command()).bytes());
        }
        if !asked {
            self.bytes.extend(format!(" {}", KEYS[key]).bytes());
        }
        self.lines.last_mut().unwrap().requests.push((token, ask));
        if !batch {
            self.close();
        }
    }
}

pub(super) fn distinct_keys(line: &Line) -> Vec<usize> {
    let mut keys = Vec::new();
    for (_, ask) in &line.requests {
        if let Ask::Read(_, key) = ask
            && !keys.contains(key)
        {
            keys.push(*key);
        }
    }
    keys
}

pub(super) fn data(key: usize, len: usize) -> Bytes {
    format!("{} is END\r\n ", KEYS[key])
        .bytes()
        .cycle()
        .take(len)
        .collect()
}
