//! A resolver that asks name servers itself and knows how long their answers are valid.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{NameServerConfig, ResolverConfig};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::rr::RData;
use hickory_resolver::proto::rr::rdata::SRV;

use super::{Resolved, Resolver, Resolving};

/// Asks name servers itself, by hickory: names are looked up again when their records' TTL is over.
/// Needs the crate's feature `dns`.
///
/// ```no_run
/// use steersman_memcached::{Client, DnsResolver, Sockets};
///
/// # fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let sockets = Sockets::with_resolver(DnsResolver::system()?);
/// let client = Client::builder().node("cache-1.example").connector(sockets).build()?;
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct DnsResolver {
    resolver: TokioResolver,
}

/// Services and for how long they are valid.
pub(crate) struct Services {
    pub(crate) records: Vec<SRV>,
    pub(crate) valid_for: Duration,
}

impl DnsResolver {
    /// With the name servers and search domains of the system (`/etc/resolv.conf`), and its
    /// `/etc/hosts`.
    ///
    /// # Errors
    ///
    /// If that configuration cannot be read.
    pub fn system() -> io::Result<Self> {
        let builder = TokioResolver::builder_tokio().map_err(io::Error::other)?;
        let resolver = builder.build().map_err(io::Error::other)?;
        Ok(Self { resolver })
    }

    /// With these name servers, by UDP and, for long answers, TCP.
    ///
    /// # Errors
    ///
    /// If a resolver cannot be made of them.
    pub fn with_servers(servers: impl IntoIterator<Item = SocketAddr>) -> io::Result<Self> {
        let servers = servers.into_iter().map(|server| {
            let mut config = NameServerConfig::udp_and_tcp(server.ip());
            for connection in &mut config.connections {
                connection.port = server.port();
            }
            config
        });
        let config = ResolverConfig::from_name_servers(servers.collect());
        let provider = TokioRuntimeProvider::default();
        let builder = TokioResolver::builder_with_config(config, provider);
        let resolver = builder.build().map_err(io::Error::other)?;
        Ok(Self { resolver })
    }

    /// The SRV records of a name.
    pub(crate) async fn services(&self, name: &str) -> Result<Services, NetError> {
        let lookup = self.resolver.srv_lookup(name).await?;
        let records = lookup.answers().iter().filter_map(|record| {
            let RData::SRV(service) = &record.data else {
                return None;
            };
            Some(service.clone())
        });
        Ok(Services {
            records: records.collect(),
            valid_for: left(lookup.valid_until()),
        })
    }
}

impl Resolver for DnsResolver {
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> Resolving<'a> {
        Box::pin(async move {
            let lookup = self.resolver.lookup_ip(host).await;
            let lookup = lookup.map_err(io::Error::other)?;
            let addresses = lookup.iter().map(|address| SocketAddr::new(address, port));
            Ok(Resolved::new(addresses).valid_for(left(lookup.valid_until())))
        })
    }
}

impl fmt::Debug for DnsResolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DnsResolver").finish_non_exhaustive()
    }
}

fn left(valid_until: Instant) -> Duration {
    valid_until.saturating_duration_since(Instant::now())
}
