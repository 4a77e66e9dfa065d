//! What the protocol costs a request: encoding it, passing it through the connection, and
//! reading its reply, without any I/O.
//!
//! `cargo bench -p steersman-memcached-protocol --bench connection`; the time of one iteration is that of the whole
//! batch, the throughput counts requests.

mod driver;

use bytes::Bytes;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use steersman_memcached_protocol::{Expiry, Key, Limits, Request, StoreVerb};

use crate::driver::{Driver, keys, values};

const BATCHES: [usize; 3] = [1, 32, 512];

/// Submits `requests`, writes them to nowhere, and reads `replies`.
fn round_trip<'a>(
    driver: &mut Driver,
    requests: impl Iterator<Item = Request<'a>>,
    replies: &[u8],
) {
    for (token, request) in requests.enumerate() {
        let submitted = driver.outbox.submit(&request, token);
        submitted.expect("the request is valid");
    }
    driver.write();
    driver.receive(replies);
    driver.read();
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
        let lines = keys.chunks(keys_a_line);
        let replies = lines.flat_map(|line| values(line, value));
        let replies: Vec<u8> = replies.collect();
        let mut driver = Driver::new(limits);
        group.throughput(Throughput::Elements(batch as u64));
        group.bench_function(BenchmarkId::from_parameter(batch), |b| {
            b.iter(|| {
                let requests = keys.iter().map(|key| Request::Get {
                    key: Key::new(key.as_bytes()).expect("the key is valid"),
                    cas: false,
                });
                round_trip(&mut driver, requests, &replies);
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
                round_trip(&mut driver, requests, &replies);
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
