//! How a client is built.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use steersman_selection::Scheme;
use tokio::runtime::Handle;

use crate::address::{IntoNodeConfig, NodeConfig};
use crate::auth::{Auth, Credentials, CredentialsProvider};
use crate::backoff::Backoff;
use crate::client::Client;
use crate::discovery::{Discovery, DynDiscovery};
use crate::error::{Error, Result};
use crate::events::{self, ClusterEvents, Handler};
#[cfg(feature = "metrics")]
use crate::observe::Metrics;
#[cfg(feature = "spans")]
use crate::observe::Spans;
use crate::options::Options;
use crate::replication::Replication;
#[cfg(feature = "tls")]
use crate::tls::Tls;
use crate::transport::Connector;

/// Builds a [`Client`]; from [`Client::builder`].
///
/// Nothing is connected and nothing blocks while building: [`build`](Self::build) checks the
/// options and returns, and the client connects in the background.
///
/// ```
/// use std::time::Duration;
/// use steersman_memcached::Client;
///
/// let client = Client::builder()
///     .nodes(["cache-1=10.0.0.1:11211", "cache-2=10.0.0.2:11211*2"])
///     .timeout(Duration::from_millis(250))
///     .max_connections(4)
///     .build()?;
/// # Ok::<(), steersman_memcached::Error>(())
/// ```
#[must_use = "a builder does nothing until `build` is called"]
#[derive(Default)]
pub struct Builder {
    nodes: Vec<NodeConfig>,
    /// The first error met while options were given; `build` returns it.
    error: Option<Error>,
    scheme: Scheme,
    options: Options,
    discovery: Option<Box<dyn DynDiscovery>>,
    handler: Option<Handler>,
    runtime: Option<Handle>,
}

impl Client {
    /// The options and their defaults.
    pub fn builder() -> Builder {
        Builder::default()
    }
}

impl Builder {
    /// One that cannot build, for this reason.
    pub(crate) fn failed(error: Error) -> Self {
        Self {
            error: Some(error),
            ..Self::default()
        }
    }

    /// Adds a node, written as [`NodeConfig`] describes, for example `localhost:11211`.
    pub fn node(mut self, node: impl IntoNodeConfig) -> Self {
        match node.into_node_config() {
            Ok(node) => self.nodes.push(node),
            Err(error) => {
                self.error.get_or_insert(error);
            }
        }
        self
    }

    /// Adds several nodes.
    pub fn nodes<N: IntoNodeConfig>(self, nodes: impl IntoIterator<Item = N>) -> Self {
        nodes.into_iter().fold(self, Self::node)
    }

    /// Finds the nodes, and follows their changes; none by default.
    ///
    /// Nodes may be left out then: calls wait for the first attempt to get a list, within their
    /// time-out, and fail at once while further ones are needed. [`Client::ready`] waits for the
    /// list too. Nodes that are given are those to begin with. Once a list
    /// has come it alone says who is a member; what was added or removed by hand holds until the
    /// next list that differs from the last.
    ///
    /// ```
    /// use steersman_memcached::{Client, ElastiCache};
    ///
    /// let endpoint = ElastiCache::new("my-cache.cfg.example:11211")?;
    /// let client = Client::builder().discovery(endpoint).build()?;
    /// # Ok::<(), steersman_memcached::Error>(())
    /// ```
    pub fn discovery(mut self, discovery: impl Discovery) -> Self {
        self.discovery = Some(Box::new(discovery));
        self
    }

    /// How often discovery asks for the list of nodes, less a random share of up to a tenth; above
    /// zero, 60 s by default. After a failure it asks again after the [`backoff`](Self::backoff), if
    /// that is sooner.
    pub fn discovery_interval(mut self, interval: Duration) -> Self {
        self.options.discovery_interval = interval;
        self
    }

    /// How long discovery waits for a list; 5 s by default. `None` leaves it to the source.
    pub fn discovery_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.options.discovery_timeout = timeout.into();
        self
    }

    /// What is put in front of every key that is sent: a namespace for clients that share servers.
    /// None by default.
    ///
    /// Callers never see it: results come under the keys that were asked for. It counts towards the
    /// 250 bytes of a key, and it takes part in the placement: a key's owner is that of the key as
    /// it is on the server.
    ///
    /// ```
    /// use steersman_memcached::Client;
    ///
    /// let shop = Client::builder().node("localhost:11211").key_prefix("shop:").build()?;
    /// let bare = Client::builder().node("localhost:11211").build()?;
    /// // shop.get("user:7") reads what bare.get("shop:user:7") reads.
    /// assert_eq!(shop.node_for_key("user:7")?, bare.node_for_key("shop:user:7")?);
    /// # Ok::<(), steersman_memcached::Error>(())
    /// ```
    pub fn key_prefix(mut self, prefix: impl AsRef<[u8]>) -> Self {
        let keys = self.options.keys.get_or_insert_default();
        keys.prefix = prefix.as_ref().into();
        self
    }

    /// Whether keys that are too long are sent as a digest, rather than refused; off by default.
    /// Needs the crate's feature `long-keys`.
    ///
    /// A key that has 250 bytes or more with its prefix becomes the prefix, as much of the key's
    /// beginning as there is room for, `:sha256:`, and the SHA-256 of the key without prefix in
    /// lower-case hexadecimal: 250 bytes in all. Two long keys share a value only if their digests
    /// collide, and no shorter key is ever sent in that form. Memcached's own limit being 250 bytes, a
    /// key of just that length would pass as it is; it becomes a digest so that this holds.
    ///
    /// The form never changes from one version to another. A long key may hold no white space and no
    /// control characters either.
    #[cfg(feature = "long-keys")]
    pub fn hash_long_keys(mut self, on: bool) -> Self {
        self.options.keys.get_or_insert_default().hash_long = on;
        self
    }

    /// How keys are placed on nodes; [`Scheme::Rendezvous`] by default.
    ///
    /// Every client of a cluster must use the same scheme, node names and weights. With the feature
    /// `compat`, which is on by default, there are schemes of clients in other languages, such as
    /// `"libmemcached-ketama".parse()`; [`Scheme::all`] goes over all of them.
    pub fn placement(mut self, scheme: Scheme) -> Self {
        self.scheme = scheme;
        self
    }

    /// On how many nodes each key lives: a number of 1 to 16, or a [`Replication`] with further
    /// options. 1 by default, which is no replication. On all nodes if there are fewer.
    ///
    /// What is guaranteed, and what is not, see the [crate's documentation](crate#replication).
    pub fn replicas(mut self, replicas: impl Into<Replication>) -> Self {
        self.options.replication = Some(replicas.into());
        self
    }

    /// The time-out of a whole operation: routing, waiting for a connection, request and reply,
    /// counted from the first time it is polled. 1 s by default; `None` turns it off.
    pub fn timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.options.timeout = timeout.into();
        self
    }

    /// The most connections to one node; 1 or more, 2 by default.
    ///
    /// Connections are shared by all requests, so a few suffice for any number of tasks.
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.options.max_connections = connections;
        self
    }

    /// How many connections to a node are made ahead of use and kept; 0 up to
    /// `max_connections`, 1 by default. With 0 the first request connects, and once connected
    /// one connection is kept.
    pub fn min_connections(mut self, connections: usize) -> Self {
        self.options.min_connections = connections;
        self
    }

    /// Connections beyond `min_connections` that were idle for this long are closed, but never
    /// the last one. 60 s by default; `None` keeps them.
    pub fn purge_unused_connections_after(mut self, idle: impl Into<Option<Duration>>) -> Self {
        self.options.purge_unused_connections_after = idle.into();
        self
    }

    /// The time-out of making a connection, from resolving the name until it can be used.
    /// 5 s by default; `None` leaves it to the operating system.
    pub fn connection_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.options.connection_timeout = timeout.into();
        self
    }

    /// How often the name of a connected node is looked up, if its record does not say how long it
    /// is valid; 60 s by default. `None` looks names up only to connect.
    ///
    /// Every connection is made to what the name stands for then. When an address is missing from two
    /// answers in a row, connections to it move: others are made in their place, and they close
    /// when what is in flight on them was answered. If none can be made, or the name cannot be looked
    /// up, they stay while they work.
    pub fn resolve_interval(mut self, interval: impl Into<Option<Duration>>) -> Self {
        self.options.resolve_interval = interval.into();
        self
    }

    /// Receives the cluster's health events; none by default. See also
    /// [`Client::events`](crate::Client::events).
    pub fn cluster_events(mut self, handler: impl ClusterEvents) -> Self {
        self.handler = Some(events::erase(handler));
        self
    }

    /// Whether an unhealthy node leaves the hashing until it is healthy again; off by default.
    ///
    /// While it is away its keys live on other nodes. When it returns it may hold values that
    /// were overwritten elsewhere meanwhile: turn this on only where stale values are harmless
    /// or a node that was down comes back empty. With every node away, operations fail at once.
    pub fn purge_unhealthy_nodes(mut self, purge: bool) -> Self {
        self.options.purge_unhealthy_nodes = purge;
        self
    }

    /// Whether concurrent single-key reads of one node share a request line; on by default.
    ///
    /// A lone read is never held back. Off, each read is a line of its own; lines are written
    /// together all the same.
    pub fn autobatching(mut self, on: bool) -> Self {
        self.options.limits.autobatch = on;
        self
    }

    /// The most keys in one read request line, autobatched or of `get_many`; 1 or more, 32 by
    /// default.
    pub fn autobatching_max_keys(mut self, keys: usize) -> Self {
        self.options.limits.max_batch_keys = keys;
        self
    }

    /// The most requests on one connection; 1 or more, 1,024 by default. Further ones wait, in
    /// order and within their time-out.
    pub fn max_in_flight(mut self, requests: usize) -> Self {
        self.options.max_in_flight = requests;
        self
    }

    /// The most requests that wait for one node; 16,384 by default. Above it a request fails at
    /// once with [`ErrorKind::Overloaded`](crate::ErrorKind::Overloaded).
    pub fn max_waiting(mut self, requests: usize) -> Self {
        self.options.max_waiting = requests;
        self
    }

    /// Another connection is opened, up to `max_connections`, when every open one has more than
    /// this many requests in flight; 32 by default.
    ///
    /// Connections are used as they are opened: each is filled up to that number before the next one
    /// is used, because requests that share a connection share writes. With 0 or 1 requests are spread
    /// as evenly as can be, which may be better where values are very large.
    pub fn open_connection_above(mut self, requests: usize) -> Self {
        self.options.open_connection_above = requests;
        self
    }

    /// A connection that received nothing for this long while requests were outstanding is given
    /// up and counts as a failure of its node. 3 s by default; `None` waits for ever.
    pub fn stalled_after(mut self, silence: impl Into<Option<Duration>>) -> Self {
        self.options.stalled_after = silence.into();
        self
    }

    /// A node is unhealthy after this many failures in a row with no connection standing; 1 or
    /// more, 3 by default.
    pub fn unhealthy_after(mut self, failures: u32) -> Self {
        self.options.unhealthy_after = failures;
        self
    }

    /// The waits between attempts to connect.
    pub fn backoff(mut self, backoff: Backoff) -> Self {
        self.options.backoff = backoff;
        self
    }

    /// The longest value that is sent or accepted, in bytes; 128 MiB by default. A reply that
    /// declares a longer one is a protocol error.
    pub fn max_value_size(mut self, bytes: usize) -> Self {
        self.options.limits.max_value_size = bytes;
        self
    }

    /// What makes connections; [`Sockets`](crate::Sockets) by default.
    pub fn connector(mut self, connector: impl Connector) -> Self {
        self.options.connector = Arc::new(connector);
        self
    }

    /// Secures the connections, over whatever the connector makes; they are not by default. Nodes
    /// on Unix sockets are refused then. Needs the crate's feature `tls`.
    ///
    /// Before 1.6.39 memcached hangs when much is sent to it over TLS at a time, so with such a
    /// server at most 16 KiB of requests are on the way on a connection, or one larger one.
    #[cfg(feature = "tls")]
    pub fn tls(mut self, tls: Tls) -> Self {
        match tls.layer() {
            Ok(layer) => self.options.tls = Some(layer),
            Err(error) => {
                self.error.get_or_insert(error);
            }
        }
        self
    }

    /// Who the client is, for servers with an authentication file (`memcached -Y FILE`); nobody by
    /// default. It is told to the server on each new connection, within the connection time-out.
    ///
    /// A server that refuses is unhealthy at once, and is asked again after the usual waits.
    pub fn auth(mut self, credentials: Credentials) -> Self {
        self.options.auth = Some(Auth::Fixed(credentials));
        self
    }

    /// Like [`auth`](Self::auth), with credentials that are asked for anew for each connection.
    pub fn auth_with(mut self, provider: impl CredentialsProvider) -> Self {
        self.options.auth = Some(Auth::with(provider));
        self
    }

    /// Exports metrics to the recorder of the crate `metrics` that is installed by now; not by default.
    /// Needs the crate's feature `metrics`.
    #[cfg(feature = "metrics")]
    pub fn metrics(mut self, metrics: Metrics) -> Self {
        if let Err(error) = self.options.observer.record(metrics) {
            self.error.get_or_insert(error);
        }
        self
    }

    /// Makes a span of `tracing` for each call; not by default. Needs the crate's feature `spans`.
    #[cfg(feature = "spans")]
    pub fn spans(mut self, spans: Spans) -> Self {
        self.options.observer.trace(spans);
        self
    }

    /// The runtime that the client's background tasks live on, with time and I/O enabled. By default the
    /// one that `build` is called in, else the one of the first call.
    ///
    /// It has to run for as long as calls are made, wherever those are polled: it does their work and
    /// keeps their time. A runtime of one thread runs only inside of its `block_on`; until it does so
    /// again a call waits, its time-out notwithstanding.
    pub fn runtime(mut self, runtime: Handle) -> Self {
        self.runtime = Some(runtime);
        self
    }

    /// Checks the options and makes the client, which connects in the background.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Config`](crate::ErrorKind::Config); [`Error::option`] names the option.
    /// [`ErrorKind::Runtime`](crate::ErrorKind::Runtime) if the [runtime](Self::runtime) has no timers; Tokio
    /// says so on standard error as well.
    pub fn build(self) -> Result<Client> {
        let Self {
            nodes,
            error,
            scheme,
            options,
            discovery,
            handler,
            runtime,
        } = self;
        if let Some(error) = error {
            return Err(error);
        }
        if nodes.is_empty() && discovery.is_none() {
            return Err(Error::config(
                "node",
                "give at least one node, as in localhost:11211, or a discovery",
            ));
        }
        let mut names = HashSet::new();
        if let Some(twice) = nodes.iter().find(|node| !names.insert(node.name())) {
            return Err(Error::config("node", format!("{twice} is given twice")));
        }
        options.validate()?;
        Client::start(
            nodes,
            scheme,
            options,
            discovery,
            handler,
            runtime.or_else(|| Handle::try_current().ok()),
        )
    }
}
