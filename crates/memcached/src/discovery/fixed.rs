//! A list that never changes.

use super::{Dialer, Discovered, Discovery, DiscoveryError};
use crate::address::{IntoNodeConfig, NodeConfig};
use crate::error::Result;

/// A [`Discovery`] that always finds the same nodes, for programs that choose their discovery when
/// they start.
///
/// ```
/// use steersman_memcached::{Client, FixedNodes};
///
/// let nodes = FixedNodes::new(["cache-1:11211", "cache-2:11211"])?;
/// let client = Client::builder().discovery(nodes).build()?;
/// # Ok::<(), steersman_memcached::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixedNodes {
    nodes: Vec<NodeConfig>,
}

impl FixedNodes {
    /// These nodes.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Config`](crate::ErrorKind::Config) if one is malformed.
    pub fn new<N: IntoNodeConfig>(nodes: impl IntoIterator<Item = N>) -> Result<Self> {
        let nodes = nodes.into_iter().map(N::into_node_config);
        Ok(Self {
            nodes: nodes.collect::<Result<_>>()?,
        })
    }
}

impl Discovery for FixedNodes {
    async fn discover(&mut self, _: &Dialer) -> Result<Discovered, DiscoveryError> {
        Ok(Discovered::new(self.nodes.iter().cloned()))
    }

    fn source(&self) -> String {
        "a fixed list".to_owned()
    }
}
