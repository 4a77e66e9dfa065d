//! What a node's pool has done so far, counted.

use std::collections::VecDeque;
use std::time::Duration;

/// How many of the latest connects the percentiles are taken from.
const CONNECT_SAMPLES: usize = 1024;

/// The figures of one node's connection pool since the client was built.
///
/// From [`Client::connection_pool_metrics`](crate::Client::connection_pool_metrics). An operation
/// counts in exactly one of `operations_executed`, `operations_executed_with_error` and
/// `operations_cancelled`, when it ends; of a `get_many` each request line is one. A `noreply`
/// operation ends when it is on a connection, one whose future was dropped while it was there when
/// its reply is discarded.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct PoolMetrics {
    /// Connections that stand now.
    pub cur_connections: usize,
    /// Requests on connections now, abandoned ones included.
    pub in_flight: usize,
    /// Requests that wait for a place or a connection now.
    pub waiting: usize,
    /// Connections made.
    pub connections_created: u64,
    /// Attempts to connect that failed.
    pub connections_created_with_error: u64,
    /// Connections made after one had failed or was lost.
    pub reconnects: u64,
    /// Idle connections closed because they were not needed.
    pub connections_purged: u64,
    /// Connections closed for whatever reason, purged ones included.
    pub connections_closed: u64,
    /// Operations that the server answered.
    pub operations_executed: u64,
    /// Operations that ended in an error, be it the server's error line or an outage.
    pub operations_executed_with_error: u64,
    /// Operations whose future was dropped before they ended.
    pub operations_cancelled: u64,
    /// Operations that had to wait for a place or a connection.
    pub operations_waited: u64,
    /// How often the node became unhealthy.
    pub times_unhealthy: u64,
    /// Mean time to connect, over the latest 1,024 connections; `None` before the first.
    pub create_connection_avg: Option<Duration>,
    /// Median time to connect.
    pub create_connection_p50: Option<Duration>,
    /// 99th percentile of the time to connect.
    pub create_connection_p99: Option<Duration>,
    /// Longest time to connect.
    pub create_connection_upper: Option<Duration>,
}

/// How an operation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    Executed,
    Failed,
    Cancelled,
}

/// Counters of operations. They live under the node's lock, and whoever has it anyhow counts: a
/// connection's driver counts all that it has answered at once.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct OperationCounters {
    executed: u64,
    failed: u64,
    cancelled: u64,
}

impl OperationCounters {
    pub(crate) fn count(&mut self, ended: Ended) {
        match ended {
            Ended::Executed => self.executed += 1,
            Ended::Failed => self.failed += 1,
            Ended::Cancelled => self.cancelled += 1,
        }
    }

    /// Counts one that was counted as executed as failed.
    pub(crate) fn recount(&mut self) {
        self.executed = self.executed.saturating_sub(1);
        self.failed += 1;
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.executed += other.executed;
        self.failed += other.failed;
        self.cancelled += other.cancelled;
    }

    pub(crate) fn write_to(&self, metrics: &mut PoolMetrics) {
        metrics.operations_executed = self.executed;
        metrics.operations_executed_with_error = self.failed;
        metrics.operations_cancelled = self.cancelled;
    }
}

/// Counters of connections; they live under the node's lock.
#[derive(Debug, Default)]
pub(crate) struct ConnectionCounters {
    pub(crate) created: u64,
    pub(crate) created_with_error: u64,
    reconnects: u64,
    /// Whether a connection has failed or was lost since the last one was made.
    broken: bool,
    pub(crate) purged: u64,
    pub(crate) closed: u64,
    pub(crate) waited: u64,
    pub(crate) unhealthy: u64,
    connects: VecDeque<Duration>,
}

impl ConnectionCounters {
    pub(crate) fn connected(&mut self, took: Duration) {
        self.created += 1;
        self.reconnects += u64::from(std::mem::take(&mut self.broken));
        if self.connects.len() == CONNECT_SAMPLES {
            self.connects.pop_front();
        }
        self.connects.push_back(took);
    }

    /// A connection has failed or was lost.
    pub(crate) fn broke(&mut self) {
        self.broken = true;
    }

    pub(crate) fn write_to(&self, metrics: &mut PoolMetrics) {
        metrics.connections_created = self.created;
        metrics.reconnects = self.reconnects;
        metrics.times_unhealthy = self.unhealthy;
        metrics.connections_created_with_error = self.created_with_error;
        metrics.connections_purged = self.purged;
        metrics.connections_closed = self.closed;
        metrics.operations_waited = self.waited;
        let mut sorted: Vec<Duration> = self.connects.iter().copied().collect();
        sorted.sort_unstable();
        let Some(&upper) = sorted.last() else { return };
        let count = u32::try_from(sorted.len()).unwrap_or(u32::MAX);
        let rank = |percent: usize| sorted.get((sorted.len() * percent).div_ceil(100).max(1) - 1);
        metrics.create_connection_avg = Some(sorted.iter().sum::<Duration>() / count);
        metrics.create_connection_p50 = rank(50).copied();
        metrics.create_connection_p99 = rank(99).copied();
        metrics.create_connection_upper = Some(upper);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_latest_connects() {
        let mut counters = ConnectionCounters::default();
        let mut metrics = PoolMetrics::default();
        counters.write_to(&mut metrics);
        assert_eq!(metrics.create_connection_p99, None);
        counters.connected(Duration::from_secs(999));
        for _ in 0..10 {
            for ms in 1..=100 {
                counters.connected(Duration::from_millis(ms));
            }
        }
        for _ in 0..24 {
            counters.connected(Duration::from_millis(50));
        }
        counters.write_to(&mut metrics);
        assert_eq!(metrics.connections_created, 1025);
        assert_eq!(
            metrics.create_connection_upper,
            Some(Duration::from_millis(100))
        );
        assert_eq!(
            metrics.create_connection_p50,
            Some(Duration::from_millis(50))
        );
        assert_eq!(
            metrics.create_connection_p99,
            Some(Duration::from_millis(99))
        );
    }
}
