//! What was said of a write is what was done: nothing is written twice at a server, unless two nodes are
//! one server, and nothing at all of which the caller was told that it was not.

use super::{Evidence, Violation};
use crate::history::{Asked, History, Outcome};

const NAME: &str = "execution";

pub(super) fn check(history: &History, evidence: &Evidence<'_>, found: &mut Vec<Violation>) {
    for call in &history.calls {
        let (Asked::Store(stamp) | Asked::StoreQuietly(stamp)) = call.asked else {
            continue;
        };
        let (client, key) = (call.client, &call.key);
        let stored = evidence.storings(stamp);
        if let Outcome::Failed {
            kind,
            maybe_executed: false,
            ..
        } = call.outcome
            && let Some(fact) = stored.first()
        {
            let what = format!(
                "client {client} was told that {key} was not set to {stamp} ({kind:?}), but server {} has \
                 stored it at {:?}",
                fact.host, fact.when.at
            );
            found.push(Violation::new(NAME, what));
        }
        let times = |host| stored.iter().filter(|fact| fact.host == host).count();
        if let Some(again) = stored.iter().find(|fact| times(fact.host) > history.copies) {
            let what = format!(
                "client {client} has set {key} to {stamp} once, and server {} has stored it {} times",
                again.host,
                times(again.host)
            );
            found.push(Violation::new(NAME, what));
        }
        if let Some(early) = stored.iter().find(|fact| fact.when < call.begun) {
            let what = format!(
                "server {} has stored {stamp} of {key} before it was set",
                early.host
            );
            found.push(Violation::new(NAME, what));
        }
    }
}

#[cfg(test)]
mod tests {
    use steersman_memcached::ErrorKind;

    use super::*;
    use crate::history::{Deed, Fact};
    use crate::invariants::testing::{call, fact, history, names, stamp};

    fn found(maybe_executed: bool, facts: Vec<Fact>) -> Vec<&'static str> {
        let mut call = call("a", Asked::Store(stamp(1)), 1, 10);
        call.outcome = Outcome::Failed {
            kind: ErrorKind::Timeout,
            maybe_executed,
            at_node: true,
        };
        let mut history = history([call], facts);
        history.copies = 1;
        names(|found| check(&history, &Evidence::new(&history), found))
    }

    fn stored(when: u64, host: usize) -> Fact {
        Fact {
            host,
            ..fact("a", Deed::Stored(stamp(1)), when)
        }
    }

    #[test]
    fn a_write_that_was_done_although_it_was_not_is_found() {
        assert!(found(true, vec![stored(12, 0)]).is_empty());
        assert!(found(false, Vec::new()).is_empty());
        assert_eq!(found(false, vec![stored(12, 0)]), [NAME]);
    }

    #[test]
    fn a_write_that_was_done_twice_or_too_early_is_found() {
        assert!(found(true, vec![stored(2, 0), stored(3, 1)]).is_empty());
        assert_eq!(found(true, vec![stored(2, 0), stored(3, 0)]), [NAME]);
        assert_eq!(found(true, vec![stored(0, 0)]), [NAME]);
    }
}
