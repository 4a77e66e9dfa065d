//! Metrics, by the facade of the crate `metrics`.
//!
//! [`names`] is the list of what there is. Most of it is read from the counters of nodes and the
//! cluster, when it is asked for or now and then ([`Recorder::export`]); calls are counted as they
//! end ([`calls`]), with handles that are made once.

mod calls;
mod cluster;
mod names;
mod node;
mod observed;

use std::sync::{Mutex, PoisonError, Weak};
use std::time::Duration;

use ::metrics::Label;
use tokio::time::MissedTickBehavior;

use self::calls::Calls;
use self::cluster::ClusterMetrics;
pub(super) use self::node::{Lookup, NodeMetrics};
use crate::address::NodeConfig;
use crate::cluster::Cluster;
use crate::error::{Error, Result};

/// That metrics are exported, and which; for [`Builder::metrics`](crate::Builder::metrics).
///
/// They go to the recorder of the crate [`metrics`](https://docs.rs/metrics) that is installed when
/// the client is built. Names, units and labels are listed in the project's page on observability.
///
/// ```
/// use std::time::Duration;
/// use steersman_memcached::{Client, Metrics};
///
/// let metrics = Metrics::new().durations(true).label("cache", "sessions");
/// let client = Client::builder().node("localhost:11211").metrics(metrics).build()?;
/// # Ok::<(), steersman_memcached::Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "metrics do nothing until they are given to a builder"]
pub struct Metrics {
    every: Option<Duration>,
    durations: bool,
    labels: Vec<Label>,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            every: Some(Duration::from_secs(1)),
            durations: false,
            labels: Vec::new(),
        }
    }
}

impl Metrics {
    /// All but durations, brought up to date once a second.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether how long each call takes goes to a histogram; off by default, as the clock is read
    /// twice for it.
    pub fn durations(mut self, on: bool) -> Self {
        self.durations = on;
        self
    }

    /// How often what the client counts anyhow is exported; above zero, 1 s by default. With `None`
    /// only [`Client::export_metrics`](crate::Client::export_metrics) does it.
    pub fn every(mut self, interval: impl Into<Option<Duration>>) -> Self {
        self.every = interval.into();
        self
    }

    /// Adds a label to every metric of the client. Clients of one process that have nodes in common
    /// need one that tells them apart, or they overwrite each other's gauges.
    pub fn label(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.labels.push(Label::new(name.into(), value.into()));
        self
    }

    pub(super) fn validate(&self) -> Result<()> {
        if self.every.is_some_and(|every| every.is_zero()) {
            return Err(Error::config(
                "metrics",
                "the interval must be above zero; None turns it off",
            ));
        }
        Ok(())
    }
}

/// Where a client's metrics go.
pub(crate) struct Recorder {
    options: Metrics,
    /// Calls that are not of one node.
    calls: Calls,
    cluster: ClusterMetrics,
    /// Whoever exports: two at a time would export some changes twice.
    exporting: Mutex<()>,
}

impl Recorder {
    pub(super) fn new(options: Metrics) -> Self {
        names::describe();
        Self {
            calls: Calls::of_several_nodes(&options.labels),
            cluster: ClusterMetrics::new(&options.labels),
            exporting: Mutex::new(()),
            options,
        }
    }

    pub(super) fn node(&self, config: &NodeConfig) -> NodeMetrics {
        NodeMetrics::new(config, &self.options.labels)
    }

    pub(super) fn durations(&self) -> bool {
        self.options.durations
    }

    pub(super) fn every(&self) -> Option<Duration> {
        self.options.every
    }

    pub(super) fn calls(&self) -> &Calls {
        &self.calls
    }

    pub(super) fn export(&self, cluster: &Cluster) {
        let _exporting = self
            .exporting
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let members = cluster.members();
        for node in members.nodes() {
            node.export_metrics();
        }
        self.cluster.export(cluster);
    }
}

/// Exports now and then, until the cluster is closed or gone.
pub(super) async fn export_every(every: Duration, cluster: Weak<Cluster>) {
    let mut ticks = tokio::time::interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let Some(cluster) = cluster.upgrade() else {
            return;
        };
        cluster.options.observer.export(&cluster);
        if cluster.is_closed() {
            return;
        }
    }
}

/// Tells the nodes of a replicated cluster how the policy regards them.
pub(super) fn policy_ticked(cluster: &Cluster) {
    let Some(replicator) = &cluster.replicator else {
        return;
    };
    let members = cluster.members();
    for node in members.nodes() {
        let report = cluster
            .index_of(node.name())
            .and_then(|index| replicator.report(index));
        if let (Some(metrics), Some(report)) = (&node.watch().metrics, report) {
            metrics.regarded(&report);
        }
    }
}
