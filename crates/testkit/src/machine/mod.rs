//! The server behind the connections: the items, the settings and what was asked.

mod meta;

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use steersman_memcached_protocol::server::{Command, Event, Keys, Rejection, Reply, Request};

use crate::configuration::ClusterConfiguration;
use crate::item::Seconds;
use crate::observe::CommandCounts;
use crate::store::{Counted, Direction, Store, Verdict};
use crate::witness::Witness;

/// What a server is started with.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) memory_limit: usize,
    pub(crate) item_size_max: usize,
    pub(crate) max_connections: usize,
    /// So many requests are kept for [`Server::requests`](crate::Server::requests).
    pub(crate) kept_requests: usize,
    /// Who is told what is executed.
    pub(crate) witness: Option<Arc<dyn Witness>>,
}

/// State that all connections share, behind one lock.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) store: Store,
    pub(crate) started: Seconds,
    pub(crate) verbosity: u32,
    pub(crate) prefix_stats: bool,
    pub(crate) counts: CommandCounts,
    /// Set if it is a configuration endpoint.
    pub(crate) configuration: Option<ClusterConfiguration>,
    requests: VecDeque<Request>,
    kept_requests: usize,
    pub(crate) witness: Option<Arc<dyn Witness>>,
}

/// How the answer to a command goes on.
#[derive(Debug)]
pub(crate) enum Answer {
    /// It is complete.
    Done,
    /// It follows, one value at a time.
    Read(Reading),
    /// It is a report on more than the machine.
    Stats(Vec<Bytes>),
    /// There is none: the client wants to leave.
    Leave,
}

impl Machine {
    pub(crate) fn new(settings: &Settings, now: Seconds) -> Self {
        Self {
            store: Store::new(settings.memory_limit, settings.item_size_max),
            started: now,
            verbosity: 0,
            prefix_stats: false,
            counts: CommandCounts::default(),
            configuration: None,
            requests: VecDeque::new(),
            kept_requests: settings.kept_requests,
            witness: settings.witness.clone(),
        }
    }

    /// Starts anew, with nothing stored; what was asked before and what it is configured as are
    /// still known.
    pub(crate) fn restart(&mut self, settings: &Settings, now: Seconds) {
        let fresh = Self::new(settings, now);
        let known = std::mem::replace(self, fresh);
        self.counts = known.counts;
        self.requests = known.requests;
        if let Some(configuration) = known.configuration {
            self.configure(configuration, now);
        }
    }

    /// The requests received last, the oldest first.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.iter().cloned().collect()
    }

    /// Counts an event before it is answered by anyone.
    pub(crate) fn observe(&mut self, event: &Event) {
        match event {
            Event::Request(request) => {
                self.counts.count(request.command.verb());
                if let Command::MetaGet(_) = &request.command {
                    self.counts.count_keys(1);
                }
                if let Command::Get { keys, .. } | Command::GetAndTouch { keys, .. } =
                    &request.command
                {
                    self.counts.count_keys(keys.clone().count() as u64);
                }
                self.keep(request);
            }
            Event::Rejected { .. } | Event::TooLarge { .. } => self.counts.count_rejected(),
            Event::Close => {}
        }
    }

    fn keep(&mut self, request: &Request) {
        if self.kept_requests == 0 {
            return;
        }
        if self.requests.len() == self.kept_requests {
            self.requests.pop_front();
        }
        self.requests.push_back(request.clone());
    }

    /// Executes a command and writes what can be said at once.
    pub(crate) fn execute(&mut self, command: Command, now: Seconds, out: &mut BytesMut) -> Answer {
        let reply = match command {
            Command::Get { keys, with_cas } => {
                return Answer::Read(Reading {
                    keys,
                    exptime: None,
                    with_cas,
                });
            }
            Command::GetAndTouch {
                exptime,
                keys,
                with_cas,
            } => {
                return Answer::Read(Reading {
                    keys,
                    exptime: Some(exptime),
                    with_cas,
                });
            }
            Command::Stats { args } => return Answer::Stats(args),
            Command::Quit => return Answer::Leave,
            Command::Store {
                mode,
                key,
                flags,
                exptime,
                value,
            } => match self.store.store(mode, &key, flags, exptime, &value, now) {
                Verdict::Stored => Reply::Stored,
                Verdict::NotStored => Reply::NotStored,
                Verdict::Exists => Reply::Exists,
                Verdict::NotFound => Reply::NotFound,
                Verdict::OutOfMemory => Reply::Rejected(Rejection::OutOfMemory),
            },
            Command::Increment { key, delta } => self.count(&key, Direction::Up, delta, now),
            Command::Decrement { key, delta } => self.count(&key, Direction::Down, delta, now),
            Command::Touch { key, exptime } => {
                if self.store.touch(&key, exptime, now) {
                    Reply::Touched
                } else {
                    Reply::NotFound
                }
            }
            Command::Delete { key } => {
                if self.store.delete(&key, now) {
                    Reply::Deleted
                } else {
                    Reply::NotFound
                }
            }
            Command::FlushAll { delay } => {
                self.store.flush(delay, now);
                Reply::Ok
            }
            Command::Version => Reply::Version(VERSION),
            Command::Verbosity { level } => {
                self.verbosity = level;
                Reply::Ok
            }
            Command::CacheMemlimit { megabytes } => {
                self.store
                    .set_memory_limit((megabytes as usize).saturating_mul(1024 * 1024));
                Reply::Ok
            }
            Command::ConfigGet { name } => {
                self.config_get(&name, out);
                return Answer::Done;
            }
            Command::MetaGet(request) => {
                meta::get(&request, &mut self.store, now, out);
                return Answer::Done;
            }
            Command::MetaSet { request, value } => {
                meta::set(&request, &value, &mut self.store, now, out);
                return Answer::Done;
            }
            Command::MetaDelete(request) => {
                meta::delete(&request, &mut self.store, now, out);
                return Answer::Done;
            }
            Command::MetaArithmetic(request) => {
                meta::arithmetic(&request, &mut self.store, now, out);
                return Answer::Done;
            }
            Command::MetaDebug { key } => {
                meta::debug(&key, &mut self.store, now, out);
                return Answer::Done;
            }
            Command::MetaNoop => Reply::MetaNoop,
        };
        reply.encode(out);
        Answer::Done
    }

    fn count(
        &mut self,
        key: &[u8],
        direction: Direction,
        delta: u64,
        now: Seconds,
    ) -> Reply<'static> {
        match self.store.count_by(key, direction, delta, now) {
            Counted::Now(number) => Reply::Number(number),
            Counted::NotFound => Reply::NotFound,
            Counted::NonNumeric => Reply::Rejected(Rejection::NonNumeric),
            Counted::OutOfMemory => Reply::Rejected(Rejection::OutOfMemory),
        }
    }
}

/// What the server says it is: the release whose rules it follows.
pub(crate) const VERSION: &str = "1.6.18";

/// A reading command under way. It is answered value by value, so that a request for a thousand
/// large values is held up by a client that does not read, and not in memory.
#[derive(Debug)]
pub(crate) struct Reading {
    keys: Keys,
    exptime: Option<i32>,
    with_cas: bool,
}

impl Reading {
    /// Writes the next value, if there is one, or the end; tells whether that was the end.
    pub(crate) fn step(&mut self, machine: &mut Machine, now: Seconds, out: &mut BytesMut) -> bool {
        let Machine { store, witness, .. } = machine;
        let Some(key) = self.keys.next() else {
            Reply::End.encode(out);
            return true;
        };
        let item = match self.exptime {
            Some(exptime) => store.get_and_touch(&key, exptime, now),
            None => store.get(&key, now),
        };
        if let Some(witness) = witness {
            witness.read(&key, item.map(|item| &*item.value));
        }
        if let Some(item) = item {
            let cas = self.with_cas.then_some(item.cas);
            Reply::Value {
                key: &key,
                flags: item.flags,
                data: &item.value,
                cas,
            }
            .encode(out);
        }
        false
    }
}
