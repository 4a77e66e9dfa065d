//! The table against its definition, and under change.

use super::{MAX_REPLICAS, Slots};
use crate::placement::oracle::{members, ranking, slot_hash};
use crate::placement::rendezvous::Rendezvous;
use crate::{Member, NodeIndex};

fn table(bits: u8, replicas: usize, members: &[(NodeIndex, Member)]) -> Slots {
    let mut nodes = Rendezvous::default();
    for (index, member) in members {
        nodes.insert(&[(*index, member)]);
    }
    Slots::new(nodes, bits, replicas)
}

/// A hash of a key that falls into the slot.
fn key_in(slot: u64, bits: u8) -> u64 {
    slot << (64 - bits) | 0xabcd
}

fn assert_follows_definition(table: &Slots, members: &[(NodeIndex, Member)]) {
    for slot in 0..1 << table.bits {
        let key = key_in(slot, table.bits);
        let ranking = ranking(slot_hash(slot), members);
        assert_eq!(table.owner(key), ranking.first().copied(), "slot {slot}");
        for room in [table.replicas, members.len() + 1] {
            let mut best = vec![NodeIndex::default(); room];
            let count = table.best(key, &mut best);
            assert_eq!(count, room.min(members.len()));
            assert_eq!(best[..count], ranking[..count], "slot {slot}");
        }
    }
}

#[test]
fn every_slot_goes_to_its_best_nodes() {
    for (bits, replicas, count) in [
        (8, 1, 0),
        (8, 1, 1),
        (8, 2, 1),
        (9, 3, 5),
        (8, 16, 12),
        (12, 1, 90),
    ] {
        let members = members(count);
        let lazy = table(bits, replicas, &members);
        assert_follows_definition(&lazy, &members);
        let eager = table(bits, replicas, &members);
        eager.fill();
        assert_follows_definition(&eager, &members);
    }
}

#[test]
fn filling_leaves_no_entry_empty() {
    let members = members(2);
    for replicas in 1..=MAX_REPLICAS {
        let table = table(8, replicas, &members);
        table.fill();
        for entries in table.entries.chunks_exact(replicas) {
            let held = entries
                .iter()
                .filter(|entry| entry.load().is_some())
                .count();
            assert_eq!(held, replicas.min(members.len()));
        }
    }
}

/// A few nodes that come enter the slots that are known; those of nodes that go are forgotten, and no
/// others.
#[test]
fn changes_follow_the_definition_in_place() {
    for replicas in [1, 2, 3, 5] {
        let all = members(7);
        let mut present = Vec::new();
        let mut table = table(8, replicas, &[]);
        let known = |table: &Slots| {
            let depth = table.depth();
            let slots = table.entries.chunks_exact(replicas);
            slots
                .map(|entries| {
                    let held = entries[..depth]
                        .iter()
                        .filter(|entry| entry.load().is_some());
                    let held = held.count();
                    assert!(held == 0 || held == depth, "known in part");
                    assert!(entries[depth..].iter().all(|entry| entry.load().is_none()));
                    usize::from(held > 0)
                })
                .sum::<usize>()
        };
        for (index, member) in &all {
            table.insert(&[(*index, member)]);
            present.push((*index, member.clone()));
            assert_eq!(known(&table), if present.len() > 1 { 256 } else { 0 });
            table.fill();
            assert_follows_definition(&table, &present);
        }
        while !present.is_empty() {
            let (index, _) = present.remove(present.len() / 2);
            let mut held = [NodeIndex::default(); MAX_REPLICAS];
            let held = &mut held[..replicas];
            let without = (0..256).filter(|slot| {
                let count = table.best(key_in(*slot, 8), held);
                !held[..count].contains(&index)
            });
            let without = without.count();
            table.remove(&[index]);
            assert_eq!(known(&table), without);
            assert_follows_definition(&table, &present);
        }
    }
}

/// Any number at once is the same as one by one: a few in place, many by another table.
#[test]
fn many_changes_at_once_follow_the_definition() {
    let all = members(60);
    for replicas in [1, 3] {
        for (first, count) in [(0, 1), (0, 20), (1, 2), (2, 16), (2, 17), (20, 40), (59, 1)] {
            let mut table = table(8, replicas, &all[..first]);
            table.fill();
            let present = &all[..first + count];
            let come = present[first..].iter();
            table.insert(
                &come
                    .map(|(index, member)| (*index, member))
                    .collect::<Vec<_>>(),
            );
            assert_follows_definition(&table, present);
            let stays = |index: NodeIndex| index.get().is_multiple_of(3);
            let gone = present.iter().map(|(index, _)| *index);
            let gone: Vec<_> = gone.filter(|index| !stays(*index)).collect();
            let mut stay = present.to_vec();
            stay.retain(|(index, _)| stays(*index));
            table.remove(&gone);
            assert_follows_definition(&table, &stay);
        }
    }
}

/// A slot of which a clone saw only a part must not be taken for a known one.
#[test]
fn a_clone_forgets_slots_that_are_known_in_part() {
    let members = members(5);
    let table = table(8, 3, &members);
    table.fill();
    for (slot, entries) in table.entries.chunks_exact(3).enumerate() {
        entries[slot % 3]
            .0
            .store(u16::MAX, super::Ordering::Relaxed);
    }
    let mut clone = table.clone();
    assert!(clone.entries.iter().all(|entry| entry.load().is_none()));
    clone.remove(&[members[0].0]);
    assert_follows_definition(&clone, &members[1..]);
}

#[test]
fn threads_fill_one_table_together() {
    let members = members(20);
    let shared = table(10, 3, &members);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (shared, members) = (&shared, &members);
            scope.spawn(move || {
                for step in 0..1_u64 << shared.bits {
                    let slot = (step * 7 + thread * 251) % (1 << shared.bits);
                    let mut best = [NodeIndex::default(); 3];
                    assert_eq!(shared.best(key_in(slot, shared.bits), &mut best), 3);
                    assert_eq!(best[..], ranking(slot_hash(slot), members)[..3]);
                    if step % 128 == 0 {
                        let clone = shared.clone();
                        let owner = clone.owner(key_in(slot, shared.bits));
                        assert_eq!(owner, Some(best[0]));
                    }
                }
            });
        }
    });
    assert_follows_definition(&shared, &members);
}
