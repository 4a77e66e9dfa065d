//! What the protocol costs a request: encoding it, passing it through the connection, and
//! reading its reply, without any I/O.
//!
//! `cargo bench -p steersman-memcached-protocol`; the time of one iteration is that of the whole
//! batch, the throughput counts requests.

use std::hint::black_box;

use bytes::{Buf, Bytes, BytesMut};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use steersman_memcached_protocol::{
    Connection, Expiry, Key, Limits, Outbox, Reply, Request, StoreVerb,
};

const BATCHES: [usize; 3] = [1, 32, 512];

fn keys(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("user:{n:08}:profile")).collect()
}

/// Submits `requests`, writes them to nowhere, and reads `replies`.
struct Driver {
    connection: Connection<usize>,
    outbox: Outbox<usize>,
    input: BytesMut,
}

impl Driver {
    fn new(limits: Limits) -> Self {
        Self {
            connection: Connection::new(limits),
            outbox: Outbox::new(limits),
            input: BytesMut::new(),
        }
    }

    fn round_trip<'a>(&mut self, requests: impl Iterator<Item = Request<'a>>, replies: &[u8]) {
        for (token, request) in requests.enumerate() {
            self.outbox
                .submit(&request, token)
                .expect("the request is valid");
        }
        self.connection.absorb(&mut self.outbox);
        let mut output = self.connection.output();
        output.advance(output.remaining());
        drop(output);

        self.input.extend_from_slice(replies);
        let mut sink = |token, reply: Reply| drop(black_box((token, reply)));
        self.connection
            .feed(&mut self.input, &mut sink)
            .expect("the replies are valid");
        assert_eq!(self.connection.in_flight(), 0);
    }
}

fn gets(c: &mut Criterion, name: &str, limits: Limits, value: &[u8]) {
    let mut group = c.benchmark_group(name);
    for batch in BATCHES {
        let keys = keys(batch);
        let keys_a_line = if limits.autobatch {
            limits.max_batch_keys
        } else {
            1
        };
        let mut replies = Vec::new();
        for line in keys.chunks(keys_a_line) {
            for key in line {
                replies.extend(format!("VALUE {key} 0 {}\r\n", value.len()).bytes());
                replies.extend_from_slice(value);
                replies.extend(b"\r\n");
            }
            replies.extend(b"END\r\n");
        }
        let mut driver = Driver::new(limits);
        group.throughput(Throughput::Elements(batch as u64));
        group.bench_function(BenchmarkId::from_parameter(batch), |b| {
            b.iter(|| {
                let requests = keys.iter().map(|key| Request::Get {
                    key: Key::new(key.as_bytes()).expect("the key is valid"),
                    cas: false,
                });
                driver.round_trip(requests, &replies);
            });
        });
    }
    group.finish();
}

fn sets(c: &mut Criterion) {
    let mut group = c.benchmark_group("set of 100 bytes");
    let data = Bytes::from(vec![b'v'; 100]);
    for batch in BATCHES {
        let keys = keys(batch);
        let replies = b"STORED\r\n".repeat(batch);
        let mut driver = Driver::new(Limits::default());
        group.throughput(Throughput::Elements(batch as u64));
        group.bench_function(BenchmarkId::from_parameter(batch), |b| {
            b.iter(|| {
                let requests = keys.iter().map(|key| Request::Store {
                    verb: StoreVerb::Set,
                    key: Key::new(key.as_bytes()).expect("the key is valid"),
                    flags: 0,
                    expiry: Expiry::NEVER,
                    data: &data,
                });
                driver.round_trip(requests, &replies);
            });
        });
    }
    group.finish();
}

fn all(c: &mut Criterion) {
    let apart = Limits {
        autobatch: false,
        ..Limits::default()
    };
    gets(c, "get of 100 bytes", Limits::default(), &[b'v'; 100]);
    gets(c, "get of 100 bytes, one a command", apart, &[b'v'; 100]);
    gets(
        c,
        "get of 4,095 bytes, copied",
        Limits::default(),
        &[b'v'; 4095],
    );
    gets(
        c,
        "get of 4,096 bytes, shared",
        Limits::default(),
        &[b'v'; 4096],
    );
    sets(c);
}

criterion_group!(benches, all);
criterion_main!(benches);
