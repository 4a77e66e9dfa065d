use steersman_selection::{DatacenterAware, LatencyAware, Locality, RoundRobin, TokenAware};
use uuid::Uuid;

use super::*;
use crate::replicas::Place;
use crate::roster::Sighting;

const NOW: Timestamp = Timestamp::from_nanos(0);

fn node(index: usize) -> NodeIndex {
    NodeIndex::try_from(index).unwrap()
}

/// Nodes 0 to 2 in `a`, 3 and 4 in `b`; `down` has no connection.
fn roster(down: Option<usize>) -> Roster {
    let sightings: Vec<_> = (0..5)
        .map(|index| Sighting {
            host_id: Uuid::from_u128(index as u128),
            locality: Locality::datacenter(if index < 3 { "a" } else { "b" }),
            is_enabled: true,
            is_connected: down != Some(index),
        })
        .collect();
    Roster::default().succeed(&sightings, NOW)
}

fn request(replicas: &[usize], is_lightweight_transaction: bool) -> Request<'static> {
    // Shards do not matter here.
    let replicas = replicas.iter().map(|&index| (node(index), 0));
    Request {
        replicas: Replicas::of_tablet(replicas),
        consistency: Consistency::One,
        is_lightweight_transaction,
    }
}

fn all<P: Policy>(policy: &P, roster: &Roster, request: &Request<'_>) -> Vec<usize> {
    let mut steps = Steps::default();
    let mut next = || steps.next(policy, roster, request, NOW);
    let nodes: Vec<_> = std::iter::from_fn(&mut next).collect();
    assert_eq!(next(), None, "the end stays");
    nodes.into_iter().map(NodeIndex::get).collect()
}

fn sorted(mut nodes: Vec<usize>) -> Vec<usize> {
    nodes.sort_unstable();
    nodes
}

#[test]
fn each_permitted_node_is_named_once_and_those_without_connections_last() {
    let policy = TokenAware::new(DatacenterAware::new("a"));
    for _ in 0..20 {
        let nodes = all(&policy, &roster(None), &request(&[2, 1], false));
        assert_eq!(nodes[2], 0);
        assert_eq!(sorted(nodes), [0, 1, 2]);
        let nodes = all(&policy, &roster(Some(2)), &request(&[2, 1], false));
        assert_eq!(nodes, [1, 0, 2]);
    }
    let policy = DatacenterAware::new("a").remote_nodes(1);
    let nodes = all(&policy, &roster(Some(3)), &request(&[], false));
    assert_eq!(sorted(nodes[..3].to_vec()), [0, 1, 2]);
    assert_eq!(nodes[3..], [4, 3]);
}

#[test]
fn transactions_keep_the_order_of_their_replicas() {
    let policy = LatencyAware::new(TokenAware::new(DatacenterAware::new("a").remote_nodes(2)));
    let roster = roster(Some(1));
    for _ in 0..20 {
        let transaction = || request(&[4, 2, 1, 0], true);
        assert_eq!(
            transaction().first(&policy, &roster, NOW, |_| true),
            Some(node(2))
        );
        let nodes = all(&policy, &roster, &transaction());
        assert_eq!(nodes, [2, 0, 4, 3, 1]);
    }
}

#[test]
fn the_first_node_is_one_that_can_be_asked() {
    let policy = RoundRobin::new();
    let roster = roster(None);
    let accepted = |node: NodeIndex| node.get() == 3;
    for replicas in [&[][..], &[1, 3]] {
        for transaction in [false, true] {
            let request = request(replicas, transaction);
            assert_eq!(
                request.first(&policy, &roster, NOW, accepted),
                Some(node(3))
            );
            assert_eq!(request.first(&policy, &roster, NOW, |_| false), None);
        }
    }
}

/// Were the second plan counted, four nodes in turn would get every other first attempt only.
#[test]
fn further_attempts_do_not_disturb_the_turns_of_first_ones() {
    let policy = DatacenterAware::new("b");
    let roster = roster(None);
    let mut counts = [0; 5];
    for _ in 0..100 {
        let request = request(&[], false);
        let first = request.first(&policy, &roster, NOW, |_| true).unwrap();
        counts[first.get()] += 1;
        all(&policy, &roster, &request);
    }
    assert_eq!(counts, [0, 0, 0, 50, 50]);
}

#[test]
fn only_replicas_keep_the_key() {
    let places = |replicas: &Replicas<'_>| [0, 1, 2].map(|index| replicas.place(node(index)));
    let nodes = [node(2), node(1)];
    let ring = Replicas::OfRing(&nodes);
    assert_eq!(
        places(&ring),
        [None, Some(Place::OfToken), Some(Place::OfToken)]
    );
    let tablet = Replicas::of_tablet([(node(2), 7), (node(1), 5)].into_iter());
    assert_eq!(
        places(&tablet),
        [None, Some(Place::In(5)), Some(Place::In(7))]
    );
}
