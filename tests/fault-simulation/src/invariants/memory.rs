//! Memory is bounded: connections, requests on them and requests that wait stay within the client's options,
//! bytes on the network within its window, and when all is over nothing is left.

use super::Violation;
use crate::history::History;

const NAME: &str = "memory";

/// The most bytes on one connection in one direction: the largest window there is.
const WINDOW: usize = 64 * 1024;

/// The most memory that a run takes, what it writes down included.
const MOST: u64 = 64 * 1024 * 1024;

/// What a thread keeps for later, such as slots that are used again, is no leak: it has a bound.
const KEPT: i64 = 256 * 1024;

pub(super) fn check(history: &History, found: &mut Vec<Violation>) {
    let mut report = |what: String| found.push(Violation::new(NAME, what));
    for sample in &history.samples {
        let (limits, metrics) = (&history.clients[sample.client], &sample.metrics);
        // While a name moves, or a connection is on its way out, another one stands in its place.
        let connections = 2 * limits.max_connections;
        let figures = [
            ("connections", metrics.cur_connections, connections),
            (
                "requests in flight",
                metrics.in_flight,
                connections.saturating_mul(limits.max_in_flight),
            ),
            ("requests waiting", metrics.waiting, limits.max_waiting),
        ];
        for (what, is, most) in figures {
            if is > most {
                let (client, node, at) = (sample.client, &sample.node, sample.when.at);
                report(format!(
                    "client {client}, node {node}, at {at:?}: {is} {what}, more than {most}"
                ));
            }
        }
    }
    let most = history.remains.most_under_way;
    if most > WINDOW {
        report(format!(
            "{most} bytes were under way on a connection, more than {WINDOW}"
        ));
    }
}

/// What is wrong with the memory of a whole run: the most that it took at a time, and what is left of it.
pub(crate) fn footprint(most: u64, left: i64) -> Vec<Violation> {
    let mut found = Vec::new();
    if most > MOST {
        found.push(Violation::new(
            NAME,
            format!("the run took {most} bytes, more than {MOST}"),
        ));
    }
    if left > KEPT {
        found.push(Violation::new(
            NAME,
            format!("{left} bytes were not given back"),
        ));
    }
    found
}

#[cfg(test)]
mod tests {
    use steersman_memcached::PoolMetrics;

    use super::*;
    use crate::history::{Limits, Sample};
    use crate::invariants::testing::{history, moment, names};

    fn found(change: impl FnOnce(&mut PoolMetrics)) -> Vec<&'static str> {
        let mut history = history([], []);
        history.clients.push(Limits {
            max_connections: 2,
            max_in_flight: 3,
            max_waiting: 4,
            is_plain: true,
        });
        let mut metrics = PoolMetrics::default();
        change(&mut metrics);
        history.samples.push(Sample {
            when: moment(1),
            client: 0,
            node: "n".to_owned(),
            metrics,
        });
        names(|found| check(&history, found))
    }

    #[test]
    fn more_than_the_options_allow_is_found() {
        let most = |metrics: &mut PoolMetrics| {
            (metrics.cur_connections, metrics.in_flight, metrics.waiting) = (4, 12, 4);
        };
        assert!(found(most).is_empty());
        assert_eq!(found(|metrics| metrics.cur_connections = 5), [NAME]);
        assert_eq!(found(|metrics| metrics.in_flight = 13), [NAME]);
        assert_eq!(found(|metrics| metrics.waiting = 5), [NAME]);
    }

    #[test]
    fn so_are_bytes_under_way_and_memory_that_is_not_given_back() {
        let mut history = history([], []);
        history.remains.most_under_way = WINDOW + 1;
        assert_eq!(names(|found| check(&history, found)), [NAME]);
        assert!(footprint(MOST, KEPT).is_empty());
        assert_eq!(footprint(MOST + 1, 0).len(), 1);
        assert_eq!(footprint(0, KEPT + 1).len(), 1);
    }
}
