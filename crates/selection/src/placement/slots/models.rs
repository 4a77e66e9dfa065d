//! Every order in which threads can meet at a slot that nobody has asked for yet, by loom.

use loom::sync::Arc;
use loom::thread;

use super::Slots;
use crate::placement::oracle::{members, ranking, slot_hash};
use crate::placement::rendezvous::Rendezvous;
use crate::{Member, NodeIndex};

const REPLICAS: usize = 2;
/// In the first of two slots.
const KEY: u64 = 7;

/// Smaller than any real table, so that everything about it can be tried.
fn table(members: &[(NodeIndex, Member)]) -> Slots {
    let mut nodes = Rendezvous::default();
    for (index, member) in members {
        nodes.insert(&[(*index, member)]);
    }
    Slots::new(nodes, 1, REPLICAS)
}

#[test]
fn whoever_fills_a_slot_all_see_its_best_nodes() {
    loom::model(|| {
        let members = members(3);
        let best = ranking(slot_hash(0), &members);
        let table = Arc::new(table(&members));
        let other = {
            let (table, owner) = (Arc::clone(&table), best[0]);
            thread::spawn(move || assert_eq!(table.owner(KEY), Some(owner)))
        };
        let mut seen = [NodeIndex::default(); REPLICAS];
        assert_eq!(table.best(KEY, &mut seen), REPLICAS);
        assert_eq!(seen, best[..REPLICAS]);
        other.join().unwrap();
    });
}

#[test]
fn a_copy_that_is_made_meanwhile_holds_slots_whole_or_not_at_all() {
    loom::model(|| {
        let nodes = members(3);
        let table = Arc::new(table(&nodes[..2]));
        let copying = {
            let (table, nodes) = (Arc::clone(&table), nodes.clone());
            thread::spawn(move || {
                // A change works on the copy, and takes what a slot holds for all that it should.
                let mut copy = Slots::clone(&table);
                let (index, member) = &nodes[2];
                copy.insert(&[(*index, member)]);
                let best = ranking(slot_hash(0), &nodes);
                assert_eq!(copy.owner(KEY), Some(best[0]));
                let mut seen = [NodeIndex::default(); REPLICAS];
                copy.best(KEY, &mut seen);
                assert_eq!(seen, best[..REPLICAS]);
            })
        };
        assert!(table.owner(KEY).is_some());
        copying.join().unwrap();
    });
}
