//! Never an older version than a confirmed one, from a server that has not lost it.
//!
//! A write that was confirmed before a read began is what the read finds at the server that did it, or
//! something that this server stored later: a write that was not confirmed may still come. Where a key may
//! be at several servers, as with replicas and after a change of members, one of them has to explain the
//! answer.

use std::collections::HashMap;

use super::{Evidence, Violation};
use crate::history::{Asked, Call, Deed, Fact, History, Outcome};
use crate::trace::Moment;
use crate::value::Stamp;

const NAME: &str = "freshness";

pub(super) fn check(history: &History, evidence: &Evidence<'_>, found: &mut Vec<Violation>) {
    let confirmed: HashMap<Stamp, Moment> = history
        .calls
        .iter()
        .filter_map(|call| match (call.asked, &call.outcome) {
            (Asked::Store(stamp), Outcome::Done) => Some((stamp, call.ended)),
            _ => None,
        })
        .collect();
    for call in &history.calls {
        let Outcome::Hit(Ok(stamp)) = call.outcome else {
            continue;
        };
        let overwritten: Vec<_> = evidence
            .storings(stamp)
            .iter()
            .filter_map(|stored| {
                let later = evidence.of_key(&call.key).iter();
                later
                    .copied()
                    .find(|fact| overwrites(fact, stored, call, &confirmed))
            })
            .collect();
        // A value that was stored nowhere is for others to find.
        if let Some(newer) = overwritten.first()
            && overwritten.len() == evidence.storings(stamp).len()
        {
            let (client, key) = (call.client, &call.key);
            let what = format!(
                "client {client} read {key} at {:?} and got {stamp}, after {:?} was confirmed by server {}",
                call.begun.at, newer.deed, newer.host
            );
            found.push(Violation::new(NAME, what));
        }
    }
}

/// Which contents of which server.
fn place(fact: &Fact) -> (usize, u64) {
    (fact.host, fact.life)
}

/// Whether a fact is a write that was confirmed before the call began and took the place of `stored`.
fn overwrites(fact: &Fact, stored: &Fact, call: &Call, confirmed: &HashMap<Stamp, Moment>) -> bool {
    let Deed::Stored(stamp) = fact.deed else {
        return false;
    };
    fact.deed != stored.deed
        && place(fact) == place(stored)
        && fact.when > stored.when
        && confirmed.get(&stamp).is_some_and(|when| *when < call.begun)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::testing::{call, fact, history, names, stamp};

    /// Version 1 is stored at 2 and version 2 at 4, confirmed at 5; a read from 6 to 9 gets `version`.
    fn found(version: u64, change: impl FnOnce(&mut History)) -> Vec<&'static str> {
        let mut first = call("a", Asked::Store(stamp(1)), 1, 8);
        let mut second = call("a", Asked::Store(stamp(2)), 3, 5);
        let mut read = call("a", Asked::Value, 6, 9);
        first.outcome = Outcome::Dropped;
        second.outcome = Outcome::Done;
        read.outcome = Outcome::Hit(Ok(stamp(version)));
        let facts = [
            fact("a", Deed::Stored(stamp(1)), 2),
            fact("a", Deed::Stored(stamp(2)), 4),
        ];
        let mut history = history([first, second, read], facts);
        change(&mut history);
        names(|found| check(&history, &Evidence::new(&history), found))
    }

    #[test]
    fn the_confirmed_version_is_right_and_an_older_one_is_found() {
        assert!(found(2, |_| {}).is_empty());
        assert_eq!(found(1, |_| {}), [NAME]);
    }

    #[test]
    fn an_older_version_is_right_where_the_newer_one_is_not_known_to_be() {
        // It was confirmed only after the read had begun.
        assert!(found(1, |history| history.calls[2].begun = history.calls[1].begun).is_empty());
        // It was not confirmed.
        assert!(found(1, |history| history.calls[1].outcome = Outcome::Dropped).is_empty());
        // It was stored by another server, or before a restart.
        assert!(found(1, |history| history.facts[1].host = 1).is_empty());
        assert!(found(1, |history| history.facts[0].life = 1).is_empty());
        // The older one came later, or came again.
        let again = |history: &mut History| {
            let mut late = history.facts[0].clone();
            late.when = history.calls[2].begun;
            history.facts.push(late);
        };
        assert!(found(1, again).is_empty());
        let late = |history: &mut History| {
            history.facts[0].when = history.calls[2].begun;
        };
        assert!(found(1, late).is_empty());
    }
}
