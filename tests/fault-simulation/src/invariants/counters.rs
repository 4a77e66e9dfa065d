//! Counters balance: connections made are those closed and those that stand, and where each call is one
//! request of one node, the results that nodes have counted are the calls.

use steersman_memcached::PoolMetrics;

use super::Violation;
use crate::history::{Asked, Call, History, Outcome};

const NAME: &str = "counters";

pub(super) fn check(history: &History, found: &mut Vec<Violation>) {
    let mut report = |what: String| found.push(Violation::new(NAME, what));
    for sample in &history.samples {
        if let Some(what) = imbalance(&sample.metrics) {
            report(format!(
                "client {}, node {}, at {:?}: {what}",
                sample.client, sample.node, sample.when.at
            ));
        }
    }
    for (client, pools) in history.closed.iter().enumerate() {
        for (node, metrics) in pools {
            if let Some(what) = imbalance(metrics) {
                report(format!("closed client {client}, node {node}: {what}"));
            }
            let PoolMetrics {
                cur_connections,
                in_flight,
                waiting,
                ..
            } = *metrics;
            if cur_connections + in_flight + waiting > 0 {
                report(format!(
                    "closed client {client}, node {node}: {cur_connections} connections, {in_flight} requests \
                     in flight and {waiting} waiting"
                ));
            }
        }
        if history.clients[client].is_plain {
            let made = calls_of_nodes(history, client);
            let counted: u64 = pools.iter().map(|(_, metrics)| results(metrics)).sum();
            if made != counted {
                report(format!(
                    "client {client} has made {made} calls, and counted {counted} results"
                ));
            }
        }
    }
}

fn results(metrics: &PoolMetrics) -> u64 {
    metrics.operations_executed
        + metrics.operations_executed_with_error
        + metrics.operations_cancelled
}

fn imbalance(metrics: &PoolMetrics) -> Option<String> {
    let PoolMetrics {
        cur_connections,
        connections_created: made,
        connections_closed: closed,
        connections_purged: purged,
        reconnects,
        ..
    } = *metrics;
    let stand = cur_connections as u64;
    let balances = made == closed + stand && purged <= closed && reconnects <= made;
    (!balances).then(|| {
        format!(
            "{made} connections made, {reconnects} of them again, {closed} closed, {purged} of them as unused, \
             {stand} stand"
        )
    })
}

/// How many calls of a client came to a node.
fn calls_of_nodes(history: &History, client: usize) -> u64 {
    let came = |call: &&Call| {
        let failed_before = matches!(call.outcome, Outcome::Failed { at_node: false, .. });
        let is_part = matches!(call.asked, Asked::OneOfMany { .. });
        call.client == client && !failed_before && !is_part
    };
    history.calls.iter().filter(came).count() as u64 + history.probes[client]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{Limits, Sample};
    use crate::invariants::testing::{call, history, moment, names};

    fn metrics(change: impl FnOnce(&mut PoolMetrics)) -> PoolMetrics {
        let mut metrics = PoolMetrics::default();
        change(&mut metrics);
        metrics
    }

    #[test]
    fn connections_that_do_not_add_up_are_found() {
        let found = |metrics| {
            let mut history = history([], []);
            history.samples.push(Sample {
                when: moment(1),
                client: 0,
                node: "n".to_owned(),
                metrics,
            });
            names(|found| check(&history, found))
        };
        let balanced = |metrics: &mut PoolMetrics| {
            metrics.connections_created = 3;
            metrics.connections_closed = 2;
            metrics.connections_purged = 2;
            metrics.cur_connections = 1;
        };
        assert!(found(metrics(balanced)).is_empty());
        for change in [
            |metrics: &mut PoolMetrics| metrics.connections_created = 4,
            |metrics: &mut PoolMetrics| metrics.connections_purged = 3,
            |metrics: &mut PoolMetrics| metrics.reconnects = 4,
        ] {
            let mut wrong = metrics(balanced);
            change(&mut wrong);
            assert_eq!(found(wrong), [NAME]);
        }
    }

    #[test]
    fn results_that_are_not_the_calls_and_what_is_left_when_all_is_closed_are_found() {
        let found = |is_plain, metrics| {
            let mut one = call("a", Asked::Value, 1, 2);
            one.outcome = Outcome::Miss;
            let mut history = history([one, call("a", Asked::Value, 3, 4)], []);
            history.clients.push(Limits {
                max_connections: 1,
                max_in_flight: 1,
                max_waiting: 1,
                is_plain,
            });
            history.probes = vec![1];
            history.closed = vec![vec![("n".to_owned(), metrics)]];
            names(|found| check(&history, found))
        };
        let right = metrics(|metrics| {
            metrics.operations_executed = 1;
            metrics.operations_executed_with_error = 1;
            metrics.operations_cancelled = 1;
        });
        assert!(found(true, right).is_empty());
        assert_eq!(found(true, PoolMetrics::default()), [NAME]);
        assert!(found(false, PoolMetrics::default()).is_empty());
        assert_eq!(
            found(false, metrics(|metrics| metrics.in_flight = 1)),
            [NAME]
        );
        assert_eq!(found(false, metrics(|metrics| metrics.waiting = 1)), [NAME]);
    }
}
