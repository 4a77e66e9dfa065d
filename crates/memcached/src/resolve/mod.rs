//! From the name of a host to a connection: resolving, and trying the addresses.
//!
//! A [`Connector`] may leave names to the client ([`Connector::resolve`]). Then each connection to a
//! name is made by [`dial`]: the name is resolved anew and its addresses are tried in the order and
//! with the delays of RFC 8305 ([`race`]). The node remembers which address it came to.

#[cfg(feature = "dns")]
mod dns;
mod race;
mod system;

use std::collections::HashSet;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::time::Duration;

#[cfg(feature = "dns")]
pub use self::dns::DnsResolver;
pub use self::system::SystemResolver;
use crate::address::Endpoint;
use crate::transport::{Connector, Transport};

/// More addresses of one name are not kept: what fits into an answer of 64 KiB.
const MOST_ADDRESSES: usize = 4096;

/// More addresses of one name are not tried for a connection.
const MOST_TRIED: usize = 32;

/// What a [`Resolver`] returns: the addresses of a name, in the making.
pub type Resolving<'a> = Pin<Box<dyn Future<Output = io::Result<Resolved>> + Send + 'a>>;

/// Finds the addresses of hosts for [`Sockets`](crate::Sockets).
pub trait Resolver: Send + Sync + 'static {
    /// The addresses of `host`, which is no address itself, each with `port`.
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> Resolving<'a>;
}

/// The addresses of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Resolved {
    addresses: Vec<SocketAddr>,
    valid_for: Option<Duration>,
}

impl Resolved {
    /// These addresses, the best first; of more than 4,096 the first ones. None is as good as an error.
    ///
    /// A connection is tried to the first 32.
    pub fn new(addresses: impl IntoIterator<Item = SocketAddr>) -> Self {
        let mut known = HashSet::new();
        let distinct = addresses
            .into_iter()
            .filter(|address| known.insert(*address));
        Self {
            addresses: distinct.take(MOST_ADDRESSES).collect(),
            valid_for: None,
        }
    }

    /// How long they are valid (the record's TTL), after which the name is resolved again; by
    /// default [`resolve_interval`](crate::Builder::resolve_interval) says when.
    pub fn valid_for(mut self, time: Duration) -> Self {
        self.valid_for = Some(time);
        self
    }

    /// The addresses, the best first.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    pub(crate) fn validity(&self) -> Option<Duration> {
        self.valid_for
    }
}

/// A connection, and how it came about.
pub(crate) struct Dialled {
    pub(crate) transport: Box<dyn Transport>,
    pub(crate) route: Option<Route>,
}

/// Which address of a name a connection was made to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Route {
    pub(crate) address: SocketAddr,
    /// For how long the name was said to stand for it.
    pub(crate) valid_for: Option<Duration>,
}

/// Connects to an endpoint, by the addresses of its name if the connector leaves that to us.
pub(crate) async fn dial(connector: &dyn Connector, endpoint: &Endpoint) -> io::Result<Dialled> {
    let Some(resolving) = resolve(connector, endpoint) else {
        let transport = connector.connect(endpoint).await?;
        return Ok(Dialled {
            transport,
            route: None,
        });
    };
    let resolved = resolving.await?;
    let attempt = |address| connector.connect_to(endpoint, address);
    let mut addresses = race::interleave(resolved.addresses());
    addresses.truncate(MOST_TRIED);
    let (address, transport) = race::race(addresses, attempt).await?;
    Ok(Dialled {
        transport,
        route: Some(Route {
            address,
            valid_for: resolved.validity(),
        }),
    })
}

/// Looks the endpoint's name up, if it has one and the connector leaves that to us.
pub(crate) fn resolve<'a>(
    connector: &'a dyn Connector,
    endpoint: &'a Endpoint,
) -> Option<impl Future<Output = io::Result<Resolved>> + Send + use<'a>> {
    let Endpoint::Tcp { host, port } = endpoint else {
        return None;
    };
    if host.parse::<IpAddr>().is_ok() {
        return None;
    }
    let resolving = connector.resolve(host, *port)?;
    Some(async move {
        let cannot = |error: &dyn std::fmt::Display| format!("{host} cannot be resolved: {error}");
        match resolving.await {
            Ok(resolved) if resolved.addresses.is_empty() => Err(io::Error::new(
                io::ErrorKind::HostUnreachable,
                cannot(&"it has no address"),
            )),
            Ok(resolved) => Ok(resolved),
            Err(error) => Err(io::Error::new(error.kind(), cannot(&error))),
        }
    })
}
