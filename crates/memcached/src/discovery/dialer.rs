//! How a discovery reaches its source: as the client reaches its nodes.

use std::fmt;
use std::sync::Arc;

use crate::address::{Endpoint, NodeConfig};
use crate::error::Result;
use crate::node;
use crate::options::Options;
use crate::transport::Transport;

/// Makes connections for a [`Discovery`](crate::Discovery) the way the client makes its own: by
/// its [`Connector`](crate::Connector), over TLS and with credentials if it has them, and within its
/// `connection_timeout`.
#[derive(Clone)]
pub struct Dialer {
    options: Arc<Options>,
}

impl Dialer {
    pub(crate) fn new(options: Arc<Options>) -> Self {
        Self { options }
    }

    /// Connects to a server that need not be a node of the cluster.
    ///
    /// # Errors
    ///
    /// Why it cannot be connected to.
    pub async fn connect(&self, endpoint: &Endpoint) -> Result<Box<dyn Transport>> {
        let server = NodeConfig::new(endpoint.to_string(), endpoint.clone());
        self.options.validate_node(&server)?;
        match node::open(&server, &self.options, false).await {
            Ok(opened) => Ok(opened.transport),
            Err(error) => Err(error.at_node(server.shared_name())),
        }
    }
}

impl fmt::Debug for Dialer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dialer").finish_non_exhaustive()
    }
}
