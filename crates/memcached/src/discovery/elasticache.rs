//! Amazon ElastiCache's list of nodes.

use steersman_memcached_protocol::{
    ClusterConfig, ClusterNode, Key, Limits, Reply, Request, ServerErrorKind,
};

use super::{Dialer, Discovered, Discovery, DiscoveryError, bare_endpoint};
use crate::address::{Endpoint, NodeConfig};
use crate::ask::ask;
use crate::error::Result;

/// A longer configuration is refused: one of 10,000 nodes is shorter.
const MAX_CONFIGURATION: usize = 1024 * 1024;

/// A [`Discovery`] that asks the configuration endpoint of an Amazon ElastiCache cluster.
///
/// The endpoint is asked by `config get cluster`, and if it does not know that, as engines before
/// 1.4.14, by `get AmazonElastiCache:cluster`. Any node of such a cluster will do in its place. Each
/// time a new connection is made, as the client makes its own.
///
/// A node is named `host:port`, as by hand, and connected to by its host name, so that it keeps its
/// keys when it is replaced and gets another address. With [`by_address`](Self::by_address) the name
/// stays and the address that is listed beside it is connected to.
///
/// ```no_run
/// # async fn example() -> steersman_memcached::Result<()> {
/// use std::time::Duration;
/// use steersman_memcached::{Client, ElastiCache};
///
/// let endpoint = ElastiCache::new("cache.abc123.cfg.euc1.cache.amazonaws.com:11211")?;
/// let client = Client::builder().discovery(endpoint).build()?;
/// client.ready(Duration::from_secs(5)).await?;
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ElastiCache {
    endpoint: Endpoint,
    by_address: bool,
}

impl ElastiCache {
    /// The configuration endpoint at `host[:port]`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Config`](crate::ErrorKind::Config) if that is no address, or is written as a node
    /// with a name or a weight, which an endpoint has not.
    pub fn new(endpoint: &str) -> Result<Self> {
        Ok(Self {
            endpoint: bare_endpoint(endpoint)?,
            by_address: false,
        })
    }

    /// Whether nodes are connected to by the addresses that are listed, where there are any, rather
    /// than by their host names; off by default.
    #[must_use]
    pub fn by_address(mut self, on: bool) -> Self {
        self.by_address = on;
        self
    }

    async fn configuration(&self, dialer: &Dialer) -> Result<Reply, DiscoveryError> {
        let limits = Limits {
            max_value_size: MAX_CONFIGURATION,
            ..Limits::default()
        };
        let mut transport = dialer.connect(&self.endpoint).await?;
        let reply = ask(&mut *transport, limits, &Request::ClusterConfig).await?;
        match reply {
            Reply::Error(refusal) if refusal.kind() == ServerErrorKind::Error => {
                let key = Key::new(ClusterConfig::LEGACY_KEY.as_bytes())?;
                let request = Request::Get { key, cas: false };
                Ok(ask(&mut *transport, limits, &request).await?)
            }
            reply => Ok(reply),
        }
    }

    fn node(&self, node: &ClusterNode<'_>) -> NodeConfig {
        let named = |host: &str| Endpoint::Tcp {
            host: host.to_owned(),
            port: node.port,
        };
        let name = named(node.host).to_string();
        let address = node.address.filter(|_| self.by_address);
        NodeConfig::new(name, named(address.unwrap_or(node.host)))
    }
}

impl Discovery for ElastiCache {
    async fn discover(&mut self, dialer: &Dialer) -> Result<Discovered, DiscoveryError> {
        match self.configuration(dialer).await? {
            Reply::Value(value) => {
                let config = ClusterConfig::parse(&value.data)?;
                let nodes = config.nodes.iter().map(|node| self.node(node));
                Ok(Discovered::new(nodes).version(config.version))
            }
            Reply::Error(refusal) => Err(refusal.into()),
            _ => Err(format!(
                "{} is no configuration endpoint: it knows of no cluster",
                self.endpoint
            )
            .into()),
        }
    }

    fn source(&self) -> String {
        format!("the configuration endpoint {}", self.endpoint)
    }
}
