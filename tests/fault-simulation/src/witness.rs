//! Writes down what a server really does.

use std::fmt;
use std::str;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use steersman_memcached_protocol::server::{Command, Request};
use steersman_testkit::Witness;

use crate::history::{Deed, Fact};
use crate::lock;
use crate::trace::Trace;
use crate::value;

/// The facts of all servers.
pub(crate) type Facts = Arc<Mutex<Vec<Fact>>>;

/// Who watches one server.
pub(crate) struct Observer {
    host: usize,
    trace: Arc<Trace>,
    facts: Facts,
    life: Arc<AtomicU64>,
}

/// What a server did, for the trace.
#[derive(Debug, Hash)]
enum Event<'a> {
    Did {
        host: usize,
        key: &'a str,
        deed: &'a Deed,
    },
}

impl Observer {
    /// One who adds to these facts. `life` is how often the server has lost everything.
    pub(crate) fn new(host: usize, trace: Arc<Trace>, facts: Facts, life: Arc<AtomicU64>) -> Self {
        Self {
            host,
            trace,
            facts,
            life,
        }
    }

    fn note(&self, key: &[u8], deed: impl FnOnce(&str) -> Deed) {
        // A key that is none of ours matches no call, which is what is to be found out.
        let key = String::from_utf8_lossy(key).into_owned();
        let deed = deed(&key);
        let when = self.trace.note(&Event::Did {
            host: self.host,
            key: &key,
            deed: &deed,
        });
        lock(&self.facts).push(Fact {
            host: self.host,
            life: self.life.load(Ordering::Relaxed),
            when,
            key,
            deed,
        });
    }
}

impl Witness for Observer {
    fn read(&self, key: &[u8], value: Option<&[u8]>) {
        self.note(key, |key| {
            Deed::Looked(value.and_then(|value| value::read(key, value).ok()))
        });
    }

    fn executed(&self, request: &Request, reply: &[u8]) {
        match &request.command {
            Command::Store { key, value, .. } => self.note(key, |key| {
                let Ok(stamp) = value::read(key, value) else {
                    return Deed::Begun;
                };
                if reply == b"STORED\r\n" {
                    Deed::Stored(stamp)
                } else {
                    Deed::Declined(stamp)
                }
            }),
            Command::Delete { key } => self.note(key, |_| Deed::Deleted {
                existed: reply == b"DELETED\r\n",
            }),
            Command::Increment { key, .. } => self.note(key, |_| {
                let number = str::from_utf8(reply).ok();
                Deed::Counted(number.and_then(|number| number.trim().parse().ok()))
            }),
            _ => {}
        }
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Observer({})", self.host)
    }
}
