use super::*;
use crate::Locality;

const NOW: Timestamp = Timestamp::from_nanos(0);

fn node(index: usize) -> NodeIndex {
    NodeIndex::try_from(index).unwrap()
}

/// Nodes 0 to 3 in `a`, racks r0 and r1 in turn, 4 to 6 in `b`, 7 in `c`.
fn topology() -> Topology {
    let mut topology = Topology::new();
    for index in 0..8 {
        let datacenter = ["a", "a", "a", "a", "b", "b", "b", "c"][index];
        let locality = Locality::datacenter(datacenter).rack(["r0", "r1"][index % 2]);
        topology.insert(node(index), locality);
    }
    topology
}

fn indices(policy: &DatacenterAware, call: Call<'_>) -> Vec<usize> {
    let mut plan = policy.plan(call);
    let nodes: Vec<_> = std::iter::from_fn(|| plan.next(NOW)).collect();
    assert_eq!(plan.next(NOW), None, "the end stays");
    for &node in &nodes {
        assert!(policy.appraise(&call, node, NOW, Turn::Rehearsal).is_some());
    }
    for &node in call.topology().nodes() {
        let known = policy.appraise(&call, node, NOW, Turn::Rehearsal).is_some();
        assert_eq!(known, nodes.contains(&node), "{node:?}");
    }
    nodes.into_iter().map(NodeIndex::get).collect()
}

#[test]
fn remote_nodes_follow_as_far_as_permitted() {
    let topology = topology();
    let call = Call::new(&topology);
    let local = call.consistency(Consistency::LocalQuorum);
    let policy = DatacenterAware::new("a").starting_at(1);
    assert_eq!(indices(&policy, call), [1, 2, 3, 0]);
    let policy = policy.remote_nodes(2);
    assert_eq!(indices(&policy, call), [2, 3, 0, 1, 4, 5, 7]);
    assert_eq!(indices(&policy, local), [3, 0, 1, 2]);
    let policy = policy
        .allow_remote_at(Consistency::LocalQuorum)
        .deny_remote_at(Consistency::One);
    assert_eq!(indices(&policy, local), [0, 1, 2, 3, 4, 5, 7]);
    assert_eq!(indices(&policy, call), [1, 2, 3, 0]);
}

#[test]
fn a_rack_comes_first_and_an_unknown_one_is_none() {
    let topology = topology();
    let call = Call::new(&topology);
    let policy = DatacenterAware::new("a").rack("r1").remote_nodes(1);
    assert_eq!(indices(&policy, call), [1, 3, 0, 2, 4, 7]);
    assert_eq!(indices(&policy, call), [3, 1, 2, 0, 4, 7]);
    let policy = DatacenterAware::new("a").rack("r9");
    assert_eq!(indices(&policy, call), [0, 1, 2, 3]);
}

#[test]
fn an_unknown_datacenter_has_remote_ones_only() {
    let topology = topology();
    let call = Call::new(&topology);
    assert!(indices(&DatacenterAware::new("z"), call).is_empty());
    let policy = DatacenterAware::new("z").remote_nodes(1);
    assert_eq!(indices(&policy, call), [0, 4, 7]);
}

#[test]
fn an_open_plan_keeps_its_datacenter_and_finds_remote_nodes_of_now() {
    let before = topology();
    let policy = DatacenterAware::new("a").remote_nodes(9);
    let mut plan = policy.plan(Call::new(&before));
    assert_eq!(plan.next(NOW), Some(node(0)));
    let mut after = before.clone();
    after.remove(node(3));
    after.remove(node(5));
    before.succeed(Arc::new(after));
    let rest: Vec<_> = std::iter::from_fn(|| plan.next(NOW))
        .map(NodeIndex::get)
        .collect();
    assert_eq!(rest, [1, 2, 3, 4, 6, 7]);
}
