//! What was asked for, for a client and for each of its nodes.

#![cfg_attr(
    not(feature = "metrics"),
    expect(clippy::unused_self, reason = "it is used with the feature")
)]

use std::sync::Weak;
use std::time::Duration;

use tokio::runtime::Handle;

#[cfg(feature = "metrics")]
use std::sync::Arc;

#[cfg(feature = "metrics")]
use super::metrics::{self, Metrics, NodeMetrics, Recorder};
#[cfg(feature = "spans")]
use super::spans::Spans;
use crate::address::NodeConfig;
use crate::cluster::Cluster;
use crate::error::Result;

/// What a client was asked to let others see; nothing by default.
#[derive(Clone, Default)]
pub(crate) struct Observer {
    #[cfg(feature = "metrics")]
    pub(super) recorder: Option<Arc<Recorder>>,
    #[cfg(feature = "spans")]
    pub(super) spans: Option<Spans>,
}

impl Observer {
    /// Exports metrics from now on.
    #[cfg(feature = "metrics")]
    pub(crate) fn record(&mut self, metrics: Metrics) -> Result<()> {
        metrics.validate()?;
        self.recorder = Some(Arc::new(Recorder::new(metrics)));
        Ok(())
    }

    /// Makes spans from now on.
    #[cfg(feature = "spans")]
    pub(crate) fn trace(&mut self, spans: Spans) {
        self.spans = Some(spans);
    }

    /// Whether calls have anything to tell.
    #[inline]
    pub(super) fn watches_calls(&self) -> bool {
        #[cfg(feature = "metrics")]
        if self.recorder.is_some() {
            return true;
        }
        #[cfg(feature = "spans")]
        if self.spans.is_some() {
            return true;
        }
        false
    }

    pub(crate) fn node(&self, config: &NodeConfig) -> NodeWatch {
        #[cfg(not(feature = "metrics"))]
        let _ = config;
        NodeWatch {
            #[cfg(feature = "metrics")]
            metrics: self
                .recorder
                .as_ref()
                .map(|recorder| Arc::new(recorder.node(config))),
        }
    }

    /// Starts what is done now and then.
    pub(crate) fn start(&self, runtime: &Handle, cluster: Weak<Cluster>) {
        #[cfg(feature = "metrics")]
        if let Some(recorder) = &self.recorder
            && let Some(every) = recorder.every()
        {
            runtime.spawn(metrics::export_every(every, cluster));
        }
        #[cfg(not(feature = "metrics"))]
        let _ = (runtime, cluster);
    }

    /// Exports what the counters of the cluster and its nodes say now.
    #[cfg(feature = "metrics")]
    pub(crate) fn export(&self, cluster: &Cluster) {
        if let Some(recorder) = &self.recorder {
            recorder.export(cluster);
        }
    }

    /// The policy that orders reads may regard nodes in another way now.
    pub(crate) fn policy_ticked(&self, cluster: &Cluster) {
        #[cfg(feature = "metrics")]
        if self.recorder.is_some() {
            metrics::policy_ticked(cluster);
        }
        #[cfg(not(feature = "metrics"))]
        let _ = cluster;
    }
}

/// What others see of a node.
pub(crate) struct NodeWatch {
    #[cfg(feature = "metrics")]
    pub(super) metrics: Option<Arc<NodeMetrics>>,
}

impl NodeWatch {
    /// A connection was made, and took so long.
    pub(crate) fn connected(&self, took: Duration) {
        #[cfg(feature = "metrics")]
        if let Some(metrics) = &self.metrics {
            metrics.connected(took);
        }
        #[cfg(not(feature = "metrics"))]
        let _ = took;
    }

    /// So many bytes have come from it.
    #[inline]
    pub(crate) fn received(&self, bytes: usize) {
        #[cfg(feature = "metrics")]
        if let Some(metrics) = &self.metrics {
            metrics.received(bytes);
        }
        #[cfg(not(feature = "metrics"))]
        let _ = bytes;
    }

    /// So many bytes have been written to it.
    #[inline]
    pub(crate) fn sent(&self, bytes: usize) {
        #[cfg(feature = "metrics")]
        if let Some(metrics) = &self.metrics {
            metrics.sent(bytes);
        }
        #[cfg(not(feature = "metrics"))]
        let _ = bytes;
    }

    /// A key of a read of many was asked of it.
    pub(crate) fn looked_up<T>(&self, result: &Result<Option<T>>) {
        #[cfg(feature = "metrics")]
        if let Some(metrics) = &self.metrics {
            metrics.looked_up(match result {
                Ok(Some(_)) => metrics::Lookup::Hit,
                Ok(None) => metrics::Lookup::Miss,
                Err(_) => metrics::Lookup::Error,
            });
        }
        #[cfg(not(feature = "metrics"))]
        let _ = result;
    }
}
