//! The client: one cheap handle for all tasks.

mod cluster;
mod fill;
mod life;
mod meta;
mod node;
mod read;
mod write;

use std::fmt;
use std::sync::Arc;

use steersman_selection::Scheme;
use tokio::runtime::Handle;

pub use self::node::NodeHandle;
use crate::address::NodeConfig;
use crate::call::Call;
use crate::cluster::Cluster;
use crate::discovery::{DynDiscovery, Progress};
use crate::error::Result;
use crate::events::Handler;
use crate::options::Options;
use crate::shared::Shared;

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
    shared: Arc<Shared>,
}

impl Client {
    pub(crate) fn start(
        nodes: Vec<NodeConfig>,
        scheme: Scheme,
        options: Options,
        discovery: Option<Box<dyn DynDiscovery>>,
        handler: Option<Handler>,
        runtime: Option<Handle>,
    ) -> Result<Self> {
        let progress = discovery
            .as_ref()
            .map(|discovery| Progress::new(discovery.dyn_source()));
        let cluster = Cluster::new(nodes, scheme, options, progress)?;
        let client = Self {
            shared: Arc::new(Shared::new(cluster, handler, discovery)),
        };
        if let Some(runtime) = runtime {
            client.shared.start_on(&runtime)?;
        }
        Ok(client)
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    fn call<O>(&self, operation: O) -> Call<O> {
        Call::new(Arc::clone(&self.shared), None, operation)
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
