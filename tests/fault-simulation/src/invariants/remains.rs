//! When all is closed nothing is left hanging: no call, no task, no connection.

use super::Violation;
use crate::history::{History, Remains};

const NAME: &str = "remains";

pub(super) fn check(history: &History, found: &mut Vec<Violation>) {
    let Remains {
        calls,
        tasks,
        connections,
        ..
    } = &history.remains;
    let mut report = |what: String| found.push(Violation::new(NAME, what));
    if *calls > 0 {
        report(format!("{calls} calls have never ended"));
    }
    if *tasks > 0 {
        report(format!(
            "{tasks} tasks go on when clients and servers are gone"
        ));
    }
    for (client, open) in connections
        .iter()
        .enumerate()
        .filter(|(_, open)| **open > 0)
    {
        report(format!(
            "client {client} was closed, and {open} of its connections are open"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::testing::{history, names};

    #[test]
    fn calls_tasks_and_connections_that_are_left_are_found() {
        let mut history = history([], []);
        history.remains.connections = vec![0, 0];
        assert!(names(|found| check(&history, found)).is_empty());
        history.remains.calls = 1;
        history.remains.tasks = 2;
        history.remains.connections = vec![0, 3];
        assert_eq!(names(|found| check(&history, found)), [NAME; 3]);
    }
}
