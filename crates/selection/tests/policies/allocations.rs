//! What does not allocate: planning, recording, and ticking in quiet times.

use allocation_counter::measure;
use steersman_selection::{
    Attempt, Call, DatacenterAware, DynPolicy, LatencyAware, LatencyParameters, Locality, Mode,
    Outcome, Plan, Policy, ReplicaOrder, Timestamp, TokenAware, Topology,
};

use crate::cluster::{BOTH, millis, node};

fn allocations(work: impl FnOnce()) -> u64 {
    measure(work).count_total
}

fn topology(nodes: usize) -> Topology {
    let mut topology = Topology::new();
    for index in 0..nodes {
        let datacenter = ["a", "a", "b"][index % 3];
        topology.insert(node(index), Locality::datacenter(datacenter).rack("x"));
    }
    topology
}

/// A chain, taught that each second node of the first 32 is slow.
fn chain(
    mode: Mode,
    order: ReplicaOrder,
    topology: &Topology,
) -> LatencyAware<TokenAware<DatacenterAware>> {
    let datacenters = DatacenterAware::new("a").rack("x").remote_nodes(usize::MAX);
    let parameters = LatencyParameters::default()
        .min_measured(0)
        .confirmations(1);
    let policy = LatencyAware::builder()
        .mode(mode)
        .parameters(parameters)
        .build(TokenAware::new(datacenters).order(order))
        .unwrap();
    policy.topology_changed(topology, Timestamp::from_nanos(0));
    for sample in 1..5 {
        let at = Timestamp::from_nanos(sample * 100_000_000);
        for &node in topology.nodes() {
            let slow = node.get() % 2 == 1 && node.get() < 32;
            let latency = millis(if slow { 50 } else { 2 });
            policy.record(&Attempt::new(node, at, latency, Outcome::Success));
        }
        policy.tick(at);
    }
    policy
}

const ORDERS: [ReplicaOrder; 3] = [
    ReplicaOrder::Neutral,
    ReplicaOrder::Random,
    ReplicaOrder::Topological,
];

#[test]
fn planning_does_not_allocate() {
    let now = Timestamp::from_nanos(500_000_000);
    for mode in BOTH {
        for order in ORDERS {
            for nodes in [3, 10, 16, 32, 100] {
                let topology = topology(nodes);
                let policy = chain(mode, order, &topology);
                let replicas = [1, 2, 0].map(node);
                let call = Call::new(&topology).replicas(&replicas);
                let first = allocations(|| {
                    assert!(policy.plan(call).next(now).is_some());
                    assert!(policy.first(call, now).is_some());
                });
                assert_eq!(first, 0, "{mode:?} {order:?} {nodes}");
                // Of up to 32 nodes 16 are held back at most.
                let whole = allocations(|| {
                    let mut plan = policy.plan(call);
                    let count = std::iter::from_fn(|| plan.next(now)).count();
                    assert_eq!(count, nodes);
                });
                assert_eq!(whole, 0, "{mode:?} {order:?} {nodes}");
            }
        }
    }
}

#[test]
fn recording_does_not_allocate() {
    let topology = topology(10);
    for mode in BOTH {
        let policy = chain(mode, ReplicaOrder::Random, &topology);
        let outcomes = [Outcome::Success, Outcome::Failed, Outcome::Cancelled];
        let count = allocations(|| {
            for sample in 0..1_000 {
                let at = Timestamp::from_nanos(500_000_000 + sample * 1_000_000);
                let index = usize::try_from(sample).unwrap();
                let outcome = outcomes[index % 3];
                policy.record(&Attempt::new(node(index % 12), at, millis(3), outcome));
            }
        });
        assert_eq!(count, 0, "{mode:?}");
        assert!(policy.score(node(0)).unwrap().samples > 30);
    }
}

#[test]
fn a_trait_object_allocates_its_plans_but_not_for_the_first_node() {
    let topology = topology(10);
    let policy = chain(Mode::Guarded, ReplicaOrder::Random, &topology);
    let policy: &dyn DynPolicy = &policy;
    let call = Call::new(&topology);
    let now = Timestamp::from_nanos(500_000_000);
    let first = allocations(|| assert!(policy.first(call, now).is_some()));
    assert_eq!(first, 0);
    let plan = allocations(|| assert!(policy.plan(call).next(now).is_some()));
    assert_eq!(plan, 1);
}
