//! Histories for the tests of the checkers.

use std::time::Duration;

use super::Violation;
use crate::history::{Asked, Call, Deed, Fact, History, Outcome};
use crate::trace::Moment;
use crate::value::Stamp;

pub(super) fn moment(order: u64) -> Moment {
    Moment {
        order,
        at: Duration::from_millis(order),
    }
}

pub(super) fn stamp(version: u64) -> Stamp {
    Stamp { writer: 1, version }
}

/// A call of the first client that has come to nothing.
pub(super) fn call(key: &str, asked: Asked, begun: u64, ended: u64) -> Call {
    Call {
        client: 0,
        asked,
        key: key.to_owned(),
        begun: moment(begun),
        ended: moment(ended),
        limit: Duration::from_millis(100),
        outcome: Outcome::Dropped,
    }
}

/// Something that the first server did in its first life.
pub(super) fn fact(key: &str, deed: Deed, when: u64) -> Fact {
    Fact {
        host: 0,
        life: 0,
        when: moment(when),
        key: key.to_owned(),
        deed,
    }
}

pub(super) fn history(
    calls: impl IntoIterator<Item = Call>,
    facts: impl IntoIterator<Item = Fact>,
) -> History {
    History {
        calls: calls.into_iter().collect(),
        facts: facts.into_iter().collect(),
        ..History::default()
    }
}

/// Which invariants a checker finds violated.
pub(super) fn names(check: impl FnOnce(&mut Vec<Violation>)) -> Vec<&'static str> {
    let mut found = Vec::new();
    check(&mut found);
    found
        .into_iter()
        .map(|violation| violation.invariant)
        .collect()
}
