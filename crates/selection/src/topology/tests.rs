use super::*;

fn node(index: usize) -> NodeIndex {
    NodeIndex::try_from(index).unwrap()
}

#[test]
fn lists_keep_the_order_of_insertion() {
    let mut topology = Topology::with_datacenters(["b", "a"]);
    topology.insert(node(2), Locality::datacenter("a").rack("r1"));
    topology.insert(node(0), Locality::datacenter("a").rack("r2"));
    topology.insert(node(1), Locality::datacenter("b"));
    topology.insert(node(5), Locality::datacenter("a").rack("r1"));
    let a = topology.datacenter("a").unwrap();
    assert_eq!(a.nodes(), [node(2), node(0), node(5)]);
    let rack = a.rack("r1").unwrap();
    assert_eq!(rack.nodes(), [node(2), node(5)]);
    assert_eq!(rack.others(), [node(0)]);
    assert_eq!(a.rack("r2").unwrap().others(), [node(2), node(5)]);
    assert!(a.rack("r9").is_none());
    let names: Vec<_> = topology
        .datacenters()
        .iter()
        .map(Datacenter::name)
        .collect();
    assert_eq!(names, ["b", "a"]);

    assert!(topology.remove(node(2)));
    assert!(!topology.remove(node(2)));
    assert!(!topology.remove(node(77)));
    topology.insert(node(2), Locality::datacenter("a").rack("r1"));
    let a = topology.datacenter("a").unwrap();
    assert_eq!(a.nodes(), [node(0), node(5), node(2)]);
    assert_eq!(a.rack("r1").unwrap().nodes(), [node(5), node(2)]);
    assert_eq!(a.rack("r2").unwrap().others(), [node(5), node(2)]);
}

#[test]
fn nodes_leave_at_once_as_they_do_one_by_one() {
    let mut at_once = Topology::new();
    for index in 0..60 {
        let datacenter = Locality::datacenter(["a", "b", "c"][index % 3]);
        at_once.insert(node(index), datacenter.rack(["r1", "r2"][index / 3 % 2]));
    }
    let mut in_turn = at_once.clone();
    // Of a whole rack, some of another datacenter, none of the third, one twice and one unknown.
    let gone = (0..60).filter(|index| index % 6 == 0 || index % 15 == 1);
    let gone: Vec<_> = gone.chain([6, 77]).map(node).collect();
    let left = gone.iter().filter(|node| in_turn.remove(**node)).count();
    assert_eq!(at_once.remove_all(&gone), left);
    assert_eq!(left, 14);
    assert_eq!(format!("{at_once:?}"), format!("{in_turn:?}"));
    assert_eq!(at_once.nodes().len(), 46);
    assert!(
        at_once
            .datacenter("a")
            .unwrap()
            .rack("r1")
            .unwrap()
            .nodes()
            .is_empty()
    );
    assert_eq!(at_once.remove_all(&gone), 0);
}

#[test]
fn a_node_that_is_in_stays_unless_it_moves() {
    let mut topology = Topology::new();
    topology.insert(node(0), Locality::datacenter("a"));
    topology.insert(node(1), Locality::datacenter("a"));
    topology.insert(node(0), Locality::datacenter("a"));
    assert_eq!(topology.nodes(), [node(0), node(1)]);
    assert_eq!(topology.incarnation(node(0)), 1);

    topology.insert(node(0), Locality::datacenter("b"));
    assert_eq!(topology.nodes(), [node(1), node(0)]);
    assert_eq!(topology.incarnation(node(0)), 2);
    assert_eq!(topology.datacenter_of(node(0)), Some(1));
    assert_eq!(topology.datacenter("a").unwrap().nodes(), [node(1)]);
    assert_eq!(topology.incarnation(node(9)), 0);
}

#[test]
fn a_topology_leads_to_its_latest_successor() {
    let first = Arc::new(Topology::new());
    let mut current = Arc::clone(&first);
    // Long enough that a recursive drop would overflow the stack.
    for _ in 0..100_000 {
        let next = Arc::new(Topology::clone(&current));
        current.succeed(Arc::clone(&next));
        current = next;
    }
    assert!(std::ptr::eq(first.latest(), &raw const *current));
    current.succeed(Arc::new(Topology::new()));
    assert!(!std::ptr::eq(first.latest(), &raw const *current));
    drop(current);
    drop(first);
}
