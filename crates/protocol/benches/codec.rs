//! What each step alone costs: encoding requests, parsing replies, and on the server's side parsing
//! requests.
//!
//! `cargo bench -p steersman-memcached-protocol --bench codec`; the time of one iteration is that of one
//! request or reply, however many keys or values it has. Copying what a socket would bring is not in it.

mod driver;

use std::hint::black_box;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use criterion::{Criterion, criterion_group, criterion_main};
use steersman_memcached_protocol::server::{self, Parser};
use steersman_memcached_protocol::{Expiry, Key, Limits, ReadKind, Request, StoreVerb};

use crate::driver::{Driver, keys, values};

const SMALL: usize = 100;
const LARGE: usize = 64 * 1024;

/// About so many bytes are encoded or parsed in a row, so that looking at the clock costs nothing and
/// they stay in the caches.
const BATCH: usize = 256 * 1024;

/// A request and its reply.
struct Exchange {
    ask: Ask,
    reply: Vec<u8>,
}

enum Ask {
    Get(Vec<String>),
    Set { key: String, data: Bytes },
}

impl Exchange {
    /// A read of so many values of this size.
    fn get(count: usize, size: usize) -> Self {
        let keys = keys(count);
        Self {
            reply: values(&keys, &vec![b'v'; size]),
            ask: Ask::Get(keys),
        }
    }

    fn set(size: usize) -> Self {
        Self {
            ask: Ask::Set {
                key: keys(1).remove(0),
                data: vec![b'v'; size].into(),
            },
            reply: b"STORED\r\n".to_vec(),
        }
    }

    fn submit(&self, driver: &mut Driver) {
        let key = |key| Key::new(str::as_bytes(key)).expect("the key is valid");
        match &self.ask {
            Ask::Get(keys) => {
                let reads = keys.iter().enumerate();
                let reads = reads.map(|(token, text)| (key(text), token));
                driver.outbox.submit_reads(ReadKind::Get, reads);
            }
            Ask::Set { key: text, data } => {
                let set = Request::Store {
                    verb: StoreVerb::Set,
                    key: key(text),
                    flags: 0,
                    expiry: Expiry::NEVER,
                    data,
                };
                let submitted = driver.outbox.submit(&set, 0);
                submitted.expect("the request is valid");
            }
        }
    }
}

/// How many messages of this length are handled in a row.
fn batch(length: usize) -> usize {
    (BATCH / length).clamp(1, 64)
}

/// Times `rounds` messages, so many at a time: `step` prepares as many as it is told, and tells how long
/// they took.
fn timed(rounds: u64, batch: usize, mut step: impl FnMut(usize) -> Duration) -> Duration {
    let mut elapsed = Duration::ZERO;
    let mut left = usize::try_from(rounds).unwrap_or(usize::MAX);
    while left > 0 {
        let count = left.min(batch);
        elapsed += step(count);
        left -= count;
    }
    elapsed
}

/// Runs exchanges, so many at a time, and times their steps.
struct Steps<'a> {
    exchange: &'a Exchange,
    driver: Driver,
    batch: usize,
    replies: Vec<u8>,
}

impl<'a> Steps<'a> {
    fn of(exchange: &'a Exchange) -> Self {
        // Each read is a command line of its own.
        let limits = Limits {
            autobatch: false,
            ..Limits::default()
        };
        let batch = batch(exchange.reply.len());
        Self {
            exchange,
            driver: Driver::new(limits),
            batch,
            replies: exchange.reply.repeat(batch),
        }
    }

    /// How long encoding took, and how long parsing. Neither goes without the other.
    fn run(&mut self, count: usize) -> (Duration, Duration) {
        let began = Instant::now();
        for _ in 0..count {
            self.exchange.submit(&mut self.driver);
        }
        self.driver.write();
        let encoding = began.elapsed();
        let replies = self.exchange.reply.len() * count;
        self.driver.receive(&self.replies[..replies]);
        let began = Instant::now();
        self.driver.read();
        (encoding, began.elapsed())
    }
}

fn encode(c: &mut Criterion) {
    for (name, exchange) in [
        ("get of 1 key", Exchange::get(1, SMALL)),
        ("get of 32 keys", Exchange::get(32, SMALL)),
        ("set of 100 bytes", Exchange::set(SMALL)),
        ("set of 64 KiB", Exchange::set(LARGE)),
    ] {
        let mut steps = Steps::of(&exchange);
        c.bench_function(&format!("encode/{name}"), |b| {
            b.iter_custom(|rounds| timed(rounds, steps.batch, |count| steps.run(count).0));
        });
    }
}

fn parse(c: &mut Criterion) {
    for (name, exchange) in [
        ("1 value of 100 bytes", Exchange::get(1, SMALL)),
        ("32 values of 100 bytes", Exchange::get(32, SMALL)),
        ("1 value of 64 KiB", Exchange::get(1, LARGE)),
        ("32 values of 64 KiB", Exchange::get(32, LARGE)),
        ("stored", Exchange::set(SMALL)),
    ] {
        let mut steps = Steps::of(&exchange);
        c.bench_function(&format!("parse/{name}"), |b| {
            b.iter_custom(|rounds| timed(rounds, steps.batch, |count| steps.run(count).1));
        });
    }
}

fn server(c: &mut Criterion) {
    let get = |count| format!("get {}\r\n", keys(count).join(" "));
    let set = |size: usize| format!("set {} 0 0 {size}\r\n{}\r\n", keys(1)[0], "v".repeat(size));
    for (name, request) in [
        ("get of 1 key", get(1)),
        ("get of 32 keys", get(32)),
        ("set of 100 bytes", set(SMALL)),
        ("set of 64 KiB", set(LARGE)),
    ] {
        let batch = batch(request.len());
        let requests = request.repeat(batch);
        let mut parser = Parser::new(server::Limits::default());
        let mut input = BytesMut::new();
        let mut run = |count: usize| {
            input.extend_from_slice(&requests.as_bytes()[..request.len() * count]);
            let began = Instant::now();
            for _ in 0..count {
                let event = parser.next(&mut input);
                black_box(event).expect("the request is whole");
            }
            began.elapsed()
        };
        c.bench_function(&format!("server parse/{name}"), |b| {
            b.iter_custom(|rounds| timed(rounds, batch, &mut run));
        });
    }
}

criterion_group!(benches, encode, parse, server);
criterion_main!(benches);
