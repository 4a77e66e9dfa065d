//! Every order in which picks, answers and the settling of a ledger can meet, by loom.

use loom::sync::Arc;
use loom::thread;

use super::*;

const START: Timestamp = Timestamp::from_nanos(SLOT_NANOS * 1_000);
/// Whatever was sent at the start is overdue by then.
const LATER: Timestamp = Timestamp::from_nanos(SLOT_NANOS * 1_010);

#[test]
fn two_picks_are_two_attempts_that_wait() {
    loom::model(|| {
        let ledger = Arc::new(Ledger::new(START));
        let other = {
            let ledger = Arc::clone(&ledger);
            thread::spawn(move || ledger.picked(START))
        };
        ledger.picked(START);
        other.join().unwrap();
        assert_eq!(ledger.picks(), 2);
        ledger.settle(LATER, SLOT_NANOS, |_, _| {});
        assert_eq!(ledger.unanswered(), 2);
    });
}

#[test]
fn an_answer_that_meets_the_settling_is_due_or_overdue_and_not_both() {
    loom::model(|| {
        let ledger = Arc::new(Ledger::new(START));
        ledger.picked(START);
        let settling = {
            let ledger = Arc::clone(&ledger);
            thread::spawn(move || {
                let mut told = 0;
                ledger.settle(LATER, SLOT_NANOS, |_, count| told += u64::from(count));
                told
            })
        };
        let entry = ledger.answered(START, LATER);
        let told = settling.join().unwrap();
        assert_eq!(told, u64::from(entry == Entry::Overdue));
        assert_eq!(ledger.late(), told);
        assert_eq!(ledger.unanswered(), 0);
    });
}

#[test]
fn of_two_who_settle_one_tells() {
    loom::model(|| {
        let ledger = Arc::new(Ledger::new(START));
        ledger.picked(START);
        let settle = |ledger: &Ledger| {
            let mut told = 0;
            ledger.settle(LATER, SLOT_NANOS, |_, count| told += u64::from(count));
            told
        };
        let other = {
            let ledger = Arc::clone(&ledger);
            thread::spawn(move || settle(&ledger))
        };
        let told = settle(&ledger) + other.join().unwrap();
        assert_eq!((told, ledger.unanswered()), (1, 1));
    });
}
