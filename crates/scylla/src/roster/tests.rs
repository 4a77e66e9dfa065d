use super::*;

const NOW: Timestamp = Timestamp::from_nanos(0);

fn host(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

fn seen(number: u128) -> Sighting {
    Sighting {
        host_id: host(number),
        locality: Locality::datacenter("a").rack("r"),
        is_enabled: true,
        is_connected: true,
    }
}

fn down(number: u128) -> Sighting {
    Sighting {
        is_connected: false,
        ..seen(number)
    }
}

fn live(roster: &Roster) -> Vec<u128> {
    let hosts = roster.live().nodes().iter();
    let mut hosts: Vec<_> = hosts
        .map(|&node| roster.member(node).unwrap().host_id.as_u128())
        .collect();
    hosts.sort_unstable();
    hosts
}

#[test]
fn nodes_keep_their_index_and_ledger_wherever_they_are_listed() {
    let first = Roster::default().succeed(&[seen(1), seen(2), seen(3)], NOW);
    let second = first.succeed(&[seen(3), seen(1), seen(2)], NOW);
    assert!(second.has_same_live(&first));
    for (position, number) in [3, 1, 2].into_iter().enumerate() {
        let index = first.index(host(number)).unwrap();
        assert_eq!(second.index(host(number)), Some(index));
        let (before, after) = (first.member(index).unwrap(), second.member(index).unwrap());
        assert!(Arc::ptr_eq(&before.ledger, &after.ledger));
        assert_eq!((after.host_id, after.position), (host(number), position));
    }
    assert_eq!(second.index(host(9)), None);
}

#[test]
fn nodes_that_left_are_forgotten_and_their_indices_reused_for_others() {
    let first = Roster::default().succeed(&[seen(1), seen(2)], NOW);
    let index = first.index(host(1)).unwrap();
    let incarnations = |roster: &Roster| roster.live().locality(index).is_some();
    let second = first.succeed(&[seen(2)], NOW);
    assert_eq!(
        (second.index(host(1)), second.member(index).is_none()),
        (None, true)
    );
    assert!(!incarnations(&second));
    assert_eq!(live(&second), [2]);
    let third = second.succeed(&[seen(2), seen(3)], NOW);
    assert_eq!(third.index(host(3)), Some(index));
    assert_eq!(live(&third), [2, 3]);
    // Open plans find their way to the nodes of now.
    assert_eq!(first.live().latest().nodes().len(), 2);
    assert!(first.live().latest().contains(index));
}

/// A node that takes the place of another one at once is a node of its own for the policies.
#[test]
fn a_replaced_node_leaves_before_the_new_one_comes() {
    let first = Roster::default().succeed(&[seen(1), seen(2)], NOW);
    let second = first.succeed(&[seen(3), seen(2)], NOW);
    assert_eq!(second.index(host(3)), first.index(host(1)));
    assert!(!second.has_same_live(&first));
    assert_eq!(live(&second), [2, 3]);
    // It came last, so the list shows that it is not the same one.
    assert_eq!(second.live().nodes().last(), second.index(host(3)).as_ref());
}

#[test]
fn nodes_that_are_down_are_a_last_resort_and_filtered_ones_are_none() {
    let filtered = Sighting {
        is_enabled: false,
        ..seen(3)
    };
    let roster = Roster::default().succeed(&[seen(1), down(2), filtered], NOW);
    assert_eq!(live(&roster), [1]);
    let enabled = |number| {
        roster
            .enabled()
            .contains(roster.index(host(number)).unwrap())
    };
    assert!(enabled(1) && enabled(2) && !enabled(3));
    let later = roster.succeed(&[seen(1), seen(2)], NOW);
    assert_eq!(live(&later), [1, 2]);
    let ledger = |roster: &Roster| {
        Arc::clone(
            &roster
                .member(roster.index(host(2)).unwrap())
                .unwrap()
                .ledger,
        )
    };
    assert!(Arc::ptr_eq(&ledger(&roster), &ledger(&later)));
}

#[test]
fn a_node_that_moves_is_listed_where_it_is() {
    let first = Roster::default().succeed(&[seen(1), seen(2)], NOW);
    let moved = Sighting {
        locality: Locality::datacenter("b"),
        ..seen(1)
    };
    let second = first.succeed(&[moved, seen(2)], NOW);
    let index = second.index(host(1)).unwrap();
    assert_eq!(second.live().datacenter("b").unwrap().nodes(), [index]);
}
