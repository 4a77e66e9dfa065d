//! How one client reaches the network.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use steersman_memcached::{Connecting, Connector, Endpoint, Resolving, Transport};

use super::{Names, Network};

/// The place of one client on the network.
pub(crate) struct Reach {
    pub(crate) network: Arc<Network>,
    pub(crate) names: Arc<Names>,
    pub(crate) client: usize,
}

impl Reach {
    fn to(&self, address: SocketAddr) -> Connecting<'_> {
        Box::pin(async move {
            let socket = Arc::clone(&self.network)
                .connect(self.client, address)
                .await?;
            Ok(Box::new(socket) as Box<dyn Transport>)
        })
    }
}

impl Connector for Reach {
    fn connect<'a>(&'a self, endpoint: &'a Endpoint) -> Connecting<'a> {
        let address = match endpoint {
            Endpoint::Tcp { host, port } => host.parse::<IpAddr>().ok().map(|ip| (ip, *port)),
            _ => None,
        };
        match address {
            Some(address) => self.to(SocketAddr::from(address)),
            None => Box::pin(async { Err(io::ErrorKind::AddrNotAvailable.into()) }),
        }
    }

    fn resolve<'a>(&'a self, host: &'a str, _: u16) -> Option<Resolving<'a>> {
        Some(self.names.resolve(host))
    }

    fn connect_to<'a>(&'a self, _: &'a Endpoint, address: SocketAddr) -> Connecting<'a> {
        self.to(address)
    }
}
