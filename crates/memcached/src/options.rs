//! The options that nodes and calls share: their defaults and their checks.

use std::sync::Arc;
use std::time::Duration;

use steersman_memcached_protocol::Limits;

use crate::address::NodeConfig;
use crate::auth::Auth;
use crate::backoff::Backoff;
use crate::error::{Error, Result};
use crate::keys::KeyRules;
use crate::observe::Observer;
use crate::replication::Replication;
use crate::tls::TlsLayer;
use crate::transport::{Connector, Sockets};

/// Settings that nodes and calls share, checked.
pub(crate) struct Options {
    pub(crate) timeout: Option<Duration>,
    pub(crate) max_connections: usize,
    pub(crate) min_connections: usize,
    pub(crate) purge_unused_connections_after: Option<Duration>,
    pub(crate) connection_timeout: Option<Duration>,
    pub(crate) purge_unhealthy_nodes: bool,
    pub(crate) max_in_flight: usize,
    pub(crate) max_waiting: usize,
    pub(crate) open_connection_above: usize,
    pub(crate) stalled_after: Option<Duration>,
    pub(crate) unhealthy_after: u32,
    pub(crate) backoff: Backoff,
    pub(crate) limits: Limits,
    /// None if keys are sent as callers give them.
    pub(crate) keys: Option<KeyRules>,
    pub(crate) connector: Arc<dyn Connector>,
    pub(crate) tls: Option<TlsLayer>,
    pub(crate) auth: Option<Auth>,
    pub(crate) resolve_interval: Option<Duration>,
    pub(crate) discovery_interval: Duration,
    pub(crate) discovery_timeout: Option<Duration>,
    pub(crate) observer: Observer,
    /// Until the cluster takes it; none for one replica.
    pub(crate) replication: Option<Replication>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            timeout: Some(Duration::from_secs(1)),
            max_connections: 2,
            min_connections: 1,
            purge_unused_connections_after: Some(Duration::from_secs(60)),
            connection_timeout: Some(Duration::from_secs(5)),
            purge_unhealthy_nodes: false,
            max_in_flight: 1024,
            max_waiting: 16_384,
            open_connection_above: 32,
            stalled_after: Some(Duration::from_secs(3)),
            unhealthy_after: 3,
            backoff: Backoff::default(),
            limits: Limits::default(),
            keys: None,
            connector: Arc::new(Sockets::default()),
            tls: None,
            auth: None,
            resolve_interval: Some(Duration::from_secs(60)),
            discovery_interval: Duration::from_secs(60),
            discovery_timeout: Some(Duration::from_secs(5)),
            observer: Observer::default(),
            replication: None,
        }
    }
}

impl Options {
    /// Checks every option.
    pub(crate) fn validate(&self) -> Result<()> {
        let at_least_one = [
            ("max_connections", self.max_connections),
            ("autobatching_max_keys", self.limits.max_batch_keys),
            ("max_in_flight", self.max_in_flight),
            ("max_value_size", self.limits.max_value_size),
            ("unhealthy_after", self.unhealthy_after as usize),
        ];
        for (option, value) in at_least_one {
            if value == 0 {
                return Err(Error::config(option, "must be at least 1"));
            }
        }
        if self.min_connections > self.max_connections {
            return Err(Error::config(
                "min_connections",
                format!(
                    "{} is above max_connections, which is {}",
                    self.min_connections, self.max_connections
                ),
            ));
        }
        let above_zero = [
            ("timeout", self.timeout),
            (
                "purge_unused_connections_after",
                self.purge_unused_connections_after,
            ),
            ("connection_timeout", self.connection_timeout),
            ("stalled_after", self.stalled_after),
            ("resolve_interval", self.resolve_interval),
            ("discovery_timeout", self.discovery_timeout),
        ];
        for (option, value) in above_zero {
            if value == Some(Duration::ZERO) {
                return Err(Error::config(
                    option,
                    "must be above zero; None turns it off",
                ));
            }
        }
        if let Some(keys) = &self.keys {
            keys.validate()?;
        }
        if let Some(auth) = &self.auth {
            auth.validate()?;
        }
        if self.discovery_interval.is_zero() {
            return Err(Error::config("discovery_interval", "must be above zero"));
        }
        if let Some(replication) = &self.replication {
            replication.validate()?;
        }
        self.backoff.validate()
    }

    /// Whether connections are secured.
    pub(crate) fn is_over_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// Checks that a node can be a member under these options.
    pub(crate) fn validate_node(&self, node: &NodeConfig) -> Result<()> {
        node.validate()?;
        match &self.tls {
            Some(tls) => tls.check(node.endpoint()),
            None => Ok(()),
        }
    }

    /// How keys are replicated, if they are on more than one node.
    pub(crate) fn take_replication(&mut self) -> Option<Replication> {
        self.replication
            .take()
            .filter(|replication| replication.count() > 1)
    }
}
