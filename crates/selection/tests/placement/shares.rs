//! How many keys nodes get. Names and keys are fixed, so the figures are the same in every run;
//! the bounds are what random choice would hold with near certainty.

use std::collections::HashMap;

use steersman_selection::{Member, Placement, Scheme};

use crate::owner;

const KEYS: u32 = 40_000;

const NATIVE: [Scheme; 2] = [
    Scheme::Rendezvous { slot_bits: 18 },
    Scheme::RendezvousExact,
];

fn keys() -> impl Iterator<Item = Vec<u8>> {
    (0..KEYS).map(|i| format!("user:{i}").into_bytes())
}

fn member(number: u32) -> Member {
    Member::new(format!("cache-{number}.example:11211"))
}

/// Asserts that of `total` draws with probability `share`, `count` is within five standard
/// deviations of what is to be expected.
fn assert_share(count: u32, total: u32, share: f64, what: &str) {
    let total = f64::from(total);
    let deviation = (total * share * (1.0 - share)).sqrt();
    let distance = (f64::from(count) - total * share).abs();
    assert!(
        distance < 5.0 * deviation,
        "{what}: {count} of {total}, not {share}"
    );
}

#[test]
fn equal_nodes_get_equal_shares() {
    for scheme in NATIVE {
        for nodes in [2_u32, 10, 50] {
            let placement = Placement::new(scheme, (0..nodes).map(member)).unwrap();
            let mut counts = HashMap::new();
            for key in keys() {
                *counts.entry(owner(&placement, &key)).or_insert(0) += 1;
            }
            assert_eq!(counts.len(), nodes as usize);
            for count in counts.into_values() {
                assert_share(count, KEYS, 1.0 / f64::from(nodes), scheme.name());
            }
        }
    }
}

#[test]
fn shares_are_in_proportion_to_weights() {
    for scheme in NATIVE {
        let weights = [1, 2, 3, 10];
        let members = (0..)
            .zip(weights)
            .map(|(number, weight)| member(number).weighted(weight));
        let placement = Placement::new(scheme, members).unwrap();
        let mut counts = [0; 4];
        for key in keys() {
            counts[placement.owner(&key).unwrap().get()] += 1;
        }
        for (count, weight) in counts.into_iter().zip(weights) {
            assert_share(count, KEYS, f64::from(weight) / 16.0, scheme.name());
        }
    }
}

#[test]
fn a_new_node_takes_its_share_and_no_more() {
    for scheme in NATIVE {
        let before = Placement::new(scheme, (0..9).map(member)).unwrap();
        let mut after = before.clone();
        let new = after.insert(member(9)).unwrap();
        let mut taken_from = [0; 9];
        for key in keys() {
            let (was, is) = (before.owner(&key).unwrap(), after.owner(&key).unwrap());
            if is == new {
                taken_from[was.get()] += 1;
            } else {
                assert_eq!(is, was);
            }
        }
        assert_share(taken_from.iter().sum(), KEYS, 0.1, scheme.name());
        for count in taken_from {
            assert_share(count, KEYS, 0.1 / 9.0, scheme.name());
        }
    }
}

/// More weight moves keys only to the node that gained it.
#[test]
fn weight_gained_only_takes_keys() {
    for scheme in NATIVE {
        let place = |weight| {
            let members = (0..5).map(member).chain([member(5).weighted(weight)]);
            Placement::new(scheme, members).unwrap()
        };
        let (before, after) = (place(1), place(5));
        let mut moved = 0;
        for key in keys() {
            let (was, is) = (owner(&before, &key), owner(&after, &key));
            if was != is {
                assert_eq!(is, Some(member(5).name()));
                moved += 1;
            }
        }
        assert_share(moved, KEYS, 5.0 / 10.0 - 1.0 / 6.0, scheme.name());
    }
}

/// The keys of a node that is gone are shared out among all the others.
#[test]
fn the_second_replica_is_spread_evenly() {
    for scheme in NATIVE {
        let mut placement = Placement::new(scheme, (0..6).map(member)).unwrap();
        let gone = placement.find(member(0).name()).unwrap();
        let orphans: Vec<_> = keys()
            .filter(|key| placement.owner(key) == Some(gone))
            .collect();
        placement.deactivate(gone);
        let mut counts = [0; 6];
        for key in &orphans {
            counts[placement.owner(key).unwrap().get()] += 1;
        }
        assert_eq!(counts[gone.get()], 0);
        let total = u32::try_from(orphans.len()).unwrap();
        for count in &counts[1..] {
            assert_share(*count, total, 0.2, scheme.name());
        }
    }
}
