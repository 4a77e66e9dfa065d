//! Calls by operation and outcome. The handles of a pair are made when it is first met.

use std::sync::OnceLock;
use std::time::Duration;

use ::metrics::{Counter, Histogram, Label, counter, histogram};

use super::names;
use crate::address::{Endpoint, NodeConfig};
use crate::observe::operation::Operation;
use crate::observe::outcome::Outcome;

/// Counts the calls to one node, or those to several.
pub(crate) struct Calls {
    ended: &'static str,
    duration: &'static str,
    labels: Vec<Label>,
    handles: [OnceLock<Box<ByOutcome>>; Operation::COUNT],
}

type ByOutcome = [OnceLock<Handles>; Outcome::COUNT];

struct Handles {
    ended: Counter,
    duration: OnceLock<Histogram>,
}

impl Calls {
    pub(super) fn of_several_nodes(common: &[Label]) -> Self {
        let mut labels = common.to_vec();
        labels.push(Label::from_static_parts("node", ""));
        Self::new(names::OPERATIONS, names::DURATION, labels)
    }

    pub(super) fn of_node(node: &NodeConfig, common: &[Label]) -> Self {
        Self::new(names::OPERATIONS, names::DURATION, labels(node, common))
    }

    pub(super) fn attempts(node: &NodeConfig, common: &[Label]) -> Self {
        Self::new(
            names::ATTEMPTS,
            names::ATTEMPT_DURATION,
            labels(node, common),
        )
    }

    fn new(ended: &'static str, duration: &'static str, labels: Vec<Label>) -> Self {
        Self {
            ended,
            duration,
            labels,
            handles: [const { OnceLock::new() }; Operation::COUNT],
        }
    }

    /// Counts a call that has ended, and how long it took if that is known.
    pub(in crate::observe) fn count(
        &self,
        operation: Operation,
        outcome: Outcome,
        took: Option<Duration>,
    ) {
        let by_outcome = self.handles[operation.index()]
            .get_or_init(|| Box::new([const { OnceLock::new() }; Outcome::COUNT]));
        let handles = by_outcome[outcome.index()].get_or_init(|| Handles {
            ended: counter!(self.ended, self.labels_of(operation, outcome)),
            duration: OnceLock::new(),
        });
        handles.ended.increment(1);
        if let Some(took) = took {
            let duration = handles
                .duration
                .get_or_init(|| histogram!(self.duration, self.labels_of(operation, outcome)));
            duration.record(took);
        }
    }

    fn labels_of(&self, operation: Operation, outcome: Outcome) -> Vec<Label> {
        let mut labels = self.labels.clone();
        let mut add = |name, value| labels.push(Label::from_static_parts(name, value));
        add("db.system.name", "memcached");
        add("db.operation.name", operation.name());
        add("outcome", outcome.as_str());
        if let Some(error) = outcome.error_type() {
            add("error.type", error);
        }
        labels
    }
}

/// The labels of calls to a node.
fn labels(node: &NodeConfig, common: &[Label]) -> Vec<Label> {
    let mut labels = common.to_vec();
    let mut add = |name: &'static str, value| labels.push(Label::new(name, value));
    add("node", node.name().to_owned());
    match node.endpoint() {
        Endpoint::Tcp { host, port } => {
            add("server.address", host.clone());
            add("server.port", port.to_string());
        }
        Endpoint::Unix(path) => add("server.address", path.display().to_string()),
    }
    labels
}
