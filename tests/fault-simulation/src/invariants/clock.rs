//! Every call ends within its time-out and a bound: timers count in milliseconds, and what was suspended
//! hears of the time only afterwards.

use std::time::Duration;

use super::Violation;
use crate::history::{Call, History};

const NAME: &str = "time-out";

/// A timer is rounded up to a millisecond, and a call may be kept by two: of a connection and its own.
const BOUND: Duration = Duration::from_millis(2);

pub(super) fn check(history: &History, found: &mut Vec<Violation>) {
    for call in &history.calls {
        let took = call.ended.at.saturating_sub(call.begun.at);
        let limit = call.limit + leapt(history, call) + BOUND;
        if took > limit {
            let Call {
                client,
                asked,
                key,
                limit,
                outcome,
                ..
            } = call;
            let what = format!(
                "client {client} asked for {asked:?} of {key} at {:?}: it took {took:?} of {limit:?} and came \
                 to {outcome:?}",
                call.begun.at
            );
            found.push(Violation::new(NAME, what));
        }
    }
}

/// The time that nobody could see pass during a call.
fn leapt(history: &History, call: &Call) -> Duration {
    let during = history
        .leaps
        .iter()
        .filter(|(when, _)| (call.begun..=call.ended).contains(when));
    during.map(|(_, by)| *by).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::Asked;
    use crate::invariants::testing::{call, history, moment, names};

    #[test]
    fn a_call_that_takes_too_long_is_found() {
        let found = |ended, leaps: Vec<_>| {
            let mut history = history([call("a", Asked::Value, 1, ended)], []);
            history.leaps = leaps;
            names(|found| check(&history, found))
        };
        assert!(found(103, Vec::new()).is_empty());
        assert_eq!(found(104, Vec::new()), [NAME]);
        let leap = |order| vec![(moment(order), Duration::from_millis(50))];
        assert!(found(153, leap(2)).is_empty());
        assert_eq!(found(154, leap(2)), [NAME]);
        assert_eq!(found(110, leap(300)), [NAME]);
    }
}
