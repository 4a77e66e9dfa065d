//! The edges: empty and full placements, odd names and keys, and what is refused.

use steersman_selection::{Error, ErrorKind, Member, NodeIndex, Placement, Scheme};

use crate::{owner, replicas};

fn schemes() -> impl Iterator<Item = Scheme> {
    Scheme::NAMES
        .iter()
        .map(|name| name.parse().expect("a scheme's name"))
}

/// The schemes that take any host name. spymemcached hashes its address too.
fn schemes_of_hosts() -> impl Iterator<Item = Scheme> {
    schemes().filter(|scheme| scheme.name() != "spymemcached-ketama")
}

/// The error of an insert, which must leave the placement as it was.
fn refused(placement: &mut Placement, member: Member) -> Error {
    let before = format!("{placement:?}");
    let error = placement.insert(member).unwrap_err();
    assert_eq!(format!("{placement:?}"), before);
    error
}

#[test]
fn nobody_owns_the_keys_of_an_empty_placement() {
    for scheme in schemes() {
        let mut placement = Placement::with_replicas(scheme, 3, []).unwrap();
        placement.fill();
        assert!(placement.is_empty());
        assert_eq!(placement.owner(b"key"), None);
        assert_eq!(replicas(&placement, b"key", 3), [""; 0]);
        let nobody = NodeIndex::default();
        assert_eq!(placement.member(nobody), None);
        assert!(!placement.remove(nobody));
        assert!(!placement.deactivate(nobody));
        assert!(!placement.activate(nobody));
    }
}

#[test]
fn one_node_owns_everything_while_it_is_active() {
    for scheme in schemes() {
        let mut placement = Placement::new(scheme, [Member::new("10.0.0.1:11211")]).unwrap();
        let only = NodeIndex::default();
        let huge = vec![b'x'; 1 << 20];
        for key in [&b""[..], b"key", &[0; 17], &[0xff; 250], &huge] {
            assert_eq!(placement.owner(key), Some(only));
            assert_eq!(replicas(&placement, key, 4), ["10.0.0.1:11211"]);
            assert_eq!(placement.replicas(key, &mut []), 0);
        }
        assert!(placement.deactivate(only));
        assert!(!placement.deactivate(only));
        assert_eq!((placement.len(), placement.active_len()), (1, 0));
        assert_eq!(placement.owner(b"key"), None);
        assert!(placement.activate(only));
        assert!(!placement.activate(only));
        assert_eq!(placement.owner(b"key"), Some(only));
    }
}

#[test]
fn names_are_hashed_as_they_are() {
    let names = [
        "köln:11211",
        "ko\u{308}ln:11211",
        "東京:11211",
        "a",
        "A",
        " a",
        "a\0",
        "🦀",
    ];
    for scheme in [Scheme::default(), Scheme::RendezvousExact] {
        let placement = Placement::new(scheme, names.map(Member::new)).unwrap();
        for (number, name) in names.iter().enumerate() {
            assert_eq!(placement.find(name).map(NodeIndex::get), Some(number));
        }
        let mut owners: Vec<_> = (0..500_u32)
            .filter_map(|i| owner(&placement, &i.to_le_bytes()))
            .collect();
        owners.sort_unstable();
        owners.dedup();
        assert_eq!(owners.len(), names.len());
    }
}

#[test]
fn the_lowest_free_index_is_used_first() {
    let members = ["a", "b", "c", "d"].map(Member::new);
    let mut placement = Placement::new(Scheme::default(), members).unwrap();
    let index = |number: usize| NodeIndex::try_from(number).unwrap();
    assert!(placement.remove(index(2)) && placement.remove(index(0)));
    let mut insert = |name| placement.insert(Member::new(name)).unwrap().get();
    assert_eq!(["e", "f", "g"].map(&mut insert), [0, 2, 4]);
    let names: Vec<_> = placement
        .iter()
        .map(|(_, member, _)| member.name())
        .collect();
    assert_eq!(names, ["b", "d", "e", "f", "g"]);
}

#[test]
fn members_that_cannot_be_told_apart_are_refused() {
    for scheme in schemes() {
        let mut placement = Placement::new(scheme, [Member::new("10.0.0.1")]).unwrap();
        let error = refused(&mut placement, Member::new("10.0.0.1"));
        assert_eq!(error.kind(), ErrorKind::DuplicateName);
        assert!(error.to_string().contains("\"10.0.0.1\""), "{error}");
        // An inactive member keeps its name.
        placement.deactivate(NodeIndex::default());
        let error = refused(&mut placement, Member::new("10.0.0.1"));
        assert_eq!(error.kind(), ErrorKind::DuplicateName);
        // A removed one does not.
        placement.remove(NodeIndex::default());
        assert!(placement.insert(Member::new("10.0.0.1")).is_ok());
    }
}

/// The two names' first virtual ids are both cd5cfa8325a4e998.
#[test]
fn members_with_the_same_hash_are_refused() {
    let names = ["node-cdc0a62c07d3f8e9", "node-2575f048771ac00d"];
    for scheme in schemes_of_hosts() {
        for [first, second] in [names, [names[1], names[0]]] {
            let mut placement = Placement::new(scheme, [Member::new(first)]).unwrap();
            assert_eq!(placement.find(second), None);
            let error = refused(&mut placement, Member::new(second));
            assert_eq!(error.kind(), ErrorKind::DuplicateHash);
            assert!(error.to_string().contains(first), "{error}");
            assert!(error.to_string().contains(second), "{error}");
            placement.remove(NodeIndex::default());
            assert!(placement.insert(Member::new(second)).is_ok());
        }
    }
}

#[test]
fn names_without_meaning_are_refused() {
    for scheme in schemes() {
        let mut placement = Placement::new(scheme, []).unwrap();
        let error = refused(&mut placement, Member::new(""));
        assert_eq!(error.kind(), ErrorKind::InvalidName);
    }
    let mut placement = Placement::new(Scheme::Emcache, []).unwrap();
    let error = refused(&mut placement, Member::new("localhost:memcached"));
    assert_eq!(error.kind(), ErrorKind::InvalidName);
    assert_eq!(placement.insert(Member::new("localhost")).unwrap().get(), 0);
}

#[test]
fn weights_have_limits() {
    for scheme in [Scheme::default(), Scheme::RendezvousExact] {
        let mut placement = Placement::new(scheme, [Member::new("light")]).unwrap();
        let error = refused(&mut placement, Member::new("none").weighted(0));
        assert_eq!(error.kind(), ErrorKind::InvalidWeight);
        let rest = u32::try_from(Placement::MAX_TOTAL_WEIGHT).unwrap() - 1;
        for weight in [rest + 1, u32::MAX] {
            let error = refused(&mut placement, Member::new("heavy").weighted(weight));
            assert_eq!(error.kind(), ErrorKind::InvalidWeight);
            assert!(error.to_string().contains(&weight.to_string()), "{error}");
        }
    }
    for scheme in [Scheme::Emcache, Scheme::EmcacheAarch64] {
        let mut placement = Placement::new(scheme, []).unwrap();
        let error = refused(&mut placement, Member::new("localhost").weighted(2));
        assert_eq!(error.kind(), ErrorKind::InvalidWeight);
        assert!(error.to_string().contains(scheme.name()), "{error}");
    }
}

#[test]
fn parameters_have_ranges() {
    for slot_bits in [0, 7, 25, u8::MAX] {
        let error = Placement::new(Scheme::Rendezvous { slot_bits }, []).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidSlotBits);
    }
    for scheme in schemes() {
        for replicas in [0, Placement::MAX_REPLICAS + 1, usize::MAX] {
            let error = Placement::with_replicas(scheme, replicas, []).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidReplicas);
        }
    }
}

#[test]
fn a_placement_holds_65535_nodes() {
    let member = |i: usize| Member::new(format!("node-{i}"));
    let mut placement = Placement::new(Scheme::RendezvousExact, (0..65_535).map(member)).unwrap();
    assert_eq!(placement.len(), Placement::MAX_NODES);
    let error = placement.insert(member(65_535)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooManyNodes);
    let last = placement.find("node-65534").unwrap();
    assert_eq!(last.get(), 65_534);
    placement.remove(last);
    assert_eq!(placement.insert(member(65_535)).unwrap(), last);
}
