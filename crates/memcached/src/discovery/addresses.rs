//! The addresses of a name as the list of nodes.

use std::fmt;
use std::sync::Arc;

use super::{Dialer, Discovered, Discovery, DiscoveryError, bare_endpoint};
use crate::address::{Endpoint, NodeConfig};
use crate::error::{Error, Result};
use crate::resolve::{Resolver, SystemResolver};

/// A [`Discovery`] that takes each address (A or AAAA record) of a name for a node, as a headless
/// service of Kubernetes has it. Up to 4,096 of them.
///
/// A node is named `address:port`, so its keys move when its address changes. Where nodes have names
/// of their own, those are better: the pods of a `StatefulSet`, or what SRV records list.
///
/// ```no_run
/// use steersman_memcached::{AddressRecords, Client};
///
/// let records = AddressRecords::new("memcached.default.svc.cluster.local:11211")?;
/// let client = Client::builder().discovery(records).build()?;
/// # Ok::<(), steersman_memcached::Error>(())
/// ```
#[derive(Clone)]
pub struct AddressRecords {
    host: String,
    port: u16,
    resolver: Arc<dyn Resolver>,
}

impl AddressRecords {
    /// The name and port, written `host[:port]`; the operating system resolves it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Config`](crate::ErrorKind::Config) if that is none.
    pub fn new(name: &str) -> Result<Self> {
        match bare_endpoint(name)? {
            Endpoint::Tcp { host, port } => Ok(Self {
                host,
                port,
                resolver: Arc::new(SystemResolver),
            }),
            Endpoint::Unix(_) => Err(Error::config(
                "discovery",
                format!("{name:?} is a Unix socket, not a name"),
            )),
        }
    }

    /// Resolves the name by this.
    #[must_use]
    pub fn resolver(mut self, resolver: impl Resolver) -> Self {
        self.resolver = Arc::new(resolver);
        self
    }
}

impl Discovery for AddressRecords {
    async fn discover(&mut self, _: &Dialer) -> Result<Discovered, DiscoveryError> {
        let resolved = self.resolver.resolve(&self.host, self.port).await?;
        // Name servers turn their answers round.
        let mut addresses = resolved.addresses().to_vec();
        addresses.sort_unstable();
        let found = Discovered::new(addresses.iter().map(|address| {
            let endpoint = Endpoint::Tcp {
                host: address.ip().to_string(),
                port: address.port(),
            };
            NodeConfig::new(endpoint.to_string(), endpoint)
        }));
        Ok(match resolved.validity() {
            Some(time) => found.valid_for(time),
            None => found,
        })
    }

    fn source(&self) -> String {
        format!("the addresses of {}", self.host)
    }
}

impl fmt::Debug for AddressRecords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AddressRecords")
            .field("host", &self.host)
            .field("port", &self.port)
            .finish_non_exhaustive()
    }
}
