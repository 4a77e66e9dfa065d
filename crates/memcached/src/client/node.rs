//! Operations on one node.

use std::fmt;
use std::sync::Arc;

use steersman_selection::NodeReport;

use crate::address::NodeConfig;
use crate::call::{
    CacheMemlimit, Call, FlushAll, Get, Inspected, Meta, MetaGet, MetaInspect, MetaNoop, ReadOf,
    Stats, Verbosity, Version,
};
use crate::error::{Error, ErrorKind, Result};
use crate::keys;
use crate::listing::KeyListing;
use crate::meta;
use crate::metrics::PoolMetrics;
use crate::node::Node;
use crate::shared::Shared;

/// One node of the cluster, for operations on the node itself; from [`Client::node`](crate::Client::node).
#[derive(Clone)]
pub struct NodeHandle {
    shared: Arc<Shared>,
    node: Arc<Node>,
}

impl NodeHandle {
    pub(super) fn new(shared: Arc<Shared>, node: Arc<Node>) -> Self {
        Self { shared, node }
    }

    fn call<O>(&self, operation: O) -> Call<O> {
        Call::new(
            Arc::clone(&self.shared),
            Some(Arc::clone(&self.node)),
            operation,
        )
    }

    /// The node as configured.
    pub fn config(&self) -> &NodeConfig {
        self.node.config()
    }

    /// Whether the node is healthy.
    pub fn is_healthy(&self) -> bool {
        self.node.is_healthy()
    }

    /// What the policy that orders replicated reads knows of the node: its latency score, and
    /// whether it is penalised. `None` without replicas, or if the policy keeps no records.
    pub fn latency_report(&self) -> Option<NodeReport> {
        let cluster = &self.shared.cluster;
        let index = cluster.index_of(self.node.name())?;
        cluster.replicator.as_ref()?.report(index)
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

    /// Waits until the server has done everything that was sent before on one of the connections, and
    /// shows that it answers (`mn`; `version` if it is older than 1.6).
    pub fn meta_noop(&self) -> Call<MetaNoop> {
        self.call(MetaNoop::default())
    }

    /// The server's statistics: the general ones for `""`, others for `"settings"`, `"items"`,
    /// `"slabs"` and so on.
    pub fn stats(&self, args: impl Into<String>) -> Call<Stats> {
        self.call(Stats { args: args.into() })
    }

    /// Lists the keys of the node, whether or not it owns them, on a connection of its own: other
    /// calls go on as before. The server must have its LRU crawler, as it has by default, and while
    /// that is at something else, such as a listing for somebody else, this waits for as long as the
    /// client's [`timeout`](crate::Builder::timeout). That is also how long the server may be silent.
    ///
    /// A client with a [prefix](crate::Builder::key_prefix) lists its own keys, as it calls them:
    /// without the prefix, and none that have another. A key that was sent as a digest
    /// (`hash_long_keys`) is listed as that, since nobody knows what it was.
    ///
    /// # Errors
    ///
    /// Why the node cannot be connected to; [`ErrorKind::Server`](crate::ErrorKind::Server) if it
    /// does not list its keys, with what to do about it;
    /// [`ErrorKind::Runtime`](crate::ErrorKind::Runtime) outside of a Tokio runtime.
    pub async fn keys(&self) -> Result<KeyListing> {
        if self.shared.cluster.is_closed() {
            return Err(Error::closed().asked("keys"));
        }
        KeyListing::open(self.node.config(), self.shared.options()).await
    }

    /// What the node keeps about an item, whether or not it owns the key; `None` on a miss. It does
    /// not count as a read of the item, except where the server is older than the meta commands,
    /// 1.6.0: there the value is read, and less is known. The client's
    /// [prefix](crate::Builder::key_prefix) is put in front of the key, as for a `get`.
    ///
    /// # Errors
    ///
    /// As those of a `get`.
    pub async fn inspect(&self, key: impl AsRef<[u8]>) -> Result<Option<Inspected>> {
        // A call of a node takes its key as it is sent.
        let rules = self.shared.options().keys.as_ref();
        let key = keys::sent(rules, key.as_ref()).map_err(|error| error.asked("inspect"))?;
        let key = &*key;
        let about = match self
            .call(Meta::new(key, MetaGet::new(Inspected::ask)))
            .await
        {
            Err(error) if error.kind() == ErrorKind::Unsupported => {
                let kind = ReadOf {
                    cas: true,
                    touch: None,
                };
                let value = self.call(Get { key, kind }).await?;
                return Ok(value.as_ref().map(Inspected::of_value));
            }
            about => about?,
        };
        if about.status == meta::Status::Miss {
            return Ok(None);
        }
        let inspected = Inspected::about(&about);
        // It may have gone meanwhile; then what is known is what was there.
        let kept = self.call(Meta::new(key, MetaInspect)).await?.item;
        Ok(Some(kept.map_or(inspected, |item| inspected.kept(&item))))
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

impl fmt::Debug for NodeHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NodeHandle").field(self.node.name()).finish()
    }
}
