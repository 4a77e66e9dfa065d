use std::thread;

use proptest::prelude::*;

use super::*;

const MILLI: i64 = 1_000_000;

fn at(nanos: i64) -> Timestamp {
    Timestamp::from_nanos(nanos)
}

fn overdue(ledger: &Ledger, now: i64, patience: i64) -> Vec<i64> {
    let mut ages = Vec::new();
    ledger.settle(at(now), patience, |age, _| ages.push(age));
    ages
}

#[test]
fn what_is_reported_in_time_is_never_overdue() {
    let ledger = Ledger::new(at(0));
    for pick in 0..1_000 {
        ledger.picked(at(pick * MILLI));
        let started = at(pick * MILLI + 2_000);
        assert_eq!(ledger.answered(started, started), Entry::Due);
        assert_eq!(overdue(&ledger, pick * MILLI + 5_000, 20 * MILLI), [0; 0]);
    }
    assert_eq!((ledger.picks(), ledger.unanswered()), (1_000, 0));
}

#[test]
fn what_is_not_reported_is_overdue_once() {
    let ledger = Ledger::new(at(0));
    // Both are in the slot from 100.7 to 109.1 ms.
    ledger.picked(at(102 * MILLI));
    ledger.picked(at(103 * MILLI));
    assert_eq!(overdue(&ledger, 118 * MILLI, 20 * MILLI), [0; 0]);
    let ages = overdue(&ledger, 150 * MILLI, 20 * MILLI);
    assert_eq!(ages.len(), 1);
    assert!((20 * MILLI..=50 * MILLI).contains(&ages[0]), "{ages:?}");
    assert_eq!(ledger.unanswered(), 2);
    assert_eq!(overdue(&ledger, 160 * MILLI, 20 * MILLI), [0; 0]);
    // A late report does not take it from others.
    ledger.picked(at(200 * MILLI));
    let late = ledger.answered(at(102 * MILLI), at(210 * MILLI));
    assert_eq!(late, Entry::Overdue);
    assert_eq!(overdue(&ledger, 250 * MILLI, 20 * MILLI).len(), 1);
}

#[test]
fn an_overdue_attempt_that_is_answered_was_late_and_is_known_to_be_counted() {
    let ledger = Ledger::new(at(0));
    ledger.picked(at(MILLI));
    ledger.picked(at(2 * MILLI));
    assert_eq!(overdue(&ledger, 50 * MILLI, 20 * MILLI).len(), 1);
    assert_eq!((ledger.unanswered(), ledger.late()), (2, 0));
    let answer = |started: i64| ledger.answered(at(started), at(60 * MILLI));
    assert_eq!(answer(MILLI), Entry::Overdue);
    assert_eq!((ledger.unanswered(), ledger.late()), (1, 1));
    assert_eq!(answer(2 * MILLI), Entry::Overdue);
    assert_eq!((ledger.unanswered(), ledger.late()), (0, 2));
    // One that the ledger never had, such as a retry that nobody listened to.
    assert_eq!(answer(2 * MILLI), Entry::Unknown);
    assert_eq!((ledger.unanswered(), ledger.late()), (0, 2));
}

#[test]
fn what_is_given_up_is_unanswered_at_once_and_once() {
    let ledger = Ledger::new(at(0));
    ledger.picked(at(MILLI));
    ledger.sent(at(MILLI));
    assert_eq!(ledger.given_up(at(MILLI), at(3 * MILLI)), Entry::Due);
    assert_eq!((ledger.picks(), ledger.unanswered()), (1, 1));
    assert_eq!(overdue(&ledger, 50 * MILLI, 20 * MILLI).len(), 1);
    assert_eq!(ledger.unanswered(), 2);
    assert_eq!(ledger.given_up(at(MILLI), at(60 * MILLI)), Entry::Overdue);
    assert_eq!((ledger.unanswered(), ledger.late()), (2, 0));
}

#[test]
fn what_is_answered_beyond_the_horizon_was_overdue_if_anybody_looked() {
    for looked in [false, true] {
        let ledger = Ledger::new(at(0));
        ledger.picked(at(MILLI));
        if looked {
            assert_eq!(overdue(&ledger, SECOND, 20 * MILLI).len(), 1);
        }
        for pick in 0..300 {
            ledger.picked(at(4 * SECOND + pick * SLOT_NANOS));
        }
        let expected = if looked {
            Entry::Overdue
        } else {
            Entry::Unknown
        };
        assert_eq!(ledger.answered(at(MILLI), at(8 * SECOND)), expected);
    }
}

#[test]
fn more_than_a_slot_can_count_is_bounded() {
    let ledger = Ledger::new(at(0));
    for _ in 0..70_000 {
        ledger.sent(at(0));
    }
    assert_eq!(overdue(&ledger, 50 * MILLI, 20 * MILLI).len(), 1);
    assert_eq!(ledger.unanswered(), u64::from(u16::MAX));
    assert_eq!(
        ledger.answered(at(SLOT_NANOS), at(60 * MILLI)),
        Entry::Overdue
    );
}

#[test]
fn a_report_finds_its_pick_just_before_a_slot_ends() {
    let ledger = Ledger::new(at(0));
    ledger.picked(at(SLOT_NANOS - 1));
    let started = at(SLOT_NANOS + 1);
    assert_eq!(ledger.answered(started, started), Entry::Due);
    assert_eq!(overdue(&ledger, SECOND, 0), [0; 0]);
}

#[test]
fn an_attempt_that_begins_late_is_that_of_its_pick() {
    let ledger = Ledger::new(at(0));
    // The client had no processor for a while.
    let (picked, started) = (at(SECOND), at(SECOND + 60 * MILLI));
    ledger.picked(picked);
    assert_eq!(
        ledger.given_up(started, at(SECOND + 360 * MILLI)),
        Entry::Due
    );
    assert_eq!(overdue(&ledger, 2 * SECOND, 20 * MILLI), [0; 0]);
    assert_eq!(ledger.unanswered(), 1);
}

const SECOND: i64 = 1_000 * MILLI;

#[test]
fn impatience_and_patience_beyond_the_horizon_are_bounded() {
    let ledger = Ledger::new(at(0));
    ledger.picked(at(0));
    assert_eq!(overdue(&ledger, 2 * SECOND, i64::MAX), [0; 0]);
    assert_eq!(
        overdue(&ledger, HORIZON_NANOS + SLOT_NANOS, i64::MAX).len(),
        1
    );
    ledger.picked(at(3 * SECOND));
    assert_eq!(overdue(&ledger, 3 * SECOND + SLOT_NANOS, i64::MIN).len(), 1);
}

#[test]
fn threads_lose_nothing() {
    let ledger = Ledger::new(at(0));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for pick in 0..10_000 {
                    ledger.picked(at(pick * 10_000));
                    ledger.answered(at(pick * 10_000), at(pick * 10_000));
                }
            });
        }
    });
    assert_eq!(overdue(&ledger, SECOND, 0), [0; 0]);
    assert_eq!((ledger.picks(), ledger.unanswered()), (40_000, 0));
}

#[test]
fn what_was_sent_before_a_long_silence_is_overdue_after_it() {
    let ledger = Ledger::new(at(0));
    ledger.picked(at(SECOND));
    let mut found = Vec::new();
    ledger.settle(at(100 * SECOND), SECOND, |age, count| {
        found.push((age, count));
    });
    assert_eq!(found.len(), 1, "{found:?}");
    assert!((98 * SECOND..=99 * SECOND).contains(&found[0].0) && found[0].1 == 1);
    ledger.picked(at(100 * SECOND));
    assert_eq!(overdue(&ledger, 101 * SECOND, 0).len(), 1);
}

proptest! {
    /// Each pick is reported, or overdue, or still waiting: none is lost and none is made up.
    #[test]
    fn every_pick_is_accounted_for(picks in prop::collection::vec((0..SECOND, prop::option::of(0..200 * MILLI)), 0..200)) {
        let ledger = Ledger::new(at(0));
        // Each pick with what it does, in the order of time.
        let mut steps = Vec::new();
        for &(picked, latency) in &picks {
            steps.push((picked, None));
            if let Some(latency) = latency {
                steps.push((picked + latency, Some(picked)));
            }
        }
        steps.sort_unstable();
        for (now, started) in steps {
            match started {
                None => ledger.picked(at(now)),
                Some(started) => {
                    ledger.answered(at(started), at(now));
                }
            }
        }
        let mut overdue = 0;
        ledger.settle(at(2 * SECOND), 0, |age, count| {
            overdue += u64::from(count);
            assert!(age >= SECOND - SLOT_NANOS);
        });
        let dropped = picks.iter().filter(|pick| pick.1.is_none()).count() as u64;
        prop_assert_eq!(ledger.unanswered(), dropped);
        prop_assert_eq!(overdue, dropped);
        prop_assert_eq!(ledger.picks(), picks.len() as u64);
    }
}
