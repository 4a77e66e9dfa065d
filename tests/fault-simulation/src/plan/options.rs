//! How a client is configured, and its load.

use std::time::Duration;

use steersman_memcached::{Backoff, Builder, Client};

use crate::chance::Chance;
use crate::history::Limits;

/// One client. Times are short, so that much happens in little virtual time.
#[derive(Debug, Clone, Hash)]
pub(crate) struct ClientPlan {
    pub(crate) tasks: usize,
    pub(crate) timeout: Duration,
    pub(crate) purge_unhealthy_nodes: bool,
    max_connections: usize,
    min_connections: usize,
    connection_timeout: Duration,
    stalled_after: Duration,
    purge_unused_after: Duration,
    backoff_initial: Duration,
    backoff_max: Duration,
    max_in_flight: usize,
    max_waiting: usize,
    open_connection_above: usize,
    autobatching: bool,
    autobatching_max_keys: usize,
    unhealthy_after: u32,
    resolve_interval: Duration,
    discovery_interval: Duration,
}

impl ClientPlan {
    pub(super) fn draw(chance: &mut Chance) -> Self {
        let max_connections = chance.size(1..=3);
        let backoff_initial = chance.millis(10..=200);
        Self {
            tasks: chance.size(2..=6),
            timeout: chance.millis(20..=600),
            purge_unhealthy_nodes: chance.one_in(4),
            max_connections,
            min_connections: chance.size(0..=max_connections),
            connection_timeout: chance.millis(50..=1_000),
            stalled_after: chance.millis(50..=1_000),
            purge_unused_after: chance.millis(100..=2_000),
            backoff_initial,
            backoff_max: backoff_initial + chance.millis(0..=1_000),
            max_in_flight: *chance.pick(&[1, 2, 4, 16, 1_024]),
            max_waiting: *chance.pick(&[0, 1, 4, 64, 16_384]),
            open_connection_above: *chance.pick(&[0, 1, 4, 32]),
            autobatching: !chance.one_in(4),
            autobatching_max_keys: *chance.pick(&[1, 2, 5, 32]),
            unhealthy_after: *chance.pick(&[1, 2, 3]),
            resolve_interval: chance.millis(100..=1_000),
            discovery_interval: chance.millis(100..=1_000),
        }
    }

    /// A builder with all of that.
    pub(crate) fn builder(&self) -> Builder {
        Client::builder()
            .timeout(self.timeout)
            .purge_unhealthy_nodes(self.purge_unhealthy_nodes)
            .max_connections(self.max_connections)
            .min_connections(self.min_connections)
            .connection_timeout(self.connection_timeout)
            .stalled_after(self.stalled_after)
            .purge_unused_connections_after(self.purge_unused_after)
            .backoff(Backoff {
                initial: self.backoff_initial,
                max: self.backoff_max,
                ..Backoff::default()
            })
            .max_in_flight(self.max_in_flight)
            .max_waiting(self.max_waiting)
            .open_connection_above(self.open_connection_above)
            .autobatching(self.autobatching)
            .autobatching_max_keys(self.autobatching_max_keys)
            .unhealthy_after(self.unhealthy_after)
            .resolve_interval(self.resolve_interval)
            .discovery_interval(self.discovery_interval)
    }

    pub(crate) fn limits(&self, is_plain: bool) -> Limits {
        Limits {
            max_connections: self.max_connections,
            max_in_flight: self.max_in_flight,
            max_waiting: self.max_waiting,
            is_plain,
        }
    }

    /// When, after the last fault, all has to be well again: the attempt to connect that was under way has
    /// run out, the longest wait is over, names and members were asked for twice, and the next attempt has
    /// been made.
    pub(super) fn convalescence(&self) -> Duration {
        let stale = self.stalled_after + self.connection_timeout + self.backoff_max;
        stale + 2 * self.resolve_interval + 2 * self.discovery_interval + Duration::from_secs(2)
    }
}
