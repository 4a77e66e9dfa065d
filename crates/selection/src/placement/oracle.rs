//! The native placements' definition, written out once more for the tests: slow, plain, and without
//! the crate's own hash module.

use std::cmp::Reverse;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::{Member, NodeIndex};

/// Some members with their indices; their weights are 1, 2 and 3 in turn.
pub(super) fn members(count: usize) -> Vec<(NodeIndex, Member)> {
    let member = |i: usize| {
        let weight = u32::try_from(1 + i % 3).unwrap();
        Member::new(format!("cache-{i}:11211")).weighted(weight)
    };
    (0..count)
        .map(|i| (NodeIndex::try_from(i).unwrap(), member(i)))
        .collect()
}

/// All members by descending score.
pub(super) fn ranking(hash: u64, members: &[(NodeIndex, Member)]) -> Vec<NodeIndex> {
    let mut nodes: Vec<_> = members
        .iter()
        .map(|(index, member)| (score(hash, member), *index))
        .collect();
    nodes.sort_by_key(|(score, _)| Reverse(*score));
    nodes.into_iter().map(|(_, index)| index).collect()
}

pub(super) fn slot_hash(slot: u64) -> u64 {
    mix(slot ^ 0x9e37_79b9_7f4a_7c15)
}

fn score(hash: u64, member: &Member) -> u64 {
    (0..u64::from(member.weight()))
        .map(|i| u64::from_be_bytes(*b"Steersma") + i)
        .map(|seed| xxh3_64_with_seed(member.name().as_bytes(), seed))
        .map(|id| mix(hash ^ id))
        .max()
        .unwrap()
}

fn mix(x: u64) -> u64 {
    let y = x.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (y ^ (y >> 32)).wrapping_mul(0x94d0_49bb_1331_11eb)
}
