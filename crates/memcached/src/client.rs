//! The client: one cheap handle for all tasks.

use std::collections::HashMap;
use std::fmt;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use steersman_memcached_protocol::StoreVerb;
use steersman_selection::Scheme;
use tokio::runtime::Handle;

use crate::address::{IntoNodeConfig, NodeConfig};
use crate::builder::{Builder, Options};
use crate::call::{
    Arithmetic, CacheMemlimit, Call, Cas, Concat, Delete, FlushAll, Get, GetMany, Item, ReadOf,
    Set, SetIf, Stats, Touch, Verbosity, Version, on_all_nodes,
};
use crate::cluster::Cluster;
use crate::deadline::Deadline;
use crate::error::{Error, ErrorKind, Result, Stage};
use crate::events::{self, EventStream, Handler};
use crate::expires::Expires;
use crate::metrics::PoolMetrics;
use crate::node::Node;
use crate::outcome::PerNode;

/// A client of a memcached cluster.
///
/// A handle is cheap to clone and all clones are the same client: share it among any number of
/// tasks. Its methods return calls, which can be configured and do nothing until awaited. Futures
/// may be dropped at any point.
///
/// When the last handle is dropped, connections close once everything sent has been answered;
/// [`close`](Self::close) does the same and waits for it.
///
/// ```no_run
/// # async fn example() -> steersman_memcached::Result<()> {
/// use std::time::Duration;
/// use steersman_memcached::Client;
///
/// let client = Client::builder().nodes(["localhost:11211", "localhost:11212"]).build()?;
/// client.set("greeting", "hello").expires_in(Duration::from_secs(300)).await?;
/// if let Some(value) = client.get("greeting").await? {
///     println!("{:?}", value.data);
/// }
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

struct Inner {
    cluster: Arc<Cluster>,
    /// Waits here until there is a runtime to call it on.
    handler: Mutex<Option<Handler>>,
    closed: AtomicBool,
}

impl Drop for Inner {
    fn drop(&mut self) {
        for node in self.cluster.members().nodes() {
            node.close();
        }
        self.cluster.events.close();
    }
}

impl Client {
    /// The options and their defaults.
    pub fn builder() -> Builder {
        Builder::default()
    }

    pub(crate) fn start(
        nodes: Vec<NodeConfig>,
        scheme: Scheme,
        options: Options,
        handler: Option<Handler>,
        runtime: Option<Handle>,
    ) -> Result<Self> {
        let inner = Inner {
            cluster: Cluster::new(nodes, scheme, options)?,
            handler: Mutex::new(handler),
            closed: AtomicBool::new(false),
        };
        let client = Self {
            inner: Arc::new(inner),
        };
        if let Some(runtime) = runtime {
            client.start_on(&runtime);
        }
        Ok(client)
    }

    fn start_on(&self, runtime: &Handle) {
        let handler = self
            .inner
            .handler
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(handler) = handler {
            runtime.spawn(events::dispatch(
                self.inner.cluster.events.subscribe(),
                handler,
            ));
        }
        self.inner.cluster.start(runtime);
    }

    /// Starts the background work on the current runtime if it has none yet.
    pub(crate) fn ensure_started(&self) -> Result<()> {
        if self.inner.cluster.runtime().is_some() {
            return Ok(());
        }
        let runtime = Handle::try_current().map_err(|error| {
            Error::new(
                ErrorKind::Runtime,
                Stage::Routing,
                "there is no Tokio runtime here; call within one, or give the builder a `runtime`",
            )
            .with_source(error)
        })?;
        self.start_on(&runtime);
        Ok(())
    }

    pub(crate) fn cluster(&self) -> &Cluster {
        &self.inner.cluster
    }

    pub(crate) fn options(&self) -> &Options {
        &self.inner.cluster.options
    }

    fn call<O>(&self, operation: O) -> Call<O> {
        Call::new(self.clone(), None, operation)
    }
}

const PLAIN: ReadOf = ReadOf {
    cas: false,
    touch: None,
};
const WITH_CAS: ReadOf = ReadOf {
    cas: true,
    touch: None,
};

/// Reading.
impl Client {
    /// Reads a value; `None` on a miss.
    pub fn get<K: AsRef<[u8]>>(&self, key: K) -> Call<Get<K>> {
        self.call(Get { key, kind: PLAIN })
    }

    /// Reads a value with its cas number, for [`cas`](Self::cas).
    pub fn gets<K: AsRef<[u8]>>(&self, key: K) -> Call<Get<K>> {
        self.call(Get {
            key,
            kind: WITH_CAS,
        })
    }

    /// Reads a value and sets a new expiry.
    pub fn gat<K: AsRef<[u8]>>(&self, key: K, expires: impl Into<Expires>) -> Call<Get<K>> {
        self.call(Get {
            key,
            kind: ReadOf {
                touch: Some(expires.into()),
                ..PLAIN
            },
        })
    }

    /// Reads a value with its cas number and sets a new expiry.
    pub fn gats<K: AsRef<[u8]>>(&self, key: K, expires: impl Into<Expires>) -> Call<Get<K>> {
        self.call(Get {
            key,
            kind: ReadOf {
                touch: Some(expires.into()),
                ..WITH_CAS
            },
        })
    }

    /// Reads many values, from all their nodes at the same time.
    pub fn get_many<K: AsRef<[u8]>>(&self, keys: impl IntoIterator<Item = K>) -> GetMany<K> {
        self.many(keys, PLAIN)
    }

    /// Reads many values with their cas numbers.
    pub fn gets_many<K: AsRef<[u8]>>(&self, keys: impl IntoIterator<Item = K>) -> GetMany<K> {
        self.many(keys, WITH_CAS)
    }

    /// Reads many values and sets a new expiry for them.
    pub fn gat_many<K: AsRef<[u8]>>(
        &self,
        keys: impl IntoIterator<Item = K>,
        expires: impl Into<Expires>,
    ) -> GetMany<K> {
        self.many(
            keys,
            ReadOf {
                touch: Some(expires.into()),
                ..PLAIN
            },
        )
    }

    /// Reads many values with their cas numbers and sets a new expiry for them.
    pub fn gats_many<K: AsRef<[u8]>>(
        &self,
        keys: impl IntoIterator<Item = K>,
        expires: impl Into<Expires>,
    ) -> GetMany<K> {
        self.many(
            keys,
            ReadOf {
                touch: Some(expires.into()),
                ..WITH_CAS
            },
        )
    }

    fn many<K>(&self, keys: impl IntoIterator<Item = K>, kind: ReadOf) -> GetMany<K> {
        GetMany::new(self.clone(), keys.into_iter().collect(), kind)
    }
}

/// Writing.
impl Client {
    /// Stores a value.
    pub fn set<K: AsRef<[u8]>>(&self, key: K, value: impl Into<Bytes>) -> Call<Set<K>> {
        self.call(Set {
            item: Item::new(key, value.into()),
        })
    }

    /// Stores a value if the key does not exist.
    pub fn add<K: AsRef<[u8]>>(&self, key: K, value: impl Into<Bytes>) -> Call<SetIf<K>> {
        self.call(SetIf {
            item: Item::new(key, value.into()),
            verb: StoreVerb::Add,
        })
    }

    /// Stores a value if the key exists.
    pub fn replace<K: AsRef<[u8]>>(&self, key: K, value: impl Into<Bytes>) -> Call<SetIf<K>> {
        self.call(SetIf {
            item: Item::new(key, value.into()),
            verb: StoreVerb::Replace,
        })
    }

    /// Adds to the end of a value that exists.
    pub fn append<K: AsRef<[u8]>>(&self, key: K, value: impl Into<Bytes>) -> Call<Concat<K>> {
        self.call(Concat {
            item: Item::new(key, value.into()),
            verb: StoreVerb::Append,
        })
    }

    /// Adds to the beginning of a value that exists.
    pub fn prepend<K: AsRef<[u8]>>(&self, key: K, value: impl Into<Bytes>) -> Call<Concat<K>> {
        self.call(Concat {
            item: Item::new(key, value.into()),
            verb: StoreVerb::Prepend,
        })
    }

    /// Stores a value if nobody changed it since [`gets`](Self::gets) gave the number `cas`.
    pub fn cas<K: AsRef<[u8]>>(&self, key: K, value: impl Into<Bytes>, cas: u64) -> Call<Cas<K>> {
        self.call(Cas {
            item: Item::new(key, value.into()),
            cas,
        })
    }

    /// Adds to a number; wraps around at 2^64. `None` if the key does not exist.
    pub fn increment<K: AsRef<[u8]>>(&self, key: K, delta: u64) -> Call<Arithmetic<K>> {
        self.call(Arithmetic {
            key,
            delta,
            down: false,
        })
    }

    /// Subtracts from a number; stops at 0. `None` if the key does not exist.
    pub fn decrement<K: AsRef<[u8]>>(&self, key: K, delta: u64) -> Call<Arithmetic<K>> {
        self.call(Arithmetic {
            key,
            delta,
            down: true,
        })
    }

    /// Sets a new expiry; gives whether the key exists.
    pub fn touch<K: AsRef<[u8]>>(&self, key: K, expires: impl Into<Expires>) -> Call<Touch<K>> {
        self.call(Touch {
            key,
            expires: expires.into(),
        })
    }

    /// Deletes a key; gives whether it existed.
    pub fn delete<K: AsRef<[u8]>>(&self, key: K) -> Call<Delete<K>> {
        self.call(Delete { key })
    }
}

/// The cluster and its nodes.
impl Client {
    /// A node of the cluster by its name, for operations on the node itself.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::UnknownNode`] if there is no such node.
    pub fn node(&self, name: &str) -> Result<NodeHandle> {
        Ok(NodeHandle {
            client: self.clone(),
            node: self.inner.cluster.find(name)?,
        })
    }

    /// The node that owns `key` at the moment.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NoNodeReachable`] if every node has left the hashing.
    pub fn node_for_key(&self, key: impl AsRef<[u8]>) -> Result<NodeConfig> {
        Ok(self.inner.cluster.route(key.as_ref())?.config().clone())
    }

    fn configs(&self, which: impl Fn(&Node) -> bool) -> Vec<NodeConfig> {
        let members = self.inner.cluster.members();
        members
            .nodes()
            .filter(|node| which(node))
            .map(|node| node.config().clone())
            .collect()
    }

    /// All nodes of the cluster.
    pub fn nodes(&self) -> Vec<NodeConfig> {
        self.configs(|_| true)
    }

    /// The nodes that are healthy. A new node counts as healthy until it has failed repeatedly.
    pub fn healthy_nodes(&self) -> Vec<NodeConfig> {
        self.configs(Node::is_healthy)
    }

    /// The nodes that are unhealthy.
    pub fn unhealthy_nodes(&self) -> Vec<NodeConfig> {
        self.configs(|node| !node.is_healthy())
    }

    /// Adds a node; the keys that it owns move to it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Config`] if it is malformed or there is a node of that name;
    /// [`ErrorKind::Closed`] if the client is closed.
    pub fn add_node(&self, node: impl IntoNodeConfig) -> Result<()> {
        if self.is_closed() {
            return Err(Error::closed());
        }
        self.inner.cluster.add(node.into_node_config()?)
    }

    /// Removes a node; its keys move to the others. What is in flight on it is still answered.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::UnknownNode`] if there is no such node.
    pub fn remove_node(&self, name: &str) -> Result<()> {
        self.inner.cluster.remove(name)
    }

    /// The figures of each node's connection pool, by the node's name.
    pub fn connection_pool_metrics(&self) -> HashMap<String, PoolMetrics> {
        let members = self.inner.cluster.members();
        members
            .nodes()
            .map(|node| (node.name().to_string(), node.metrics()))
            .collect()
    }

    /// The cluster's events from now on.
    pub fn events(&self) -> EventStream {
        self.inner.cluster.events.subscribe()
    }

    /// Runs `flush_all` on every node.
    pub async fn flush_all(&self) -> PerNode<()> {
        on_all_nodes(self, FlushAll::default()).await
    }

    /// Asks every node for its version.
    pub async fn version(&self) -> PerNode<String> {
        on_all_nodes(self, Version).await
    }

    /// Asks every node for its statistics; `args` as in [`NodeHandle::stats`].
    pub async fn stats(&self, args: &str) -> PerNode<Vec<(String, String)>> {
        on_all_nodes(
            self,
            Stats {
                args: args.to_owned(),
            },
        )
        .await
    }

    /// Sets how much every node logs.
    pub async fn verbosity(&self, level: u32) -> PerNode<()> {
        on_all_nodes(self, Verbosity { level }).await
    }

    /// Sets the memory limit of every node.
    pub async fn cache_memlimit(&self, megabytes: u64) -> PerNode<()> {
        on_all_nodes(self, CacheMemlimit { megabytes }).await
    }
}

/// The client's life.
impl Client {
    /// Waits until every node is connected, but no longer than `patience`.
    ///
    /// Nothing needs this: calls connect as they need. It is for finding out early.
    ///
    /// # Errors
    ///
    /// Why a node is not connected.
    pub async fn ready(&self, patience: Duration) -> Result<()> {
        self.connected(patience, |members| {
            members.iter().all(|node| node.is_connected())
        })
        .await
    }

    /// Waits until any node is connected, but no longer than `patience`.
    ///
    /// # Errors
    ///
    /// Why a node is not connected.
    pub async fn ready_any(&self, patience: Duration) -> Result<()> {
        self.connected(patience, |members| {
            members.iter().any(|node| node.is_connected())
        })
        .await
    }

    async fn connected(
        &self,
        patience: Duration,
        enough: impl Fn(&[Arc<Node>]) -> bool,
    ) -> Result<()> {
        let cluster = &self.inner.cluster;
        let nodes = || -> Vec<_> { cluster.members().nodes().cloned().collect() };
        self.ensure_started()?;
        for node in nodes() {
            node.demand();
        }
        let waited = self
            .wait_until(patience, || self.is_closed() || enough(&nodes()))
            .await;
        if self.is_closed() {
            return Err(Error::closed());
        }
        waited.map_err(|late| {
            let mut away = nodes().into_iter().filter(|node| !node.is_connected());
            match away.next() {
                Some(node) => node.down_reason().unwrap_or(late).at_node(node.name()),
                None => late,
            }
        })
    }

    /// Waits until `done` holds; it is asked again whenever a connection comes or goes.
    async fn wait_until(&self, patience: Duration, done: impl Fn() -> bool) -> Result<()> {
        let cluster = &self.inner.cluster;
        let Some(runtime) = cluster.runtime() else {
            return Ok(());
        };
        let deadline = pin!(Deadline::new(Some(patience)));
        let work = async {
            loop {
                let mut changed = pin!(cluster.changed.notified());
                changed.as_mut().enable();
                if done() {
                    return;
                }
                changed.await;
            }
        };
        deadline.bound(runtime, Stage::Connecting, work).await
    }

    /// Whether the client was closed.
    pub fn is_closed(&self) -> bool {
        self.inner.closed.load(Ordering::Acquire)
    }

    /// Closes the client: later calls fail with [`ErrorKind::Closed`], what was sent is still
    /// answered within the client's time-out (1 s if it has none), then connections close.
    ///
    /// Closing again, or at the same time, is harmless.
    pub async fn close(&self) {
        let patience = self.options().timeout.unwrap_or(Duration::from_secs(1));
        self.close_within(patience).await;
    }

    /// [`close`](Self::close) with another deadline; what is not answered by then fails with
    /// [`ErrorKind::Closed`].
    pub async fn close_within(&self, patience: Duration) {
        self.inner.closed.store(true, Ordering::Release);
        let nodes: Vec<_> = self.inner.cluster.members().nodes().cloned().collect();
        for node in &nodes {
            node.close();
        }
        let all_gone = || !nodes.iter().any(|node| node.has_connections());
        if self.wait_until(patience, all_gone).await.is_err() {
            for node in &nodes {
                node.abort(&Error::closed());
            }
            // Drivers end as soon as they run; if their runtime does not run, nobody waits for it.
            let _ = self.wait_until(Duration::from_millis(100), all_gone).await;
        }
        self.inner.cluster.events.close();
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nodes: Vec<_> = self.nodes().iter().map(ToString::to_string).collect();
        f.debug_struct("Client")
            .field("nodes", &nodes)
            .finish_non_exhaustive()
    }
}

/// One node of the cluster, for operations on the node itself; from [`Client::node`].
#[derive(Debug, Clone)]
pub struct NodeHandle {
    client: Client,
    node: Arc<Node>,
}

impl NodeHandle {
    fn call<O>(&self, operation: O) -> Call<O> {
        Call::new(self.client.clone(), Some(Arc::clone(&self.node)), operation)
    }

    /// The node as configured.
    pub fn config(&self) -> &NodeConfig {
        self.node.config()
    }

    /// Whether the node is healthy.
    pub fn is_healthy(&self) -> bool {
        self.node.is_healthy()
    }

    /// The figures of the node's connection pool.
    pub fn metrics(&self) -> PoolMetrics {
        self.node.metrics()
    }

    /// Makes every value of the node invisible, now or after [`delay`](Call::delay).
    pub fn flush_all(&self) -> Call<FlushAll> {
        self.call(FlushAll::default())
    }

    /// The server's version.
    pub fn version(&self) -> Call<Version> {
        self.call(Version)
    }

    /// The server's statistics: the general ones for `""`, others for `"settings"`, `"items"`,
    /// `"slabs"` and so on.
    pub fn stats(&self, args: impl Into<String>) -> Call<Stats> {
        self.call(Stats { args: args.into() })
    }

    /// Sets how much the server logs: 0 nothing, 1 and 2 more and more.
    pub fn verbosity(&self, level: u32) -> Call<Verbosity> {
        self.call(Verbosity { level })
    }

    /// Sets the server's memory limit, in megabytes of 2^20 bytes.
    pub fn cache_memlimit(&self, megabytes: u64) -> Call<CacheMemlimit> {
        self.call(CacheMemlimit { megabytes })
    }
}
