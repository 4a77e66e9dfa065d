//! How long placement takes: a lookup of a key, its hash included, and a change of one node.
//!
//! `cargo bench -p steersman-selection`. Lookups run over many different keys of 24 bytes, one
//! after the other as fast as they go. The crate hrw-hash is the peer: rendezvous hashing that
//! sorts all nodes by score.

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, criterion_group, criterion_main};
use hrw_hash::HrwNodes;
use steersman_selection::{Member, NodeIndex, Placement, Scheme};

const NODES: [usize; 4] = [10, 100, 1_000, 10_000];
const KEYS: usize = 1 << 16;

fn names(count: usize) -> impl Iterator<Item = String> {
    (0..count).map(|i| format!("10.{}.{}.{}:11211", i >> 16, (i >> 8) & 255, i & 255))
}

fn placement(scheme: Scheme, replicas: usize, nodes: usize) -> Placement {
    Placement::with_replicas(scheme, replicas, names(nodes).map(Member::new))
        .expect("the names are distinct")
}

/// Times `lookup` on one key after the other.
fn lookups<T>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    id: BenchmarkId,
    mut lookup: impl FnMut(&[u8]) -> T,
) {
    let bytes: Vec<u8> = (0..KEYS)
        .flat_map(|i| format!("user:{i:019}").into_bytes())
        .collect();
    let (keys, _) = bytes.as_chunks::<24>();
    group.bench_function(id, |bencher| {
        bencher.iter_custom(|rounds| {
            let mut left = usize::try_from(rounds).unwrap_or(usize::MAX);
            let start = Instant::now();
            while left > 0 {
                let batch = &keys[..KEYS.min(left)];
                for key in batch {
                    black_box(lookup(black_box(key)));
                }
                left -= batch.len();
            }
            start.elapsed()
        });
    });
}

fn owner(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("owner");
    for nodes in NODES {
        for slot_bits in [16, 20] {
            let slots = placement(Scheme::Rendezvous { slot_bits }, 1, nodes);
            slots.fill();
            lookups(
                &mut group,
                BenchmarkId::new(format!("slots-{slot_bits}"), nodes),
                |key| slots.owner(key),
            );
        }
        let exact = placement(Scheme::RendezvousExact, 1, nodes);
        lookups(&mut group, BenchmarkId::new("exact", nodes), |key| {
            exact.owner(key)
        });
        let peer = HrwNodes::new(names(nodes));
        lookups(&mut group, BenchmarkId::new("hrw-hash", nodes), |key| {
            peer.sorted(&key).next().map(String::len)
        });
    }
    let emcache = placement(Scheme::Emcache, 1, 10);
    lookups(&mut group, BenchmarkId::new("emcache", 10), |key| {
        emcache.owner(key)
    });
}

fn replicas(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("replicas-3");
    for nodes in NODES {
        let slots = placement(Scheme::default(), 3, nodes);
        slots.fill();
        let exact = placement(Scheme::RendezvousExact, 1, nodes);
        for (name, placement) in [("slots-16", slots), ("exact", exact)] {
            let mut out = [NodeIndex::default(); 3];
            lookups(&mut group, BenchmarkId::new(name, nodes), |key| {
                placement.replicas(key, black_box(&mut out))
            });
        }
    }
}

/// Other clients' placements, with the feature `compat`: each of them with its default hash, and one
/// ring with each of its hashes, since that is what takes the time; and a ring made from nothing.
fn compat(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("compat");
    for scheme in Scheme::all().skip(4) {
        let name = scheme.to_string();
        if Scheme::NAMES.contains(&&*name) || name.starts_with("libmemcached-ketama-weighted:") {
            for nodes in [10, 100, 1_000] {
                let placement = placement(scheme, 1, nodes);
                lookups(&mut group, BenchmarkId::new(&name, nodes), |key| {
                    placement.owner(key)
                });
            }
        }
        if Scheme::NAMES.contains(&&*name) {
            group.bench_function(BenchmarkId::new(format!("{name}/made"), 100), |bencher| {
                bencher.iter(|| placement(scheme, 1, 100));
            });
        }
    }
}

/// A change of one node among 10,000 on 2^20 slots, all of them filled.
fn change(criterion: &mut Criterion) {
    let mut placement = placement(Scheme::Rendezvous { slot_bits: 20 }, 1, 10_000);
    placement.fill();
    let member = || Member::new("one-more:11211");
    let mut group = criterion.benchmark_group("change");
    group.bench_function("insert", |bencher| {
        bencher.iter_custom(|rounds| {
            let mut elapsed = Duration::ZERO;
            for _ in 0..rounds {
                let start = Instant::now();
                let index = placement.insert(member()).expect("the name is new");
                elapsed += start.elapsed();
                placement.remove(index);
            }
            elapsed
        });
    });
    group.bench_function("remove", |bencher| {
        bencher.iter_custom(|rounds| {
            let mut elapsed = Duration::ZERO;
            for _ in 0..rounds {
                let index = placement.insert(member()).expect("the name is new");
                let start = Instant::now();
                placement.remove(index);
                elapsed += start.elapsed();
            }
            elapsed
        });
    });
    group.bench_function("clone", |bencher| bencher.iter(|| placement.clone()));
}

criterion_group!(benches, owner, replicas, change, compat);
criterion_main!(benches);
