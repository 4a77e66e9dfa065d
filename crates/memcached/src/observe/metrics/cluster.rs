//! What is exported of the cluster as a whole.

use std::sync::OnceLock;

use ::metrics::{Gauge, Label, gauge};

use super::names;
use super::observed::{Observed, number, with};
use crate::cluster::Cluster;
use crate::replication::ReplicationMetrics;

pub(super) struct ClusterMetrics {
    labels: Vec<Label>,
    nodes: Gauge,
    /// Made when there is a discovery.
    discovery: OnceLock<Discovery>,
    /// Made when there are replicas.
    replication: OnceLock<Replication>,
}

struct Discovery {
    taken: Observed,
    unchanged: Observed,
    failed: Observed,
}

struct Replication {
    reads: Observed,
    hedges: Observed,
    hedges_denied: Observed,
    cancelled: Observed,
    failovers: Observed,
    repairs: Observed,
}

impl ClusterMetrics {
    pub(super) fn new(labels: &[Label]) -> Self {
        Self {
            nodes: gauge!(names::NODES, labels.to_vec()),
            discovery: OnceLock::new(),
            replication: OnceLock::new(),
            labels: labels.to_vec(),
        }
    }

    pub(super) fn export(&self, cluster: &Cluster) {
        let nodes = cluster.members().nodes().count();
        self.nodes.set(number(nodes));
        if let Some(progress) = &cluster.discovery {
            let handles = self.discovery.get_or_init(|| Discovery::new(&self.labels));
            let counts = progress.metrics();
            handles.taken.export(counts.taken);
            handles.unchanged.export(counts.unchanged);
            handles.failed.export(counts.failed);
        }
        if let Some(replicator) = &cluster.replicator {
            let handles = self
                .replication
                .get_or_init(|| Replication::new(&self.labels));
            handles.export(&replicator.metrics());
        }
    }
}

impl Discovery {
    fn new(labels: &[Label]) -> Self {
        let outcome = |outcome| Observed::new(names::DISCOVERIES, with(labels, "outcome", outcome));
        Self {
            taken: outcome("taken"),
            unchanged: outcome("unchanged"),
            failed: outcome("failed"),
        }
    }
}

impl Replication {
    fn new(labels: &[Label]) -> Self {
        let observed = |name| Observed::new(name, labels.to_vec());
        let hedges = |outcome| Observed::new(names::HEDGES, with(labels, "outcome", outcome));
        Self {
            reads: observed(names::READS),
            hedges: hedges("sent"),
            hedges_denied: hedges("denied"),
            cancelled: observed(names::CANCELLED),
            failovers: observed(names::FAILOVERS),
            repairs: observed(names::REPAIRS),
        }
    }

    fn export(&self, metrics: &ReplicationMetrics) {
        self.reads.export(metrics.reads);
        self.hedges.export(metrics.hedges);
        self.hedges_denied.export(metrics.hedges_denied);
        self.cancelled.export(metrics.cancelled);
        self.failovers.export(metrics.failovers);
        self.repairs.export(metrics.repairs);
    }
}
