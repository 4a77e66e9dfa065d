//! What a connection's driver takes to the wire at a time.

use steersman_memcached_protocol::Outbox;

use super::NodeWatch;
use crate::node::{Node, Token};

/// Notes a batch while the node is locked, and tells of it afterwards.
#[derive(Default)]
pub(crate) struct BatchWatch {
    requests: usize,
    /// How many keys there are in each line of reads.
    keys: Vec<u32>,
}

impl BatchWatch {
    /// The driver is about to take these requests.
    #[inline]
    pub(crate) fn note(&mut self, watch: &NodeWatch, outbox: &Outbox<Token>) {
        if !outbox.is_empty() && is_watched(watch) {
            self.requests = outbox.len();
            self.keys.extend(outbox.keys_by_line());
        }
    }

    /// Tells of the requests that were noted, if any were.
    #[inline]
    pub(crate) fn tell(&mut self, node: &Node, connection: u64) {
        if self.requests > 0 {
            self.tell_of(node, connection);
        }
    }

    fn tell_of(&mut self, node: &Node, connection: u64) {
        #[cfg(feature = "metrics")]
        if let Some(metrics) = &node.watch().metrics {
            metrics.batch(self.requests, &self.keys);
        }
        #[cfg(feature = "spans")]
        tracing::trace!(
            target: super::targets::BATCH,
            node = %node.name(),
            connection,
            requests = self.requests,
            lines_of_reads = self.keys.len(),
            keys = self.keys.iter().sum::<u32>(),
            "requests taken"
        );
        #[cfg(not(feature = "spans"))]
        let _ = connection;
        self.requests = 0;
        self.keys.clear();
    }
}

/// Whether anybody wants to know of batches.
fn is_watched(watch: &NodeWatch) -> bool {
    #[cfg(feature = "metrics")]
    if watch.metrics.is_some() {
        return true;
    }
    #[cfg(not(feature = "metrics"))]
    let _ = watch;
    #[cfg(feature = "spans")]
    if tracing::enabled!(target: super::targets::BATCH, tracing::Level::TRACE) {
        return true;
    }
    false
}
