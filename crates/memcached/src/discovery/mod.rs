//! Where the list of nodes comes from when nobody writes it down: discovery.
//!
//! A [`Discovery`] is asked for the list again and again by a task of the client ([`follow`]), which
//! checks what it says ([`list`]) and changes the members of the cluster in one step. Ready-made are
//! [`ElastiCache`], [`AddressRecords`], `SrvRecords`, [`NodesFile`] and [`FixedNodes`].

mod addresses;
mod dialer;
mod elasticache;
mod file;
mod fixed;
mod follow;
mod list;
mod progress;
#[cfg(feature = "dns")]
mod services;

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

pub use self::addresses::AddressRecords;
pub use self::dialer::Dialer;
pub use self::elasticache::ElastiCache;
pub use self::file::NodesFile;
pub use self::fixed::FixedNodes;
pub(crate) use self::follow::Follower;
pub use self::progress::DiscoveryMetrics;
pub(crate) use self::progress::Progress;
#[cfg(feature = "dns")]
pub use self::services::SrvRecords;
use crate::address::{Endpoint, NodeConfig};
use crate::error::Error;

/// Why a [`Discovery`] has no list; any error will do.
pub type DiscoveryError = Box<dyn std::error::Error + Send + Sync>;

/// Says which nodes a cluster has, whenever it is asked.
///
/// Given to [`Builder::discovery`](crate::Builder::discovery), it is asked at once and then from
/// time to time. What it says becomes the members of the cluster, in one step and without
/// disturbing requests under way: nodes that stay keep their connections, nodes that leave
/// answer what is in flight on them.
///
/// A list is refused, and the last good one stays, if it is empty, if it names one node twice in
/// different ways, if its [version](Discovered::version) is older than that of the last one, or if
/// the placement refuses it. So it does while the source fails, for however long. Each list that is
/// taken, and each reason why none was, is an [`Event`](crate::Event).
///
/// ```
/// use steersman_memcached::{Client, Dialer, Discovered, Discovery, DiscoveryError};
///
/// struct Inventory;
///
/// impl Discovery for Inventory {
///     async fn discover(&mut self, _: &Dialer) -> Result<Discovered, DiscoveryError> {
///         let text = "cache-1=10.0.0.1:11211 cache-2=10.0.0.2:11211"; // asked of a service, say
///         let nodes = text.split(' ').map(str::parse).collect::<Result<Vec<_>, _>>()?;
///         Ok(Discovered::new(nodes))
///     }
///
///     fn source(&self) -> String {
///         "the inventory".to_owned()
///     }
/// }
///
/// let client = Client::builder().discovery(Inventory).build()?;
/// # Ok::<(), steersman_memcached::Error>(())
/// ```
pub trait Discovery: Send + 'static {
    /// Finds out which nodes there are. It is dropped if it takes longer than
    /// [`discovery_timeout`](crate::Builder::discovery_timeout).
    ///
    /// # Errors
    ///
    /// Why that could not be found out.
    fn discover(
        &mut self,
        dialer: &Dialer,
    ) -> impl Future<Output = Result<Discovered, DiscoveryError>> + Send;

    /// What messages call the place that the list comes from.
    fn source(&self) -> String;
}

/// The nodes that a [`Discovery`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Discovered {
    nodes: Vec<NodeConfig>,
    version: Option<u64>,
    valid_for: Option<Duration>,
}

impl Discovered {
    /// These nodes, one at least, each with a name of its own. One that is listed twice in the same
    /// way counts once.
    pub fn new(nodes: impl IntoIterator<Item = NodeConfig>) -> Self {
        Self {
            nodes: nodes.into_iter().collect(),
            version: None,
            valid_for: None,
        }
    }

    /// The list's version: one that is older than that of the last list is refused, an equal one
    /// changes nothing. None by default: whatever differs is taken.
    pub fn version(mut self, version: u64) -> Self {
        self.version = Some(version);
        self
    }

    /// How long the list holds: it is asked for again after that time, if that is before the
    /// [`discovery_interval`](crate::Builder::discovery_interval). At least 1 s.
    pub fn valid_for(mut self, time: Duration) -> Self {
        self.valid_for = Some(time);
        self
    }
}

/// The endpoint that a source is asked at, written as a node's without name and weight, which say
/// nothing of it.
fn bare_endpoint(text: &str) -> crate::error::Result<Endpoint> {
    let node: NodeConfig = text
        .parse()
        .map_err(|error: Error| Error::config("discovery", Arc::clone(error.detail())))?;
    // A node is called as it is written unless that has a name or a weight.
    if node.name() == text {
        return Ok(node.endpoint().clone());
    }
    let what = format!(
        "the place of a list is an address alone: leave the name and the weight out, as in \"{}\"",
        node.endpoint()
    );
    Err(Error::config("discovery", what))
}

type Finding<'a> = Pin<Box<dyn Future<Output = Result<Discovered, DiscoveryError>> + Send + 'a>>;

/// A [`Discovery`] of whatever type.
pub(crate) trait DynDiscovery: Send {
    fn dyn_discover<'a>(&'a mut self, dialer: &'a Dialer) -> Finding<'a>;

    fn dyn_source(&self) -> String;
}

impl<D: Discovery> DynDiscovery for D {
    fn dyn_discover<'a>(&'a mut self, dialer: &'a Dialer) -> Finding<'a> {
        Box::pin(self.discover(dialer))
    }

    fn dyn_source(&self) -> String {
        self.source()
    }
}
