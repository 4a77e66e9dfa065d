//! The connection and the model, step by step.

use std::collections::{BTreeMap, BTreeSet};

use arbitrary::Arbitrary;
use bytes::{Buf, BytesMut};
use steersman_memcached_protocol::server::{self, Command, Event, Parser};
use steersman_memcached_protocol::{
    Connection, Key, Limits, Outbox, ProtocolError, Reply, ServerErrorKind, Ticket, Unanswered,
    meta,
};

use super::Step;
use super::ask::{self, Ask, Kind};
use super::fault::{Answers, Fault};
use super::store::{Answer, Store};

/// What differs between connections.
#[derive(Arbitrary, Debug)]
pub(super) struct Settings {
    is_batching: bool,
    max_batch_keys: u8,
    copies_all: bool,
}

/// A request that was submitted.
#[derive(Debug)]
struct Asked {
    token: Option<usize>,
    ask: Ask,
    /// What the model says; none while it is in the outbox.
    answer: Option<Answer>,
}

pub(super) struct Run {
    connection: Connection<usize>,
    outbox: Outbox<usize>,
    tickets: Vec<(usize, Ticket)>,
    tokens: usize,

    /// What the connection was given, in order.
    asked: Vec<Asked>,
    enqueued: Vec<Asked>,
    /// Where in `asked` each token is.
    places: BTreeMap<usize, usize>,
    /// Executes what was asked.
    model: Store,

    /// How many keys a line may have.
    max_batch_keys: usize,
    /// Reads what is written.
    parser: Parser,
    written: BytesMut,
    server: Store,
    executed: usize,
    answers: Answers,

    input: BytesMut,
    replies: BTreeMap<usize, Reply>,
    /// Those that got an answer or were told of the end, or gave up.
    gone: BTreeSet<usize>,
    cancelled: BTreeSet<usize>,
    /// Whether the server, or what lies between, has done anything wrong.
    is_faulty: bool,
    /// Whether that were bytes of no answer at all.
    is_garbled: bool,
    failure: Option<ProtocolError>,
}

impl Run {
    pub(super) fn new(settings: &Settings) -> Self {
        let limits = Limits {
            autobatch: settings.is_batching,
            max_batch_keys: settings.max_batch_keys.into(),
            copy_below: if settings.copies_all { usize::MAX } else { 64 },
            ..Limits::default()
        };
        Self {
            connection: Connection::new(limits),
            outbox: Outbox::new(limits),
            tickets: Vec::new(),
            tokens: 0,
            asked: Vec::new(),
            enqueued: Vec::new(),
            places: BTreeMap::new(),
            model: Store::default(),
            max_batch_keys: limits.max_batch_keys.max(1),
            parser: Parser::new(server::Limits::default()),
            written: BytesMut::new(),
            server: Store::default(),
            executed: 0,
            answers: Answers::default(),
            input: BytesMut::new(),
            replies: BTreeMap::new(),
            gone: BTreeSet::new(),
            cancelled: BTreeSet::new(),
            is_faulty: false,
            is_garbled: false,
            failure: None,
        }
    }

    /// Takes a step; false if it is the last.
    pub(super) fn step(&mut self, step: Step) -> bool {
        match step {
            Step::Submit(ask) => {
                let token = self.token();
                let ticket = ask.with_request(|it| self.connection.submit(it, token));
                self.tickets.push((token, ticket.expect("a valid request")));
                self.note(Some(token), ask);
            }
            Step::SubmitQuiet(ask) => {
                let taken = ask.with_request(|request| self.connection.submit_quiet(request));
                assert_eq!(taken.is_ok(), ask.may_be_quiet(), "{ask:?}");
                if taken.is_ok() {
                    self.note(None, ask);
                }
            }
            Step::SubmitReads(kind, keys) => {
                let reads = self.reads(kind, &keys);
                let tokens = reads.iter().map(|(token, ask)| (key_of(*ask), *token));
                let taken = self.connection.submit_reads(kind.read_kind(), tokens);
                assert!(taken.is_ok());
                for (token, ask) in reads {
                    self.note(Some(token), ask);
                }
            }
            Step::Enqueue(ask) => {
                let token = self.token();
                let taken = ask.with_request(|request| self.outbox.submit(request, token));
                assert!(taken.is_ok());
                self.enqueue(Some(token), ask);
            }
            Step::EnqueueQuiet(ask) => {
                let taken = ask.with_request(|request| self.outbox.submit_quiet(request));
                assert_eq!(taken.is_ok(), ask.may_be_quiet(), "{ask:?}");
                if taken.is_ok() {
                    self.enqueue(None, ask);
                }
            }
            Step::EnqueueReads(kind, keys) => {
                let reads = self.reads(kind, &keys);
                let tokens = reads.iter().map(|(token, ask)| (key_of(*ask), *token));
                self.outbox.submit_reads(kind.read_kind(), tokens);
                for (token, ask) in reads {
                    self.enqueue(Some(token), ask);
                }
            }
            Step::Absorb => {
                self.connection.absorb(&mut self.outbox);
                assert!(self.outbox.is_empty());
                for Asked { token, ask, .. } in std::mem::take(&mut self.enqueued) {
                    self.note(token, ask);
                }
            }
            Step::Clear => {
                let waiting = std::mem::take(&mut self.enqueued);
                let mut tokens = waiting.iter().filter_map(|asked| asked.token);
                self.outbox
                    .clear(&mut |token| assert_eq!(tokens.next(), Some(token)));
                assert_eq!(tokens.next(), None);
            }
            Step::Cancel(number) => self.cancel(number.into()),
            Step::Write(count) => self.write(count.into(), u64::MAX),
            Step::WriteWithin(count, window) => self.write(count.into(), window.into()),
            Step::Receive(count) => self.receive(count.into()),
            Step::Exchange => self.exchange(),
            Step::Fault(fault) => {
                let is_garbage = matches!(fault, Fault::Garbage(_) | Fault::Shorten);
                if self.answers.suffer(fault) {
                    self.is_faulty = true;
                    self.is_garbled |= is_garbage;
                }
            }
        }
        self.failure.is_none()
    }

    fn token(&mut self) -> usize {
        self.tokens += 1;
        self.tokens - 1
    }

    fn reads(&mut self, kind: Kind, keys: &[u8]) -> Vec<(usize, Ask)> {
        let reads = keys
            .iter()
            .take(64)
            .map(|&key| (self.token(), Ask::Read(kind, key)));
        reads.collect()
    }

    /// The connection has it now.
    fn note(&mut self, token: Option<usize>, ask: Ask) {
        let answer = Some(self.model.ask(ask));
        if let Some(token) = token {
            self.places.insert(token, self.asked.len());
        }
        self.asked.push(Asked { token, ask, answer });
    }

    fn enqueue(&mut self, token: Option<usize>, ask: Ask) {
        let answer = None;
        self.enqueued.push(Asked { token, ask, answer });
    }

    fn cancel(&mut self, number: usize) {
        let Some(&(token, ticket)) = self.tickets.get(number % self.tickets.len().max(1)) else {
            return;
        };
        let waits = self.gone.insert(token);
        let cancelled = self.connection.cancel(ticket);
        assert_eq!(cancelled, waits.then_some(token));
        self.cancelled.extend(cancelled);
    }

    /// Takes output, which the server executes as soon as a command is whole.
    fn write(&mut self, count: usize, window: u64) {
        let mut output: Box<dyn Buf> = if window == u64::MAX {
            Box::new(self.connection.output())
        } else {
            Box::new(self.connection.output_within(window))
        };
        let mut left = count.min(output.remaining());
        while left > 0 {
            let chunk = output.chunk();
            let length = chunk.len().min(left);
            self.written.extend_from_slice(&chunk[..length]);
            output.advance(length);
            left -= length;
        }
        drop(output);
        while let Some(event) = self.parser.next(&mut self.written) {
            let Event::Request(request) = event else {
                panic!("the server refuses what was written: {event:?}");
            };
            assert!(!request.noreply);
            if let Command::Get { keys, .. } | Command::GetAndTouch { keys, .. } = &request.command
            {
                let count = keys.clone().count();
                assert!(count <= self.max_batch_keys, "{count} keys in a line");
            }
            self.executed += 1;
            self.answers.begin();
            let mut answer = BytesMut::new();
            self.server.execute(request.command, &mut answer);
            self.answers.bytes.extend_from_slice(&answer);
        }
    }

    fn receive(&mut self, count: usize) {
        let piece = self.answers.take(count.min(self.answers.bytes.len()));
        self.input.extend_from_slice(&piece);
        let mut came = Vec::new();
        let fed = self.connection.feed(&mut self.input, &mut |token, reply| {
            came.push((token, reply));
        });
        for (token, reply) in came {
            self.check(token, &reply);
            assert!(
                self.gone.insert(token),
                "{token} was answered twice, or had given up"
            );
            self.replies.insert(token, reply);
        }
        if let Err(error) = fed {
            assert!(self.is_faulty, "{error}");
            self.failure = Some(error);
        }
    }

    /// Until neither has anything for the other.
    fn exchange(&mut self) {
        self.write(usize::MAX, u64::MAX);
        self.receive(usize::MAX);
    }

    /// Whether a reply is the own one.
    fn check(&self, token: usize, reply: &Reply) {
        let asked = self.places.get(&token).map(|&place| &self.asked[place]);
        let Some(Asked {
            ask,
            answer: Some(answer),
            ..
        }) = asked
        else {
            panic!("{token} was not given to the connection");
        };
        if !self.is_faulty {
            assert!(
                is_answer(*ask, answer, reply),
                "{ask:?} got {reply:?} and not {answer:?}"
            );
        }
        // Whole answers at the wrong place, even: no value goes to another key.
        if self.is_garbled {
            return;
        }
        let key = ask.key().unwrap_or_default();
        match (reply, ask) {
            (Reply::Value(value), _) => {
                assert!(ask::is_of(key, &value.data), "{key} got {value:?}");
            }
            (Reply::Meta(reply), Ask::MetaGet(flags, _)) if flags.are_checked() => {
                if let Some(value) = &reply.value {
                    assert!(ask::is_of(key, value), "{key} got {reply:?}");
                }
            }
            _ => {}
        }
    }

    /// The end: all that waits hears of it, once.
    pub(super) fn end(mut self) {
        if !self.is_faulty {
            self.exchange();
            assert_eq!(self.connection.in_flight(), 0, "somebody waits for ever");
            assert!(self.input.is_empty());
        }
        let waiting: Vec<usize> = self.connection.waiting().copied().collect();
        let mut left = Vec::new();
        self.connection
            .close(&mut |token, Unanswered { written }| left.push((token, written)));
        assert!(left.iter().map(|(token, _)| token).eq(&waiting));
        let tokens = self.asked.iter().filter_map(|asked| asked.token);
        let expected = tokens.filter(|token| !self.gone.contains(token));
        assert!(
            expected.eq(waiting.iter().copied()),
            "somebody hears of nothing"
        );
        if !self.is_faulty {
            assert!(left.is_empty());
        }
        // What was executed was written. The front of what waits came first.
        let answered = self.asked.len() - left.len();
        let unwritten = left.iter().filter(|(_, written)| !written).count();
        assert!(self.executed <= answered + left.len() - unwritten);
        assert!(
            left.is_sorted_by_key(|(_, written)| !written),
            "a later one was written before"
        );
        let closed = Ask::Version.with_request(|request| self.connection.submit(request, 0));
        assert!(closed.is_err());
        assert_eq!(self.connection.in_flight(), 0);
    }
}

fn key_of(ask: Ask) -> Key<'static> {
    Key::new(ask.key().unwrap_or("none").as_bytes()).expect("a valid key")
}

/// Whether a reply says what the model says.
fn is_answer(ask: Ask, answer: &Answer, reply: &Reply) -> bool {
    match (ask, answer, reply) {
        (Ask::Read(kind, _), Answer::Value(data, cas), Reply::Value(value)) => {
            let cas = matches!(kind, Kind::Gets | Kind::Gats).then_some(*cas);
            value.data == data && value.flags == 7 && value.cas == cas
        }
        (Ask::Read(..), Answer::Miss, Reply::Miss)
        | (Ask::Set(..) | Ask::Add(..) | Ask::Append(..), Answer::Done, Reply::Stored)
        | (Ask::Add(..) | Ask::Append(..), Answer::NotDone, Reply::NotStored)
        | (Ask::Delete(_), Answer::Done, Reply::Deleted)
        | (Ask::Touch(_), Answer::Done, Reply::Touched)
        | (Ask::Flush, Answer::Done, Reply::Ok)
        | (
            Ask::Delete(_) | Ask::Touch(_) | Ask::Increment(..),
            Answer::NotFound,
            Reply::NotFound,
        ) => true,
        (Ask::Increment(..), Answer::Refused, Reply::Error(error)) => {
            error.kind() == ServerErrorKind::Client
        }
        (Ask::Version, _, Reply::Version(version)) => version == "of the model",
        (_, _, Reply::Meta(reply)) => is_meta_answer(ask, answer, reply),
        _ => false,
    }
}

fn is_meta_answer(ask: Ask, answer: &Answer, reply: &meta::Reply) -> bool {
    use meta::Status;
    let (flags, status) = match (ask, answer) {
        (Ask::MetaNoop, _) => return reply.status == Status::Noop,
        (Ask::MetaGet(..), Answer::Miss) => return reply.status == Status::Miss,
        (Ask::MetaGet(flags, _), Answer::Value(data, cas)) => {
            let value = flags.value.then_some(data);
            let same = reply.value.as_ref() == value && reply.cas == flags.cas.then_some(*cas);
            let status = if flags.value {
                Status::Value
            } else {
                Status::Done
            };
            if !same {
                return false;
            }
            (flags, status)
        }
        (Ask::MetaSet(flags, ..) | Ask::MetaDelete(flags, _), Answer::Done) => {
            (flags, Status::Done)
        }
        (Ask::MetaDelete(flags, _), Answer::NotFound) => (flags, Status::NotFound),
        _ => return false,
    };
    let key = flags.key.then(|| ask.key().unwrap_or_default().as_bytes());
    reply.status == status
        && reply.key.as_deref() == key
        && reply.opaque == flags.opaque.map(u32::from)
}
