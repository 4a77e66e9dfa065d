//! An outage is never reported as a miss, nor anything else as an answer that no server has given: for each
//! answer there is a server that gave it while the call was under way.

use super::{Evidence, Violation};
use crate::history::{Asked, Call, Deed, History, Outcome};

const NAME: &str = "outage";

pub(super) fn check(history: &History, evidence: &Evidence<'_>, found: &mut Vec<Violation>) {
    for call in &history.calls {
        let Some(given) = answer(call) else { continue };
        let was_given = evidence.during(call).iter().any(|fact| fact.deed == given);
        if !was_given {
            let Call {
                client,
                asked,
                key,
                outcome,
                ..
            } = call;
            let what = format!(
                "client {client} asked for {asked:?} of {key} at {:?} and was told {outcome:?}, which no server \
                 has said until {:?}",
                call.begun.at, call.ended.at
            );
            found.push(Violation::new(NAME, what));
        }
    }
}

/// What a server must have done for this to be the answer, if it is one.
fn answer(call: &Call) -> Option<Deed> {
    match (call.asked, &call.outcome) {
        (Asked::Value | Asked::OneOfMany { .. }, Outcome::Hit(Ok(stamp))) => {
            Some(Deed::Looked(Some(*stamp)))
        }
        (Asked::Value | Asked::OneOfMany { .. }, Outcome::Miss) => Some(Deed::Looked(None)),
        (Asked::Store(stamp), Outcome::Done) => Some(Deed::Stored(stamp)),
        (Asked::Store(stamp), Outcome::NotDone) => Some(Deed::Declined(stamp)),
        (Asked::Delete, Outcome::Done) => Some(Deed::Deleted { existed: true }),
        (Asked::Delete, Outcome::NotDone) => Some(Deed::Deleted { existed: false }),
        (Asked::Count, Outcome::Number(number)) => Some(Deed::Counted(Some(*number))),
        (Asked::Count, Outcome::Miss) => Some(Deed::Counted(None)),
        (Asked::Begin, Outcome::Done | Outcome::NotDone) => Some(Deed::Begun),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::testing::{call, fact, history, names, stamp};

    fn found(asked: Asked, outcome: Outcome, deed: Deed, when: u64) -> Vec<&'static str> {
        let mut call = call("a", asked, 10, 20);
        call.outcome = outcome;
        let history = history([call], [fact("a", deed, when)]);
        names(|found| check(&history, &Evidence::new(&history), found))
    }

    #[test]
    fn a_miss_that_no_server_has_told_is_found() {
        let miss = |deed, when| found(Asked::Value, Outcome::Miss, deed, when);
        assert!(miss(Deed::Looked(None), 15).is_empty());
        assert_eq!(miss(Deed::Looked(None), 9), [NAME]);
        assert_eq!(miss(Deed::Looked(None), 21), [NAME]);
        assert_eq!(miss(Deed::Looked(Some(stamp(1))), 15), [NAME]);
    }

    #[test]
    fn so_are_other_answers() {
        let hit = Outcome::Hit(Ok(stamp(2)));
        let of_many = Asked::OneOfMany { is_first: true };
        assert!(found(of_many, hit.clone(), Deed::Looked(Some(stamp(2))), 15).is_empty());
        assert_eq!(
            found(of_many, hit, Deed::Looked(Some(stamp(1))), 15),
            [NAME]
        );
        let store = Asked::Store(stamp(1));
        assert!(found(store, Outcome::Done, Deed::Stored(stamp(1)), 15).is_empty());
        assert_eq!(
            found(store, Outcome::Done, Deed::Declined(stamp(1)), 15),
            [NAME]
        );
        assert_eq!(
            found(store, Outcome::NotDone, Deed::Stored(stamp(1)), 15),
            [NAME]
        );
        let deleted = Deed::Deleted { existed: true };
        assert!(found(Asked::Delete, Outcome::Done, deleted.clone(), 15).is_empty());
        assert_eq!(found(Asked::Delete, Outcome::NotDone, deleted, 15), [NAME]);
        assert!(found(Asked::Count, Outcome::Number(7), Deed::Counted(Some(7)), 15).is_empty());
        assert_eq!(
            found(Asked::Count, Outcome::Number(8), Deed::Counted(Some(7)), 15),
            [NAME]
        );
        assert_eq!(
            found(Asked::Count, Outcome::Miss, Deed::Counted(Some(7)), 15),
            [NAME]
        );
        assert!(found(Asked::Begin, Outcome::Done, Deed::Begun, 15).is_empty());
        assert_eq!(found(Asked::Begin, Outcome::Done, Deed::Begun, 25), [NAME]);
    }
}
