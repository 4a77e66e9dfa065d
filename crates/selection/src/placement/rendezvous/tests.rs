//! The exact scan against its definition, around the sizes of its blocks.

use super::{BLOCK, MAX_UNALLOCATED, Rendezvous};
use crate::placement::oracle::{members, ranking};
use crate::{Member, NodeIndex};

fn nodes(members: &[(NodeIndex, Member)]) -> Rendezvous {
    let mut nodes = Rendezvous::default();
    for (index, member) in members {
        nodes.insert(&[(*index, member)]);
    }
    nodes
}

fn assert_follows_definition(nodes: &Rendezvous, members: &[(NodeIndex, Member)]) {
    assert_eq!(nodes.len(), members.len());
    for step in 0..100_u64 {
        let hash = step.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let ranking = ranking(hash, members);
        assert_eq!(nodes.owner(hash), ranking.first().copied());
        for room in [0, 1, 2, 3, MAX_UNALLOCATED, MAX_UNALLOCATED + 1, 300] {
            let mut best = vec![NodeIndex::default(); room];
            let count = nodes.best(hash, &mut best);
            assert_eq!(count, room.min(members.len()));
            assert_eq!(best[..count], ranking[..count]);
        }
    }
}

#[test]
fn nodes_are_ranked_by_score() {
    let all = members(200);
    // 32 nodes have 63 ids, 64 have 127 and 96 have 192: one less than a block, and full blocks.
    assert_eq!(nodes(&all[..32]).virtual_ids.len(), BLOCK - 1);
    assert_eq!(nodes(&all[..96]).virtual_ids.len(), 3 * BLOCK);
    for count in [0, 1, 2, 3, 31, 32, 33, 63, 64, 65, 95, 96, 97, 200] {
        assert_follows_definition(&nodes(&all[..count]), &all[..count]);
    }
}

#[test]
fn removed_nodes_leave_no_trace() {
    let mut present = members(60);
    let mut nodes = nodes(&present);
    while !present.is_empty() {
        let (index, _) = present.swap_remove(present.len() * 3 / 7);
        nodes.remove(&[index]);
        nodes.remove(&[index]);
        if present.len().is_multiple_of(7) {
            assert_follows_definition(&nodes, &present);
        }
    }
}
