//! The placements of other clients against those clients, asked for odd keys and odd lists of nodes.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use steersman_selection::{Member, NodeIndex, Placement, Scheme};

#[derive(Deserialize)]
struct File {
    /// In hexadecimal.
    keys: HashMap<String, Vec<String>>,
    clusters: HashMap<String, Vec<(String, u32)>>,
    vectors: Vec<Vector>,
}

#[derive(Deserialize)]
struct Vector {
    scheme: String,
    cluster: String,
    keys: String,
    owners: Vec<usize>,
}

fn bytes(digits: &str) -> Vec<u8> {
    let bytes = (0..digits.len()).step_by(2);
    bytes
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap())
        .collect()
}

#[test]
fn odd_keys_and_lists_are_placed_as_their_clients_did() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/peers.json");
    let file: File = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut misplaced = BTreeMap::new();
    for vector in &file.vectors {
        let scheme: Scheme = vector.scheme.parse().unwrap();
        let members = file.clusters[&vector.cluster].iter();
        let members = members.map(|(name, weight)| Member::new(&**name).weighted(*weight));
        let placement = Placement::new(scheme, members)
            .unwrap_or_else(|error| panic!("{} {}: {error}", vector.scheme, vector.cluster));
        let keys = &file.keys[&vector.keys];
        assert_eq!(keys.len(), vector.owners.len());
        let wrong = keys.iter().zip(&vector.owners).filter(|(key, owner)| {
            placement.owner(&bytes(key)).map(NodeIndex::get) != Some(**owner)
        });
        let wrong: Vec<_> = wrong.map(|(key, _)| key).collect();
        if !wrong.is_empty() {
            misplaced.insert((&vector.scheme, &vector.cluster, &vector.keys), wrong);
        }
    }
    assert!(misplaced.is_empty(), "{misplaced:#?}");
    assert_eq!(file.vectors.len(), 399);
}
