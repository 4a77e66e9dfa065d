//! Whatever is done in whatever order, the connection does what a naive model does.
//!
//! The model keeps every command line as a list of requests and every byte it should write. Its
//! server answers each line from a table of its own. So what is written, who gets which reply,
//! and what is left when the connection closes are all known beforehand.

mod encoded;
mod server;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bytes::{Buf, BytesMut};
use proptest::prelude::*;
use steersman_memcached_protocol::{
    Connection, Expiry, Limits, Outbox, ReadKind, Reply, Request, ServerErrorKind, Ticket,
    Unanswered,
};

use self::encoded::{Encoded, data};
use self::server::{Answer, Expected, Server};
use crate::support::{delete, get, gets, key, set};

const KEYS: [&str; 6] = ["a", "b", "c", "dd", "a-longer-key", "error"];

/// The server answers every command about this key with an error line.
const ERROR_KEY: &str = "error";

/// One request, by the number of its key.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Ask {
    Read(ReadKind, usize),
    Set(usize, usize),
    Delete(usize),
    Version,
}

#[derive(Clone, Debug)]
enum Step {
    Submit(Ask),
    SubmitQuiet(Ask),
    SubmitReads(ReadKind, Vec<usize>),
    /// The same, into the outbox.
    Enqueue(Ask),
    EnqueueQuiet(Ask),
    EnqueueReads(ReadKind, Vec<usize>),
    Absorb,
    /// Cancels one of the requests submitted so far.
    Cancel(prop::sample::Index),
    /// Takes this share of the output, in 256ths.
    Write(u8),
    /// Receives this share of what the server has answered, in 256ths.
    Receive(u8),
}

fn read_kind() -> impl Strategy<Value = ReadKind> {
    let expiry = (1..3_u64).prop_map(|n| Expiry::after(Duration::from_secs(n), 0));
    prop_oneof![
        5 => Just(ReadKind::Get),
        2 => Just(ReadKind::Gets),
        1 => expiry.clone().prop_map(ReadKind::GetAndTouch),
        1 => expiry.prop_map(ReadKind::GetsAndTouch),
    ]
}

fn ask() -> impl Strategy<Value = Ask> {
    let key = 0..KEYS.len();
    prop_oneof![
        8 => (read_kind(), key.clone()).prop_map(|(kind, key)| Ask::Read(kind, key)),
        2 => (key.clone(), prop_oneof![0..20_usize, Just(9_000)])
            .prop_map(|(key, len)| Ask::Set(key, len)),
        1 => key.prop_map(Ask::Delete),
        1 => Just(Ask::Version),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let keys = prop::collection::vec(0..KEYS.len(), 0..12);
    prop_oneof![
        12 => ask().prop_map(Step::Submit),
        2 => ask().prop_map(Step::SubmitQuiet),
        1 => (read_kind(), keys.clone()).prop_map(|(kind, keys)| Step::SubmitReads(kind, keys)),
        12 => ask().prop_map(Step::Enqueue),
        2 => ask().prop_map(Step::EnqueueQuiet),
        1 => (read_kind(), keys).prop_map(|(kind, keys)| Step::EnqueueReads(kind, keys)),
        3 => Just(Step::Absorb),
        3 => any::<prop::sample::Index>().prop_map(Step::Cancel),
        6 => any::<u8>().prop_map(Step::Write),
        8 => any::<u8>().prop_map(Step::Receive),
    ]
}

/// The connection and the model beside it.
struct Pair {
    limits: Limits,
    connection: Connection<usize>,
    outbox: Outbox<usize>,
    input: BytesMut,
    /// What came out, by token.
    replies: BTreeMap<usize, Reply>,
    cancelled: BTreeSet<usize>,
    tickets: Vec<(usize, Ticket)>,
    tokens: usize,

    encoded: Encoded,
    enqueued: Encoded,
    server: Server,
    written: usize,
    received: usize,
    completed: usize,
}

impl Pair {
    fn new(limits: Limits) -> Self {
        Self {
            limits,
            connection: Connection::new(limits),
            outbox: Outbox::new(limits),
            input: BytesMut::new(),
            replies: BTreeMap::new(),
            cancelled: BTreeSet::new(),
            tickets: Vec::new(),
            tokens: 0,
            encoded: Encoded::default(),
            enqueued: Encoded::default(),
            server: Server::default(),
            written: 0,
            received: 0,
            completed: 0,
        }
    }

    fn token(&mut self) -> usize {
        self.tokens += 1;
        self.tokens - 1
    }

    fn step(&mut self, step: Step) {
        let batch = self.limits.autobatch;
        match step {
            Step::Submit(ask) => {
                let token = self.token();
                let ticket =
                    with_request(ask, |request| self.connection.submit(request, token)).unwrap();
                self.tickets.push((token, ticket));
                self.encoded.push(Some(token), ask, &self.limits, batch);
            }
            Step::SubmitQuiet(ask) => {
                let result = with_request(ask, |request| self.connection.submit_quiet(request));
                assert_eq!(result.is_ok(), may_be_quiet(ask));
                if may_be_quiet(ask) {
                    self.encoded.push(None, ask, &self.limits, batch);
                }
            }
            Step::SubmitReads(kind, keys) => {
                let tokens: Vec<_> = keys.iter().map(|_| self.token()).collect();
                let reads = keys
                    .iter()
                    .zip(&tokens)
                    .map(|(&k, &token)| (key(KEYS[k]), token));
                self.connection.submit_reads(kind, reads).unwrap();
                push_reads(&mut self.encoded, kind, &keys, &tokens, &self.limits);
            }
            Step::Enqueue(ask) => {
                let token = self.token();
                with_request(ask, |request| self.outbox.submit(request, token)).unwrap();
                self.enqueued.push(Some(token), ask, &self.limits, batch);
            }
            Step::EnqueueQuiet(ask) => {
                let result = with_request(ask, |request| self.outbox.submit_quiet(request));
                assert_eq!(result.is_ok(), may_be_quiet(ask));
                if may_be_quiet(ask) {
                    self.enqueued.push(None, ask, &self.limits, batch);
                }
            }
            Step::EnqueueReads(kind, keys) => {
                let tokens: Vec<_> = keys.iter().map(|_| self.token()).collect();
                let reads = keys
                    .iter()
                    .zip(&tokens)
                    .map(|(&k, &token)| (key(KEYS[k]), token));
                self.outbox.submit_reads(kind, reads);
                push_reads(&mut self.enqueued, kind, &keys, &tokens, &self.limits);
            }
            Step::Absorb => {
                let requests = self.enqueued.lines.iter().map(|line| line.requests.len());
                assert_eq!(self.outbox.len(), requests.sum::<usize>());
                self.connection.absorb(&mut self.outbox);
                assert!(self.outbox.is_empty());
                self.encoded.append(&mut self.enqueued);
            }
            Step::Cancel(index) => {
                if self.tickets.is_empty() {
                    return;
                }
                let (token, ticket) = *index.get(&self.tickets);
                let waits = !self.replies.contains_key(&token);
                let expected = (waits && !self.cancelled.contains(&token)).then_some(token);
                let cancelled = self.connection.cancel(ticket);
                self.cancelled.extend(cancelled);
                assert_eq!(cancelled, expected);
            }
            Step::Write(share) => self.write(share),
            Step::Receive(share) => self.receive(share),
        }
    }

    fn write(&mut self, share: u8) {
        self.encoded.close();
        let mut output = self.connection.output();
        let expected = &self.encoded.bytes[self.written..];
        assert_eq!(output.remaining(), expected.len());
        let count = expected.len() * usize::from(share) / 255;
        let taken = output.copy_to_bytes(count);
        assert_eq!(taken, expected[..count]);
        drop(output);

        let before = self.written;
        self.written += count;
        // The server answers each line once it has all of it.
        for (n, line) in self.encoded.lines.iter().enumerate() {
            let next = self.encoded.lines.get(n + 1);
            let end = next.map_or(self.encoded.bytes.len(), |next| next.start);
            if end > before && end <= self.written {
                self.server.answer(line);
            }
        }
    }

    fn receive(&mut self, share: u8) {
        let waiting = self.server.answered.len() - self.received;
        let count = waiting * usize::from(share) / 255;
        let piece = &self.server.answered[self.received..][..count];
        self.input.extend_from_slice(piece);
        self.received += count;
        let replies = &mut self.replies;
        let completed = self
            .connection
            .feed(&mut self.input, &mut |token, reply| {
                assert_eq!(
                    replies.insert(token, reply),
                    None,
                    "{token} was answered twice"
                );
            })
            .unwrap();
        self.completed += completed;
        self.check_counts();
        self.check_replies();
    }

    fn check_counts(&self) {
        let lines = self.encoded.lines.iter();
        let requests = lines.flat_map(|line| &line.requests);
        let quiet = requests.clone().filter(|(token, _)| token.is_none());
        let came = |answer: &&Answer| answer.token.is_none() && answer.end <= self.received;
        let quiet_answered = self.server.answers.iter().filter(came);
        assert_eq!(
            self.connection.in_flight(),
            requests.count() - self.completed
        );
        assert_eq!(
            self.connection.quiet_in_flight(),
            quiet.count() - quiet_answered.count()
        );
    }

    /// Everything that has come was answered, with what the server said about it.
    fn check_replies(&self) {
        for Answer {
            end,
            token,
            ask,
            expected,
        } in &self.server.answers
        {
            let Some(token) = token else { continue };
            if self.cancelled.contains(token) {
                assert!(!self.replies.contains_key(token), "{token} was cancelled");
                continue;
            }
            let Some(reply) = self.replies.get(token) else {
                assert!(*end > self.received, "{token} ({ask:?}) was not answered");
                continue;
            };
            match (reply, expected) {
                (Reply::Error(error), Expected::Error(text)) => {
                    assert_eq!(error.kind(), ServerErrorKind::Server);
                    assert_eq!(error.message(), text);
                }
                (reply, Expected::Reply(expected)) => assert_eq!(reply, expected),
                other => panic!("{token} ({ask:?}) was answered wrongly: {other:?}"),
            }
        }
        let answered = self.server.answers.iter();
        let known: Vec<_> = answered.filter_map(|answer| answer.token).collect();
        assert!(self.replies.keys().all(|token| known.contains(token)));
    }

    fn close(mut self) {
        let waiting: Vec<_> = self.connection.waiting().copied().collect();
        let mut left = BTreeMap::new();
        let mut order = Vec::new();
        self.connection.close(&mut |token, Unanswered { written }| {
            assert_eq!(left.insert(token, written), None, "{token} came twice");
            order.push(token);
        });
        assert_eq!(order, waiting);
        for line in &self.encoded.lines {
            for (token, _) in &line.requests {
                let Some(token) = token else { continue };
                let answered = self.replies.contains_key(token);
                let cancelled = self.cancelled.contains(token);
                let expected = !answered && !cancelled;
                let unanswered = left.remove(token);
                assert_eq!(unanswered, expected.then_some(line.start < self.written));
            }
        }
        assert!(left.is_empty());
        assert_eq!(self.connection.in_flight(), 0);
        assert_eq!(self.connection.quiet_in_flight(), 0);
        assert_eq!(self.connection.waiting().count(), 0);
        assert!(!self.connection.has_output());

        let mut cleared = Vec::new();
        self.outbox.clear(&mut |token| cleared.push(token));
        let lines = self.enqueued.lines.iter();
        let enqueued = lines.flat_map(|line| line.requests.iter().filter_map(|(token, _)| *token));
        assert!(enqueued.eq(cleared));
    }
}

fn push_reads(
    encoded: &mut Encoded,
    kind: ReadKind,
    keys: &[usize],
    tokens: &[usize],
    limits: &Limits,
) {
    for (&key, &token) in keys.iter().zip(tokens) {
        encoded.push(Some(token), Ask::Read(kind, key), limits, true);
    }
    if !limits.autobatch {
        encoded.close();
    }
}

fn may_be_quiet(ask: Ask) -> bool {
    matches!(ask, Ask::Set(..) | Ask::Delete(_))
}

fn with_request<R>(ask: Ask, submit: impl FnOnce(&Request<'_>) -> R) -> R {
    let read_and_touch = |k: usize, expiry, cas| Request::GetAndTouch {
        key: key(KEYS[k]),
        expiry,
        cas,
    };
    match ask {
        Ask::Read(ReadKind::Get, key) => submit(&get(KEYS[key])),
        Ask::Read(ReadKind::Gets, key) => submit(&gets(KEYS[key])),
        Ask::Read(ReadKind::GetAndTouch(expiry), key) => {
            submit(&read_and_touch(key, expiry, false))
        }
        Ask::Read(ReadKind::GetsAndTouch(expiry), key) => {
            submit(&read_and_touch(key, expiry, true))
        }
        Ask::Set(key, len) => submit(&set(KEYS[key], &data(key, len))),
        Ask::Delete(key) => submit(&delete(KEYS[key])),
        Ask::Version => submit(&Request::Version),
    }
}

proptest! {
    #[test]
    fn the_connection_does_what_the_model_does(
        steps in prop::collection::vec(step(), 0..120),
        autobatch in prop::bool::weighted(0.8),
        max_batch_keys in 1..5_usize,
        copy_below in prop_oneof![Just(0), Just(10), Just(4096)],
        drain: bool,
    ) {
        let limits = Limits { autobatch, max_batch_keys, copy_below, ..Limits::default() };
        let mut pair = Pair::new(limits);
        for step in steps {
            pair.step(step);
        }
        if drain {
            for step in [Step::Absorb, Step::Write(255), Step::Receive(255)] {
                pair.step(step);
            }
            prop_assert_eq!(pair.connection.in_flight(), 0);
            prop_assert!(pair.input.is_empty());
        }
        pair.close();
    }
}
