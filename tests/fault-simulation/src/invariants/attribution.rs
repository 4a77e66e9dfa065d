//! Never a value of another key, and none that nobody wrote.

use std::collections::HashSet;

use super::Violation;
use crate::history::{Asked, History, Outcome};
use crate::value::{Garbage, Stamp};

const NAME: &str = "attribution";

pub(super) fn check(history: &History, found: &mut Vec<Violation>) {
    let written: HashSet<(&str, Stamp)> = history
        .calls
        .iter()
        .filter_map(|call| match call.asked {
            Asked::Store(stamp) | Asked::StoreQuietly(stamp) => Some((&*call.key, stamp)),
            _ => None,
        })
        .collect();
    for call in &history.calls {
        let Outcome::Hit(value) = &call.outcome else {
            continue;
        };
        let what = match value {
            Err(Garbage::OfKey(other)) => format!("the value of {other}"),
            Err(Garbage::Broken) => "a broken value".to_owned(),
            Ok(stamp) if !written.contains(&(&*call.key, *stamp)) => {
                format!("{stamp}, which nobody wrote")
            }
            Ok(_) => continue,
        };
        let (client, key) = (call.client, &call.key);
        found.push(Violation::new(
            NAME,
            format!("client {client} asked for {key} and got {what}"),
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::testing::{call, history, names, stamp};

    fn found(value: Result<Stamp, Garbage>) -> Vec<&'static str> {
        let mut written = call("a", Asked::Store(stamp(1)), 1, 2);
        written.outcome = Outcome::Done;
        let mut read = call("a", Asked::Value, 3, 4);
        read.outcome = Outcome::Hit(value);
        names(|found| check(&history([written, read], []), found))
    }

    #[test]
    fn the_value_that_was_written_is_right() {
        assert!(found(Ok(stamp(1))).is_empty());
    }

    #[test]
    fn another_keys_value_a_broken_one_and_an_unknown_one_are_found() {
        assert_eq!(found(Err(Garbage::OfKey("b".into()))), [NAME]);
        assert_eq!(found(Err(Garbage::Broken)), [NAME]);
        assert_eq!(found(Ok(stamp(2))), [NAME]);
    }
}
