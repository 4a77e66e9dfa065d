//! What is exported of one node.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ::metrics::{Counter, Gauge, Histogram, Label, counter, gauge, histogram};
use steersman_selection::{Condition, NodeReport};

use super::calls::Calls;
use super::names;
use super::observed::{Observed, number, with};
use crate::address::NodeConfig;
use crate::error::ErrorKind;
use crate::metrics::PoolMetrics;
use crate::node::Node;
use crate::observe::outcome::Outcome;
use crate::options::Options;

/// The handles of a node's metrics.
pub(crate) struct NodeMetrics {
    labels: Vec<Label>,
    calls: Calls,
    /// What it is asked as a replica.
    attempts: Calls,
    lookups: [Counter; 3],
    found_no_place: Counter,
    create_time: Histogram,
    batch_keys: Histogram,
    batch_requests: Histogram,
    bytes_read: AtomicU64,
    bytes_written: AtomicU64,
    pool: Pool,
    /// None until the policy has said how it regards the node.
    regard: Mutex<Option<Regard>>,
}

/// What became of a key whose value the node was asked for.
#[derive(Debug, Clone, Copy)]
pub(in crate::observe) enum Lookup {
    Hit,
    Miss,
    Error,
}

impl From<Outcome> for Lookup {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            // The node had a value, if none that the codec understands.
            Outcome::Failed(ErrorKind::Codec) => Self::Hit,
            Outcome::Failed(_) => Self::Error,
            Outcome::Miss => Self::Miss,
            // A meta get may find an item without asking for its value.
            _ => Self::Hit,
        }
    }
}

/// What the node's own counters say.
struct Pool {
    used: Gauge,
    idle: Gauge,
    max: Gauge,
    min: Gauge,
    waiting: Gauge,
    in_flight: Gauge,
    healthy: Gauge,
    answered: Observed,
    failed: Observed,
    cancelled: Observed,
    waited: Observed,
    read: Observed,
    written: Observed,
    opened: Observed,
    reconnected: Observed,
    refused: Observed,
    closed: Observed,
    purged: Observed,
    became_healthy: Observed,
    became_unhealthy: Observed,
}

/// How the policy regards the node.
struct Regard {
    last: &'static str,
    score: Gauge,
    penalised: Gauge,
}

impl NodeMetrics {
    pub(super) fn new(config: &NodeConfig, common: &[Label]) -> Self {
        let mut labels = common.to_vec();
        labels.push(Label::new("node", config.name().to_owned()));
        Self {
            calls: Calls::of_node(config, common),
            attempts: Calls::attempts(config, common),
            lookups: ["hit", "miss", "error"]
                .map(|outcome| counter!(names::LOOKUPS, with(&labels, "outcome", outcome))),
            found_no_place: counter!(names::FOUND_NO_PLACE, of_pool(&labels, config)),
            create_time: histogram!(names::CREATE_TIME, of_pool(&labels, config)),
            batch_keys: histogram!(names::BATCH_KEYS, labels.clone()),
            batch_requests: histogram!(names::BATCH_REQUESTS, labels.clone()),
            bytes_read: AtomicU64::new(0),
            bytes_written: AtomicU64::new(0),
            pool: Pool::new(&labels, config),
            regard: Mutex::new(None),
            labels,
        }
    }

    /// Where calls to it are counted, or attempts.
    pub(in crate::observe) fn calls(&self, attempts: bool) -> &Calls {
        if attempts {
            &self.attempts
        } else {
            &self.calls
        }
    }

    pub(in crate::observe) fn looked_up(&self, lookup: Lookup) {
        self.lookups[lookup as usize].increment(1);
    }

    pub(in crate::observe) fn found_no_place(&self) {
        self.found_no_place.increment(1);
    }

    pub(in crate::observe) fn connected(&self, took: Duration) {
        self.create_time.record(took);
    }

    pub(in crate::observe) fn received(&self, bytes: usize) {
        self.bytes_read.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(in crate::observe) fn sent(&self, bytes: usize) {
        self.bytes_written
            .fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(in crate::observe) fn batch(&self, requests: usize, keys: &[u32]) {
        self.batch_requests.record(number(requests));
        for &keys in keys {
            self.batch_keys.record(keys);
        }
    }

    /// The policy regards the node like this.
    pub(super) fn regarded(&self, report: &NodeReport) {
        let state = state_of(report.condition);
        let mut regard = self.regard.lock().unwrap_or_else(PoisonError::into_inner);
        let regard = regard.get_or_insert_with(|| {
            for to in ["normal", "penalised", "recovering", "joining"] {
                counter!(names::TRANSITIONS, with(&self.labels, "to", to)).increment(0);
            }
            Regard {
                last: state,
                score: gauge!(names::SCORE, self.labels.clone()),
                penalised: gauge!(names::PENALISED, self.labels.clone()),
            }
        });
        if std::mem::replace(&mut regard.last, state) != state {
            counter!(names::TRANSITIONS, with(&self.labels, "to", state)).increment(1);
        }
        let penalised = report.condition.is_penalised();
        regard.penalised.set(f64::from(u8::from(penalised)));
        if let Some(score) = report.score.filter(|score| score.average_nanos >= 0) {
            let average = Duration::from_nanos(score.average_nanos.unsigned_abs());
            regard.score.set(average.as_secs_f64());
        }
    }

    /// Exports what the node has counted.
    fn export(&self, metrics: &PoolMetrics, idle: usize, healthy: bool, options: &Options) {
        let pool = &self.pool;
        pool.idle.set(number(idle));
        pool.used
            .set(number(metrics.cur_connections.saturating_sub(idle)));
        pool.max.set(number(options.max_connections));
        pool.min.set(number(options.min_connections));
        pool.waiting.set(number(metrics.waiting));
        pool.in_flight.set(number(metrics.in_flight));
        pool.healthy.set(f64::from(u8::from(healthy)));
        pool.answered.export(metrics.operations_executed);
        pool.failed.export(metrics.operations_executed_with_error);
        pool.cancelled.export(metrics.operations_cancelled);
        pool.waited.export(metrics.operations_waited);
        pool.read.export(self.bytes_read.load(Ordering::Relaxed));
        pool.written
            .export(self.bytes_written.load(Ordering::Relaxed));
        pool.opened.export(metrics.connections_created);
        pool.reconnected.export(metrics.reconnects);
        pool.refused.export(metrics.connections_created_with_error);
        pool.closed.export(metrics.connections_closed);
        pool.purged.export(metrics.connections_purged);
        let unhealthy = metrics.times_unhealthy;
        pool.became_unhealthy.export(unhealthy);
        pool.became_healthy
            .export(unhealthy.saturating_sub(u64::from(!healthy)));
    }

    /// The node is no member any more: nothing is left of what there was.
    fn forget(&self) {
        let pool = &self.pool;
        for gauge in [
            &pool.used,
            &pool.idle,
            &pool.max,
            &pool.min,
            &pool.waiting,
            &pool.in_flight,
            &pool.healthy,
        ] {
            gauge.set(0);
        }
        let regard = self.regard.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(regard) = &*regard {
            regard.penalised.set(0);
        }
    }
}

impl Pool {
    fn new(labels: &[Label], config: &NodeConfig) -> Self {
        let pool = of_pool(labels, config);
        let state = |state| with(&pool, "db.client.connection.state", state);
        let outcome = |outcome| Observed::new(names::REQUESTS, with(labels, "outcome", outcome));
        let direction = |way| Observed::new(names::IO, with(labels, "direction", way));
        let change = |to| Observed::new(names::HEALTH_CHANGES, with(labels, "to", to));
        let observed = |name| Observed::new(name, labels.to_vec());
        Self {
            used: gauge!(names::CONNECTIONS, state("used")),
            idle: gauge!(names::CONNECTIONS, state("idle")),
            max: gauge!(names::MAX_CONNECTIONS, pool.clone()),
            min: gauge!(names::MIN_CONNECTIONS, pool.clone()),
            waiting: gauge!(names::WAITING, pool.clone()),
            in_flight: gauge!(names::IN_FLIGHT, labels.to_vec()),
            healthy: gauge!(names::HEALTHY, labels.to_vec()),
            answered: outcome("answered"),
            failed: outcome("failed"),
            cancelled: outcome("cancelled"),
            waited: observed(names::WAITED),
            read: direction("read"),
            written: direction("written"),
            opened: observed(names::OPENED),
            reconnected: observed(names::RECONNECTED),
            refused: observed(names::REFUSED),
            closed: observed(names::CLOSED),
            purged: observed(names::PURGED),
            became_healthy: change("healthy"),
            became_unhealthy: change("unhealthy"),
        }
    }
}

impl Node {
    pub(super) fn export_metrics(&self) {
        if let Some(metrics) = &self.watch().metrics {
            metrics.export(
                &self.metrics(),
                self.idle_connections(),
                self.is_healthy(),
                self.options(),
            );
        }
    }
}

impl Drop for Node {
    /// What it has counted since the last export is exported.
    fn drop(&mut self) {
        self.export_metrics();
        if let Some(metrics) = &self.watch().metrics {
            metrics.forget();
        }
    }
}

/// The labels of a connection pool, as the conventions have them.
fn of_pool(labels: &[Label], config: &NodeConfig) -> Vec<Label> {
    let mut labels = labels.to_vec();
    labels.push(Label::new(
        "db.client.connection.pool.name",
        config.name().to_owned(),
    ));
    labels
}

/// In a few words, how the policy regards a node.
fn state_of(condition: Condition) -> &'static str {
    match condition {
        Condition::Penalised | Condition::Probed(_) => "penalised",
        Condition::Recovering => "recovering",
        Condition::Joining => "joining",
        _ => "normal",
    }
}
