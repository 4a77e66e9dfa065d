//! All nestings of the policies, typed and as trait objects.

use std::sync::Arc;

use proptest::prelude::*;
use steersman_selection::{
    Attempt, Call, DatacenterAware, DynPolicy, Locality, Mode, NodeIndex, Outcome, Plan, Policy,
    ReplicaOrder, Replicas, RoundRobin, Standing, Tier, Timestamp, TokenAware, Topology, Turn,
};

use crate::cluster::{BOTH, millis, node};
use crate::lesson::{latency_aware, teach};

const ORDERS: [ReplicaOrder; 3] = [
    ReplicaOrder::Neutral,
    ReplicaOrder::Random,
    ReplicaOrder::Topological,
];

fn now() -> Timestamp {
    Timestamp::from_nanos(1_000_000_000)
}

/// Nodes 0 to 5 in `a`, in three racks in turn, 6 to 8 in `b`.
fn topology() -> Topology {
    let mut topology = Topology::new();
    for index in 0..9 {
        let datacenter = if index < 6 { "a" } else { "b" };
        let rack = ["x", "y", "z"][index % 3];
        topology.insert(node(index), Locality::datacenter(datacenter).rack(rack));
    }
    topology
}

fn plan(policy: &impl Policy, call: Call<'_>) -> Vec<usize> {
    let mut plan = policy.plan(call);
    let nodes = std::iter::from_fn(|| plan.next(now()))
        .map(NodeIndex::get)
        .collect();
    assert_eq!(plan.next(now()), None);
    nodes
}

fn sorted(nodes: &[usize]) -> Vec<usize> {
    let mut nodes = nodes.to_vec();
    nodes.sort_unstable();
    nodes
}

#[test]
fn a_slow_replica_is_the_last_replica_in_either_nesting() {
    let topology = topology();
    let replicas = [1, 7, 4, 2].map(node);
    let call = Call::new(&topology).replicas(&replicas);
    let child = || DatacenterAware::new("a").remote_nodes(3);
    let check = |policy: &dyn DynPolicy, what: &str| {
        teach(&policy, &topology, &[4]);
        for _ in 0..12 {
            let nodes = plan(&policy, call);
            assert_eq!(sorted(&nodes[..2]), [1, 2], "{what}: {nodes:?}");
            assert_eq!(nodes[2], 4, "{what}: {nodes:?}");
            assert_eq!(sorted(&nodes[3..6]), [0, 3, 5], "{what}: {nodes:?}");
            assert_eq!(sorted(&nodes[6..]), [6, 7, 8], "{what}: {nodes:?}");
        }
    };
    for order in ORDERS {
        let inner = latency_aware(Mode::Guarded, TokenAware::new(child()).order(order));
        check(&inner, &format!("inside, {order:?}"));
        let outer = TokenAware::new(latency_aware(Mode::Guarded, child())).order(order);
        check(&outer, &format!("outside, {order:?}"));
    }
}

/// Nodes 1 and 4 are in the rack, 0 and 3 in another one, 7 in another datacenter.
#[test]
fn replicas_in_the_preferred_rack_come_first_in_every_order() {
    let topology = topology();
    let replicas = [0, 4, 7, 3, 1].map(node);
    let call = Call::new(&topology).replicas(&replicas);
    let child = || DatacenterAware::new("a").rack("y").remote_nodes(3);
    let check = |policy: &dyn DynPolicy, slow: &[usize], what: &str| {
        teach(&policy, &topology, slow);
        let mut firsts = [0; 2];
        for _ in 0..60 {
            let nodes = plan(&policy, call);
            if slow.is_empty() {
                assert_eq!(sorted(&nodes[..2]), [1, 4], "{what}: {nodes:?}");
                assert_eq!(sorted(&nodes[2..4]), [0, 3], "{what}: {nodes:?}");
                firsts[usize::from(nodes[0] == 4)] += 1;
            } else {
                // A slow one in the rack comes behind those in others.
                assert_eq!(nodes[0], 4, "{what}: {nodes:?}");
                assert_eq!(sorted(&nodes[1..3]), [0, 3], "{what}: {nodes:?}");
                assert_eq!(nodes[3], 1, "{what}: {nodes:?}");
            }
            assert_eq!(sorted(&nodes[..4]), [0, 1, 3, 4], "{what}: {nodes:?}");
        }
        firsts
    };
    for order in ORDERS {
        for slow in [&[][..], &[1]] {
            let inner = latency_aware(Mode::Guarded, TokenAware::new(child()).order(order));
            let firsts = check(&inner, slow, &format!("inside, {order:?}"));
            if slow.is_empty() && order != ReplicaOrder::Topological {
                assert!(
                    firsts.iter().all(|&count| count > 10),
                    "{order:?}: {firsts:?}"
                );
            }
            let outer = TokenAware::new(latency_aware(Mode::Guarded, child())).order(order);
            check(&outer, slow, &format!("outside, {order:?}"));
        }
    }
}

/// Nodes 0 to 2 are in `a`, which is preferred, if it is up; 3 to 5 in `b`, of which 4 was slow.
fn after_a_failover(order: ReplicaOrder, is_up: bool, replicas: &[usize]) -> (u32, u32, u64) {
    let mut topology = Topology::new();
    for index in if is_up { 0..6 } else { 3..6 } {
        let datacenter = if index < 3 { "a" } else { "b" };
        topology.insert(node(index), Locality::datacenter(datacenter));
    }
    let child = DatacenterAware::new("a").remote_nodes(3);
    let policy = TokenAware::new(latency_aware(Mode::Guarded, child)).order(order);
    teach(&policy, &topology, &[4]);
    let replicas: Vec<_> = replicas.iter().copied().map(node).collect();
    let (mut probes, mut requests) = (0, 0);
    for step in 0..30_000 {
        let at = Timestamp::from_nanos(1_000_000_000 + step * 1_000_000);
        let mut plan = policy.plan(Call::new(&topology).replicas(&replicas));
        let first = plan.advance(at, Turn::Next).unwrap();
        probes += u32::from(first.standing == Standing::Probe);
        requests += u32::from(first.node == node(4));
        let answered = at + millis(1);
        policy.record(&Attempt::new(
            first.node,
            answered,
            millis(1),
            Outcome::Success,
        ));
        if step % 100 == 0 {
            policy.tick(at);
        }
    }
    (probes, requests, policy.child().counters().probes)
}

#[test]
fn a_probe_that_is_given_out_goes_to_another_datacenter_too() {
    for order in ORDERS {
        for replicas in [&[][..], &[0, 4, 3]] {
            let (probes, requests, counted) = after_a_failover(order, false, replicas);
            let what = format!("{order:?}, {replicas:?}: {probes}, {requests}");
            assert!(probes == 3 && counted == 3, "{what}, {counted}");
            assert!(requests > 5_000, "{what}");
        }
        let (probes, requests, counted) = after_a_failover(order, true, &[4, 0, 1]);
        assert_eq!((probes, requests, counted), (0, 0, 0), "{order:?}");
    }
}

/// A share that rises is drawn for once, in the preferred rack or not.
#[test]
fn a_ramp_is_the_same_in_every_rack() {
    let mut topology = Topology::new();
    for index in 0..4 {
        let rack = if index < 3 { "y" } else { "x" };
        topology.insert(node(index), Locality::datacenter("a").rack(rack));
    }
    let replicas = [0, 1, 2].map(node);
    let call = Call::new(&topology).replicas(&replicas);
    for rack in [None, Some("x"), Some("y")] {
        let child = DatacenterAware::new("a");
        let child = match rack {
            Some(rack) => child.rack(rack),
            None => child,
        };
        let policy = TokenAware::new(latency_aware(Mode::Guarded, child));
        teach(&policy, &topology, &[2]);
        let mut at = Timestamp::from_nanos(3_000_000_000);
        for _ in 0..3 {
            let is_probe = || {
                let first = policy.plan(call).advance(at, Turn::Next).unwrap();
                (first.node, first.standing) == (node(2), Standing::Probe)
            };
            assert!((0..200).any(|_| is_probe()), "{rack:?}");
            at = at + millis(2);
            policy.record(&Attempt::new(node(2), at, millis(2), Outcome::Success));
        }
        let half = at + millis(500);
        let is_first = |_: &u32| policy.plan(call).next(half) == Some(node(2));
        let count = (0..6_000).filter(is_first).count();
        // A half of a third.
        assert!((850..1_150).contains(&count), "{rack:?}: {count}");
    }
}

/// The reference puts it behind everything, remote nodes too, if it has the last word.
#[test]
fn in_reference_mode_a_slow_replica_is_last_of_all() {
    let topology = topology();
    let replicas = [1, 4].map(node);
    let call = Call::new(&topology).replicas(&replicas);
    let tokens = TokenAware::new(DatacenterAware::new("a").remote_nodes(3));
    let policy = latency_aware(Mode::Reference, tokens);
    teach(&policy, &topology, &[4]);
    let nodes = plan(&policy, call);
    assert_eq!((nodes[0], nodes[8]), (1, 4));

    let datacenters = latency_aware(Mode::Reference, DatacenterAware::new("a").remote_nodes(3));
    let policy = TokenAware::new(datacenters);
    teach(&policy, &topology, &[4]);
    assert_eq!(plan(&policy, call)[..2], [1, 4]);
}

#[test]
fn the_orders_of_replicas_are_what_they_say() {
    let topology = topology();
    let replicas = [5, 3, 0].map(node);
    let call = Call::new(&topology).replicas(&replicas);
    let child = || DatacenterAware::new("a");

    let topological = TokenAware::new(child()).order(ReplicaOrder::Topological);
    let neutral = TokenAware::new(child()).order(ReplicaOrder::Neutral);
    let random = TokenAware::new(child()).order(ReplicaOrder::Random);
    let mut first = [0; 6];
    for turn in 0..600 {
        assert_eq!(plan(&topological, call)[..3], [5, 3, 0]);
        let mut expected = vec![0, 3, 5];
        expected.rotate_left([0, 1, 1, 1, 2, 2][turn % 6]);
        assert_eq!(plan(&neutral, call)[..3], expected);
        first[plan(&random, call)[0]] += 1;
    }
    assert_eq!(first[1] + first[2] + first[4], 0);
    assert!(
        first.iter().filter(|&&count| count > 150).count() == 3,
        "{first:?}"
    );
}

#[test]
fn replicas_that_are_unknown_down_or_remote_have_no_precedence() {
    let mut topology = topology();
    topology.remove(node(2));
    for order in ORDERS {
        let policy = TokenAware::new(DatacenterAware::new("a")).order(order);
        let call = Call::new(&topology);
        assert_eq!(sorted(&plan(&policy, call)), [0, 1, 3, 4, 5], "{order:?}");
        let replicas = [7, 2, 4].map(node);
        let nodes = plan(&policy, call.replicas(&replicas));
        assert_eq!(nodes[0], 4, "{order:?}");
        assert_eq!(sorted(&nodes), [0, 1, 3, 4, 5], "{order:?}");
    }
}

#[test]
fn a_penalised_node_is_probed_as_first_attempt_at_a_key_it_holds() {
    let topology = topology();
    let (slow, fast) = ([4, 1].map(node), [1, 2].map(node));
    let after = Timestamp::from_nanos(12_000_000_000);
    for order in ORDERS {
        let datacenters = latency_aware(Mode::Guarded, DatacenterAware::new("a"));
        let policy = TokenAware::new(datacenters).order(order).seed(5);
        teach(&policy, &topology, &[4]);
        let latencies = policy.child();
        // Keys that live elsewhere, explanations and second attempts are no probes.
        for _ in 0..12 {
            let mut plan = policy.plan(Call::new(&topology).replicas(&fast));
            while plan.next(after).is_some() {}
            let mut plan = policy.plan(Call::new(&topology).replicas(&slow));
            plan.explain(after);
            while plan.advance(after, Turn::Later).is_some() {}
            let mut plan = policy.plan(Call::new(&topology).replicas(&slow).continued());
            while plan.next(after).is_some() {}
        }
        assert_eq!(latencies.counters().probes, 0, "{order:?}");
        let mut first = 0;
        for _ in 0..12 {
            let mut plan = policy.plan(Call::new(&topology).replicas(&slow));
            first += u32::from(plan.next(after) == Some(node(4)));
            while plan.next(after).is_some() {}
        }
        assert_eq!((first, latencies.counters().probes), (1, 1), "{order:?}");
    }
}

/// Every chain of a base and up to three wrappers, by their letters.
fn chain(letters: &str, order: ReplicaOrder, mode: Mode) -> Arc<dyn DynPolicy> {
    letters.chars().rev().fold(
        Arc::new(RoundRobin::new()) as Arc<dyn DynPolicy>,
        |child, letter| match letter {
            'r' => Arc::new(RoundRobin::new()),
            'd' => Arc::new(DatacenterAware::new("a").rack("y").remote_nodes(2)),
            'p' => Arc::new(Replicas::shuffled(1)),
            't' => Arc::new(TokenAware::new(child).order(order)),
            _ => Arc::new(latency_aware(mode, child)),
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever the chain and whoever is slow: a plan has each node once, the nodes that the
    /// policy names when asked about each, and in the default mode they come tier by tier.
    #[test]
    fn a_plan_is_complete_and_has_no_node_twice(
        letters in "[lt]{0,3}[rdp]",
        order in prop::sample::select(ORDERS.to_vec()),
        mode in prop::sample::select(BOTH.to_vec()),
        slow in prop::collection::vec(0_usize..9, 0..4),
        replicas in prop::collection::hash_set(0_usize..9, 0..5),
    ) {
        let topology = topology();
        let replicas: Vec<_> = replicas.into_iter().map(node).collect();
        let call = Call::new(&topology).replicas(&replicas);
        let policy = chain(&letters, order, mode);
        teach(&policy, &topology, &slow);
        for _ in 0..3 {
            let mut plan = policy.plan(call);
            let explained = plan.explain(now());
            let candidates: Vec<_> =
                std::iter::from_fn(|| plan.advance(now(), Turn::Next)).collect();
            let nodes: Vec<_> = candidates.iter().map(|candidate| candidate.node).collect();
            let mut unique = nodes.clone();
            unique.sort_unstable();
            unique.dedup();
            prop_assert_eq!(unique.len(), nodes.len());
            let named = |&&node: &&NodeIndex| {
                policy.appraise(&call, node, now(), Turn::Rehearsal).is_some()
            };
            let expected: Vec<_> = topology.nodes().iter().filter(named).copied().collect();
            prop_assert_eq!(unique, expected);
            let told: Vec<_> = explained.nodes.iter().map(|node| node.candidate).collect();
            prop_assert_eq!(&told, &candidates);
            if mode == Mode::Guarded {
                let tiers: Vec<_> = candidates.iter().map(|candidate| candidate.tier).collect();
                prop_assert!(tiers.is_sorted(), "{:?}", tiers);
            }
        }
    }
}

#[test]
fn a_typed_chain_and_its_trait_object_plan_alike() {
    let topology = topology();
    let replicas = [1, 4, 8].map(node);
    let call = Call::new(&topology).replicas(&replicas);
    let typed = latency_aware(
        Mode::Guarded,
        TokenAware::new(DatacenterAware::new("a").rack("y").remote_nodes(2)),
    );
    let dynamic = chain("ltd", ReplicaOrder::Random, Mode::Guarded);
    teach(&typed, &topology, &[1]);
    teach(&dynamic, &topology, &[1]);
    assert_eq!(typed.tick_every(), dynamic.tick_every());
    assert_eq!(typed.report(node(1), now()), dynamic.report(node(1), now()));
    for _ in 0..20 {
        let nodes = plan(&typed, call);
        assert_eq!(nodes, plan(&dynamic, call));
        assert_eq!(nodes[..2], [4, 1]);
        assert_eq!(typed.first(call, now()), dynamic.first(call, now()));
    }
}

#[test]
fn a_clone_of_a_plan_goes_on_by_itself() {
    let topology = topology();
    let policy = chain("tltd", ReplicaOrder::Neutral, Mode::Guarded);
    teach(&policy, &topology, &[3]);
    let replicas = [3, 1].map(node);
    let mut one = policy.plan(Call::new(&topology).replicas(&replicas));
    assert_eq!(one.next(now()), Some(node(1)));
    let mut other = one.clone();
    let rest = |plan: &mut dyn FnMut() -> Option<NodeIndex>| std::iter::from_fn(plan).count();
    assert_eq!(rest(&mut || one.next(now())), 7);
    assert_eq!(rest(&mut || other.next(now())), 7);
}

#[test]
fn tiers_come_nearest_first() {
    assert!(Tier::Replica < Tier::Local && Tier::Local < Tier::Remote);
}
