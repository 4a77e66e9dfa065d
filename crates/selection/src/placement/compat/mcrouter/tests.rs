//! Ch3 on lists that are longer than a placement's.

use serde_json::Value;

use super::furc;

#[test]
fn places_in_lists_of_any_length() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/compat.json");
    let file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let number = |value: &Value| usize::try_from(value.as_u64().unwrap()).unwrap();
    let keys = file["keys"].as_array().unwrap();
    let mut lengths = Vec::new();
    for vector in file["vectors"].as_array().unwrap() {
        if vector["placement"] != "mcrouter-ch3" {
            continue;
        }
        let length = number(&vector["pool"]);
        for (key, place) in keys.iter().zip(vector["owners"].as_array().unwrap()) {
            let found = furc(key.as_str().unwrap().as_bytes(), length);
            assert_eq!(found, number(place), "{key} {length}");
        }
        lengths.push(length);
    }
    assert_eq!(lengths, [2, 3, 5, 8, 10, 16, 100, 1_000, 100_000, 1 << 23]);
}

#[test]
fn a_longer_list_moves_keys_to_its_end_alone() {
    for number in 0..2_000_u32 {
        let key = number.to_le_bytes();
        let mut place = furc(&key, 1);
        assert_eq!(place, 0);
        for length in 2..40 {
            let next = furc(&key, length);
            assert!(next == place || next == length - 1);
            place = next;
        }
    }
}
