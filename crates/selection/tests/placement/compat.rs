//! The placements of other clients against what those clients answered.

use serde_json::Value;
use steersman_selection::{Member, NodeIndex, Placement, Scheme};

fn file() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/compat.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn number(value: &Value) -> Option<usize> {
    usize::try_from(value.as_u64()?).ok()
}

fn strings(value: &Value) -> Vec<&str> {
    let strings = value.as_array().unwrap().iter();
    strings.map(|string| string.as_str().unwrap()).collect()
}

/// A member written `NAME[*WEIGHT]`.
fn member(text: &str) -> Member {
    match text.split_once('*') {
        Some((name, weight)) => Member::new(name).weighted(weight.parse().unwrap()),
        None => Member::new(text),
    }
}

fn members(vector: &Value) -> Vec<Member> {
    match vector["pool"].as_u64() {
        Some(pool) => (0..pool).map(|i| member(&format!("h{i}"))).collect(),
        None => strings(&vector["nodes"]).into_iter().map(member).collect(),
    }
}

#[test]
fn every_vector_is_answered_as_its_client_did() {
    let file = file();
    let keys = strings(&file["keys"]);
    let mut answered = 0;
    for vector in file["vectors"].as_array().unwrap() {
        let scheme: Scheme = vector["placement"].as_str().unwrap().parse().unwrap();
        if number(&vector["pool"]).is_some_and(|pool| pool > Placement::MAX_NODES) {
            continue;
        }
        let placement = Placement::new(scheme, members(vector)).unwrap();
        let owners = vector["owners"].as_array().unwrap();
        assert_eq!(owners.len(), keys.len());
        for (key, owner) in keys.iter().zip(owners) {
            let found = placement.owner(key.as_bytes()).map(NodeIndex::get);
            assert_eq!(found, number(owner), "{scheme} {key:?} {}", vector["nodes"]);
        }
        answered += 1;
    }
    // Two lists are longer than a placement's; Ch3's own test has them.
    assert_eq!(answered, 141);
}
