//! After the last fault everything is well again, within the time that waits and time-outs take together.

use super::Violation;
use crate::history::History;

const NAME: &str = "healing";

pub(super) fn check(history: &History, found: &mut Vec<Violation>) {
    let ailments = history.ailments.iter();
    found.extend(ailments.map(|what| Violation::new(NAME, what.clone())));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::testing::{history, names};

    #[test]
    fn what_is_not_well_is_found() {
        let mut history = history([], []);
        assert!(names(|found| check(&history, found)).is_empty());
        history.ailments.push("a node is down".to_owned());
        assert_eq!(names(|found| check(&history, found)), [NAME]);
    }
}
