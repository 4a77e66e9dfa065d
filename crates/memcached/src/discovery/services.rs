//! SRV records (RFC 2782) as the list of nodes.

use super::{Dialer, Discovered, Discovery, DiscoveryError};
use crate::address::{Endpoint, NodeConfig};
use crate::error::{Error, Result};
use crate::resolve::DnsResolver;

/// A [`Discovery`] that takes each target of a name's SRV records for a node; of those with the
/// lowest priority. Needs the crate's feature `dns`.
///
/// A node is named `target:port` and connected to by the target's name. The records' weights do not
/// count unless [`weighted`](Self::weighted) says so: some name servers, as that of Kubernetes, make
/// them up of how many targets there are, and every change would move most of the keys.
///
/// ```no_run
/// use steersman_memcached::{Client, SrvRecords};
///
/// let records = SrvRecords::new("_memcache._tcp.memcached.default.svc.cluster.local")?;
/// let client = Client::builder().discovery(records).build()?;
/// # Ok::<(), steersman_memcached::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SrvRecords {
    name: String,
    resolver: DnsResolver,
    weighted: bool,
}

impl SrvRecords {
    /// The records of this name, asked for as the system's configuration says.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Config`](crate::ErrorKind::Config) if that configuration cannot be read.
    pub fn new(name: impl Into<String>) -> Result<Self> {
        let resolver = DnsResolver::system().map_err(|error| {
            let what = format!("the system's name servers cannot be read: {error}");
            Error::config("discovery", what).with_source(error)
        })?;
        Ok(Self::resolved_by(name, resolver))
    }

    /// The records of this name, asked for by this resolver.
    pub fn resolved_by(name: impl Into<String>, resolver: DnsResolver) -> Self {
        Self {
            name: name.into(),
            resolver,
            weighted: false,
        }
    }

    /// Whether a node has the weight of its record (1 if that is 0); off by default.
    #[must_use]
    pub fn weighted(mut self, on: bool) -> Self {
        self.weighted = on;
        self
    }
}

impl Discovery for SrvRecords {
    async fn discover(&mut self, _: &Dialer) -> Result<Discovered, DiscoveryError> {
        let services = self.resolver.services(&self.name).await?;
        let records = &services.records;
        let best = records.iter().map(|record| record.priority).min();
        let mut nodes = Vec::new();
        for record in records.iter().filter(|r| Some(r.priority) == best) {
            let target = record.target.to_ascii();
            let host = target.trim_end_matches('.');
            // A target of `.` says that there is no such service.
            if host.is_empty() || record.port == 0 {
                continue;
            }
            let endpoint = Endpoint::Tcp {
                host: host.to_owned(),
                port: record.port,
            };
            let weight = if self.weighted {
                u32::from(record.weight.max(1))
            } else {
                1
            };
            nodes.push(NodeConfig::new(endpoint.to_string(), endpoint).weighted(weight));
        }
        // Name servers turn their answers round.
        nodes.sort_by(|a, b| a.name().cmp(b.name()));
        Ok(Discovered::new(nodes).valid_for(services.valid_for))
    }

    fn source(&self) -> String {
        format!("the SRV records of {}", self.name)
    }
}
