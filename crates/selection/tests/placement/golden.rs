//! The native placements against the vectors that pin them.
//!
//! If one of these fails, keys have moved: the change that did it must go, or be a scheme of its
//! own under a new name.

use serde_json::Value;
use steersman_selection::{Member, NodeIndex, Placement, Scheme};

fn cases() -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/rendezvous.json");
    let text = std::fs::read_to_string(path).unwrap();
    let mut file: Value = serde_json::from_str(&text).unwrap();
    let Value::Array(cases) = file["cases"].take() else {
        panic!("no cases")
    };
    assert_eq!(cases.len(), 16);
    cases
}

fn number(value: &Value) -> usize {
    value.as_u64().unwrap().try_into().unwrap()
}

fn bytes(digits: &Value) -> Vec<u8> {
    let digits = digits.as_str().unwrap();
    let bytes = (0..digits.len()).step_by(2);
    bytes
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap())
        .collect()
}

fn placement(case: &Value, replicas: usize) -> Placement {
    let mut scheme: Scheme = case["scheme"].as_str().unwrap().parse().unwrap();
    if !case["slot_bits"].is_null() {
        scheme = scheme
            .with_slot_bits(number(&case["slot_bits"]).try_into().unwrap())
            .unwrap();
    }
    let members = case["members"].as_array().unwrap().iter().map(|member| {
        let weight = number(&member[1]).try_into().unwrap();
        Member::new(member[0].as_str().unwrap()).weighted(weight)
    });
    Placement::with_replicas(scheme, replicas, members).unwrap()
}

#[test]
fn keys_stay_where_they_are() {
    for case in cases() {
        for depth in [1, 3] {
            let placement = placement(&case, depth);
            let keys = case["keys"].as_array().unwrap();
            assert_eq!(keys.len(), 27);
            for vector in keys {
                let key = bytes(&vector["key"]);
                let owner = placement.owner(&key).map(NodeIndex::get);
                assert_eq!(
                    owner,
                    Some(number(&vector["owner"])),
                    "{} {vector}",
                    case["scheme"]
                );
                let mut nodes = [NodeIndex::default(); 3];
                let count = placement.replicas(&key, &mut nodes);
                let expected = vector["replicas"].as_array().unwrap().iter().map(number);
                assert!(
                    nodes[..count].iter().map(|node| node.get()).eq(expected),
                    "{vector}"
                );
            }
        }
    }
}
