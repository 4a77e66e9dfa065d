//! Against vectors captured from emcache 1.3.3.

use serde_json::Value;

use super::{Fold, id};
use crate::hash::murmur3::{Murmur3, Word, words};
use crate::{Member, NodeIndex, Placement, Scheme};

fn vectors() -> Vec<Value> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/vectors/emcache_vectors.json"
    );
    let text = std::fs::read_to_string(path).unwrap();
    let mut file: Value = serde_json::from_str(&text).unwrap();
    let Value::Array(vectors) = file["vectors"].take() else {
        panic!("no vectors")
    };
    assert_eq!(vectors.len(), 810);
    vectors
}

fn strings(value: &Value) -> Vec<&str> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|string| string.as_str().unwrap())
        .collect()
}

fn numbers(value: &Value) -> Vec<u32> {
    let numbers = value.as_array().unwrap().iter();
    numbers
        .map(|number| number.as_u64().unwrap().try_into().unwrap())
        .collect()
}

fn key(vector: &Value) -> Vec<u8> {
    let digits = vector["key"].as_str().unwrap();
    let bytes = (0..digits.len()).step_by(2);
    bytes
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap())
        .collect()
}

fn placement(scheme: Scheme, vector: &Value) -> Placement {
    Placement::new(
        scheme,
        strings(&vector["nodes"]).into_iter().map(Member::new),
    )
    .unwrap()
}

#[test]
fn ids_hashes_and_scores() {
    for vector in vectors() {
        let ids: Vec<_> = strings(&vector["nodes"])
            .iter()
            .map(|name| id::of(name).unwrap())
            .collect();
        assert_eq!(ids, strings(&vector["node_ids"]));

        let ids: Vec<Vec<Word>> = ids
            .iter()
            .map(|id| words(id.as_bytes()).collect())
            .collect();
        let fold = Fold::SignedChar;
        let of_ids = ids.iter().map(|id| fold.score(&Murmur3::default(), id));
        assert_eq!(of_ids.collect::<Vec<_>>(), numbers(&vector["node_hashes"]));

        let mut state = Murmur3::default();
        state.update(words(&key(&vector)));
        let scores = ids.iter().map(|id| fold.score(&state, id));
        assert_eq!(scores.collect::<Vec<_>>(), numbers(&vector["scores"]));

        if !vector["murmur3_h1"].is_null() {
            for (id, expected) in ids.iter().zip(strings(&vector["murmur3_h1"])) {
                let mut state = state.clone();
                state.update(id.iter().copied());
                let expected = u64::from_str_radix(expected, 16).unwrap();
                assert_eq!(state.first_half(), expected);
            }
        }
    }
}

#[test]
fn owners() {
    for (scheme, chosen) in [
        (Scheme::Emcache, "chosen"),
        (Scheme::EmcacheAarch64, "chosen_aarch64_linux"),
    ] {
        for vector in vectors() {
            let expected = usize::try_from(vector[chosen].as_u64().unwrap()).unwrap();
            let owner = placement(scheme, &vector).owner(&key(&vector)).unwrap();
            assert_eq!(owner.get(), expected, "{scheme} {vector}");
        }
    }
}

/// The definition of the order, spelt out on the scores and hashes of the vectors.
#[test]
fn replicas_are_in_order_of_score_then_hash_then_list() {
    for vector in vectors() {
        let scores = numbers(&vector["scores"]);
        let hashes = numbers(&vector["node_hashes"]);
        let mut expected: Vec<_> = (0..scores.len()).collect();
        expected.sort_by(|a, b| {
            let by_score = scores[*b].cmp(&scores[*a]);
            by_score.then(hashes[*b].cmp(&hashes[*a])).then(a.cmp(b))
        });
        let mut replicas = vec![NodeIndex::default(); scores.len()];
        let count = placement(Scheme::Emcache, &vector).replicas(&key(&vector), &mut replicas);
        assert_eq!(count, scores.len());
        assert_eq!(
            replicas.iter().map(|node| node.get()).collect::<Vec<_>>(),
            expected
        );
    }
}
