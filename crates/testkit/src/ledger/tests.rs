//! Each promise, kept and broken.

use super::{Held, Ledger, ViolationKind};

const KEY: &str = "key";

/// Writes a value and confirms it.
fn stored(ledger: &Ledger) -> bytes::Bytes {
    let write = ledger.write(0, KEY, 1);
    let value = write.value(10);
    write.confirmed();
    value
}

fn found(ledger: &Ledger, value: &[u8]) -> Result<Held, ViolationKind> {
    ledger
        .read(0, KEY)
        .found(value)
        .map_err(|broken| broken.kind)
}

fn missed(ledger: &Ledger) -> Result<Held, ViolationKind> {
    ledger.read(0, KEY).missed().map_err(|broken| broken.kind)
}

#[test]
fn a_confirmed_value_is_there_until_another_one_is() {
    let ledger = Ledger::new();
    assert_eq!(missed(&ledger), Ok(Held::AgainstNothing));
    let first = stored(&ledger);
    assert_eq!(found(&ledger, &first), Ok(Held::AgainstAWrite));
    assert_eq!(missed(&ledger), Err(ViolationKind::FalseMiss));
    let second = stored(&ledger);
    assert_eq!(found(&ledger, &first), Err(ViolationKind::Stale));
    assert_eq!(found(&ledger, &second), Ok(Held::AgainstAWrite));
}

#[test]
fn a_value_is_whole_and_the_keys_own() {
    let ledger = Ledger::new();
    let value = stored(&ledger);
    let other = ledger.write(0, "other", 1).value(10);
    assert_eq!(found(&ledger, &other), Err(ViolationKind::OtherKey));
    assert_eq!(
        found(&ledger, &value[..value.len() - 1]),
        Err(ViolationKind::Damaged)
    );
    let elsewhere = ledger.write(1, KEY, 1).value(10);
    assert_eq!(found(&ledger, &elsewhere), Err(ViolationKind::NeverWritten));
    let anywhere = ledger.read(0, KEY).found_somewhere(&elsewhere);
    assert_eq!(anywhere, Ok(()));
    assert!(ledger.read(0, KEY).found_somewhere(&other).is_err());
}

#[test]
fn what_overlaps_may_come_in_any_order() {
    let ledger = Ledger::new();
    let (first, second) = (ledger.write(0, KEY, 1), ledger.write(0, KEY, 2));
    let (one, two) = (first.value(1), second.value(2));
    let read = ledger.read(0, KEY);
    second.confirmed();
    first.confirmed();
    let third = stored(&ledger);
    // It began before any of them had ended.
    assert!(read.found(&one).is_ok());
    assert_eq!(found(&ledger, &two), Err(ViolationKind::Stale));
    assert!(found(&ledger, &third).is_ok());
}

#[test]
fn a_write_whose_result_is_unknown_may_be_executed_later_until_things_are_settled() {
    let ledger = Ledger::new();
    let late = ledger.write(0, KEY, 1);
    let value = late.value(1);
    drop(late);
    stored(&ledger);
    assert!(found(&ledger, &value).is_ok());
    assert_eq!(missed(&ledger), Err(ViolationKind::FalseMiss));
    drop(ledger.delete(0, KEY, 1));
    assert!(missed(&ledger).is_ok());
    ledger.settle(0);
    // Either may have been the last, but a write that is under way may still come.
    let waiting = ledger.write(0, KEY, 1);
    let later = waiting.value(1);
    ledger.settle(0);
    assert!(found(&ledger, &value).is_ok());
    assert!(missed(&ledger).is_ok());
    stored(&ledger);
    assert_eq!(found(&ledger, &value), Err(ViolationKind::Stale));
    assert_eq!(missed(&ledger), Err(ViolationKind::FalseMiss));
    assert!(found(&ledger, &later).is_ok());
    drop(waiting);
    assert!(found(&ledger, &later).is_ok());
}

#[test]
fn what_was_not_executed_is_never_seen() {
    let ledger = Ledger::new();
    let value = stored(&ledger);
    let write = ledger.write(0, KEY, 1);
    let never = write.value(1);
    write.not_executed();
    assert_eq!(found(&ledger, &never), Err(ViolationKind::NotExecuted));
    assert!(found(&ledger, &value).is_ok());
    assert_eq!(missed(&ledger), Err(ViolationKind::FalseMiss));
    let write = ledger.write(0, KEY, 1);
    let refused = write.value(1);
    write.refused();
    assert_eq!(found(&ledger, &refused), Err(ViolationKind::NotExecuted));
    assert!(found(&ledger, &value).is_ok());
    assert!(missed(&ledger).is_ok(), "it may have been removed");
}

#[test]
fn without_memory_a_write_whose_result_is_unknown_may_leave_nothing() {
    let ledger = Ledger::new();
    ledger.may_lack_memory(0);
    stored(&ledger);
    assert_eq!(missed(&ledger), Err(ViolationKind::FalseMiss));
    drop(ledger.write(0, KEY, 1));
    assert!(missed(&ledger).is_ok());
    ledger.settle(0);
    stored(&ledger);
    assert_eq!(missed(&ledger), Err(ViolationKind::FalseMiss));
}

#[test]
fn a_deletion_leaves_nothing() {
    let ledger = Ledger::new();
    let value = stored(&ledger);
    ledger.delete(0, KEY, 1).confirmed();
    assert_eq!(missed(&ledger), Ok(Held::AgainstAWrite));
    assert_eq!(found(&ledger, &value), Err(ViolationKind::Stale));
}

#[test]
fn a_loss_takes_everything_of_that_node() {
    let ledger = Ledger::new();
    let value = stored(&ledger);
    let loss = ledger.loss(0);
    assert!(found(&ledger, &value).is_ok());
    assert!(missed(&ledger).is_ok());
    loss.ended();
    assert!(missed(&ledger).is_ok());
    assert_eq!(found(&ledger, &value), Err(ViolationKind::Stale));
    stored(&ledger);
    assert_eq!(missed(&ledger), Err(ViolationKind::FalseMiss));
    ledger.loss(1).ended();
    assert_eq!(missed(&ledger), Err(ViolationKind::FalseMiss));
}

#[test]
fn what_no_read_can_see_any_more_is_forgotten() {
    let ledger = Ledger::new();
    let first = stored(&ledger);
    let read = ledger.read(0, KEY);
    for _ in 0..1_000 {
        stored(&ledger);
    }
    let kept = || {
        ledger
            .book
            .lock()
            .unwrap()
            .history(0, KEY)
            .last(2_000)
            .count()
    };
    assert_eq!(
        kept(),
        1_001,
        "a read that is under way may see any of them"
    );
    assert!(read.found(&first).is_ok());
    stored(&ledger);
    assert_eq!(kept(), 1);
    assert_eq!(found(&ledger, &first), Err(ViolationKind::Stale));
}
