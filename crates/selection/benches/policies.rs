//! What a request costs in the policies: a plan and its first node, a whole plan, one recorded
//! attempt alone and with another thread at the same node; and of ranked policies, what they keep of a
//! node.
//!
//! ```text
//! cargo bench -p steersman-selection --bench policies
//! ```

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use steersman_selection::{
    Attempt, Call, CubicInFlight, DatacenterAware, DynPolicy, HotColdLexicographic, LatencyAware,
    LeastInFlight, Locality, Mode, NodeIndex, Outcome, PeakEwma, Plan, Policy, Ranked, Ranking,
    ReplicaOrder, Replicas, RoundRobin, Steady, Timestamp, TokenAware, Topology,
};

const SIZES: [usize; 3] = [3, 10, 100];

fn node(index: usize) -> NodeIndex {
    NodeIndex::try_from(index).expect("sizes are small")
}

/// Two thirds of the nodes in the local datacenter, in three racks.
fn topology(nodes: usize) -> Topology {
    let mut topology = Topology::new();
    for index in 0..nodes {
        let datacenter = if index * 3 < nodes * 2 {
            "eu-1"
        } else {
            "eu-2"
        };
        let rack = ["x", "y", "z"][index % 3];
        topology.insert(node(index), Locality::datacenter(datacenter).rack(rack));
    }
    topology
}

/// A policy that has measured every node; every tenth is slow.
fn measured<C: Policy>(mode: Mode, child: C, topology: &Topology) -> LatencyAware<C> {
    let policy = LatencyAware::builder()
        .mode(mode)
        .build(child)
        .expect("the defaults are valid");
    policy.topology_changed(topology, Timestamp::from_nanos(0));
    for sample in 1..=100 {
        let at = Timestamp::from_nanos(sample * 10_000_000);
        for &node in topology.nodes() {
            let latency = Duration::from_millis(if node.get() % 10 == 2 { 50 } else { 2 });
            policy.record(&Attempt::new(node, at, latency, Outcome::Success));
        }
        if sample % 10 == 0 {
            policy.tick(at);
        }
    }
    policy
}

const NOW: Timestamp = Timestamp::from_nanos(1_001_000_000);

fn bench_plans<P: Policy>(c: &mut Criterion, name: &str, policy: &P, call: Call<'_>) {
    let nodes = call.topology().nodes().len();
    c.bench_function(&format!("{name}/first of {nodes}"), |b| {
        b.iter(|| policy.plan(black_box(call)).next(NOW));
    });
    c.bench_function(&format!("{name}/all of {nodes}"), |b| {
        b.iter(|| {
            let mut plan = policy.plan(black_box(call));
            let mut count = 0;
            while let Some(node) = plan.next(NOW) {
                black_box(node);
                count += 1;
            }
            count
        });
    });
}

fn plans(c: &mut Criterion) {
    for nodes in SIZES {
        let topology = topology(nodes);
        let replicas = [1, 0, 2].map(node);
        let call = Call::new(&topology);
        let keyed = call.replicas(&replicas);
        let datacenters = || DatacenterAware::new("eu-1").rack("x").remote_nodes(100);

        bench_plans(c, "round robin", &RoundRobin::new(), call);
        bench_plans(c, "datacenter", &datacenters(), call);
        for order in [
            ReplicaOrder::Topological,
            ReplicaOrder::Random,
            ReplicaOrder::Neutral,
        ] {
            let tokens = TokenAware::new(datacenters()).order(order);
            bench_plans(c, &format!("token {order:?}"), &tokens, keyed);
        }
        for mode in [Mode::Guarded, Mode::Reference] {
            let policy = measured(mode, RoundRobin::new(), &topology);
            bench_plans(c, &format!("latency {mode:?}, round robin"), &policy, call);
            let policy = measured(mode, TokenAware::new(datacenters()), &topology);
            bench_plans(
                c,
                &format!("latency {mode:?}, token, datacenter"),
                &policy,
                keyed,
            );
            let policy = TokenAware::new(measured(mode, datacenters(), &topology));
            bench_plans(
                c,
                &format!("token, latency {mode:?}, datacenter"),
                &policy,
                keyed,
            );
        }
        let policy = measured(Mode::Guarded, Replicas::in_order(), &topology);
        bench_plans(c, "latency Guarded, replicas", &policy, keyed);

        let policy = measured(Mode::Guarded, TokenAware::new(datacenters()), &topology);
        let policy: &dyn DynPolicy = &policy;
        c.bench_function(
            &format!("dyn latency, token, datacenter/first of {nodes}"),
            |b| {
                b.iter(|| policy.first(black_box(keyed), NOW));
            },
        );
    }
}

/// A ranked policy that has measured every node, over three replicas, and over the nodes in turn.
fn ranked<R: Ranking>(
    c: &mut Criterion,
    name: &str,
    replicas: &Ranked<Replicas, R>,
    all: &Ranked<RoundRobin, R>,
) {
    println!("{name}: {} bytes a node", Ranked::<(), R>::bytes_per_node());
    for nodes in SIZES {
        let topology = topology(nodes);
        let held = [1, 0, 2].map(node);
        let call = Call::new(&topology);
        teach(replicas, &topology);
        bench_plans(
            c,
            &format!("{name}, replicas"),
            replicas,
            call.replicas(&held),
        );
        teach(all, &topology);
        bench_plans(c, &format!("{name}, round robin"), all, call);
    }
    let mut at = Timestamp::from_nanos(2_000_000_000);
    c.bench_function(&format!("{name}/begin and record"), |b| {
        b.iter(|| {
            at = at + Duration::from_micros(1);
            replicas.begin(node(0), at);
            let latency = Duration::from_nanos(black_box(2_000_000));
            replicas.record(&Attempt::new(node(0), at, latency, Outcome::Success));
        });
    });
}

/// Each node has answered.
fn teach(policy: &impl Policy, topology: &Topology) {
    policy.topology_changed(topology, Timestamp::from_nanos(0));
    for &node in topology.nodes() {
        let latency = Duration::from_millis(if node.get() % 10 == 2 { 50 } else { 2 });
        policy.begin(node, NOW);
        policy.record(&Attempt::new(node, NOW, latency, Outcome::Success));
    }
    policy.tick(NOW);
}

fn rankings(c: &mut Criterion) {
    macro_rules! bench {
        ($($policy:ident),*) => {$(
            let replicas = $policy::new(Replicas::in_order());
            let all = $policy::new(RoundRobin::new());
            ranked(c, stringify!($policy), &replicas, &all);
        )*};
    }
    bench!(
        Steady,
        PeakEwma,
        LeastInFlight,
        HotColdLexicographic,
        CubicInFlight
    );
}

/// Records attempts at node 0, a microsecond apart by a clock that begins so late.
fn recorder<C: Policy>(policy: &LatencyAware<C>, begin: i64) -> impl FnMut() {
    let mut at = Timestamp::from_nanos(begin);
    move || {
        at = at + Duration::from_micros(1);
        let latency = Duration::from_nanos(black_box(2_000_000));
        policy.record(&Attempt::new(node(0), at, latency, Outcome::Success));
    }
}

fn records(c: &mut Criterion) {
    let topology = topology(3);
    for mode in [Mode::Guarded, Mode::Reference] {
        let policy = measured(mode, RoundRobin::new(), &topology);
        let name = format!("record {mode:?}");
        let mut record = recorder(&policy, 2_000_000_000);
        c.bench_function(&name, |b| b.iter(&mut record));

        let policy = measured(mode, RoundRobin::new(), &topology);
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut record = recorder(&policy, 2_000_000_500);
                while !done.load(Ordering::Relaxed) {
                    record();
                }
            });
            let mut record = recorder(&policy, 2_000_000_000);
            let name = format!("{name}, another thread at the same node");
            c.bench_function(&name, |b| b.iter(&mut record));
            done.store(true, Ordering::Relaxed);
        });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1));
    targets = plans, records, rankings
}
criterion_main!(benches);
