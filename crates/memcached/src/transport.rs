//! What carries the bytes: TCP and Unix sockets, or whatever a [`Connector`] makes.

use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};

use crate::address::Endpoint;
use crate::resolve::{Resolver, Resolving, SystemResolver, dial};

/// A connected byte stream to a node.
pub trait Transport: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Transport for T {}

/// What a [`Connector`] returns: a connection in the making.
pub type Connecting<'a> = Pin<Box<dyn Future<Output = io::Result<Box<dyn Transport>>> + Send + 'a>>;

/// Makes connections to nodes.
///
/// The default, [`Sockets`], opens TCP and Unix sockets. Give the
/// [builder](crate::Builder::connector) another one for a simulated network or a tunnel.
pub trait Connector: Send + Sync + 'static {
    /// Connects to `endpoint`. The client bounds the time and drops the future when it is up.
    fn connect<'a>(&'a self, endpoint: &'a Endpoint) -> Connecting<'a>;

    /// Looks a name up. By default there is no answer: names are the connector's own affair, and
    /// only [`connect`](Self::connect) is called.
    ///
    /// With an answer the client tries the addresses by [`connect_to`](Self::connect_to) as RFC 8305
    /// says, and follows the name when it comes to stand for others.
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> Option<Resolving<'a>> {
        let _ = (host, port);
        None
    }

    /// Connects to one address of `endpoint`, whose name was [resolved](Self::resolve).
    fn connect_to<'a>(&'a self, endpoint: &'a Endpoint, address: SocketAddr) -> Connecting<'a> {
        let _ = address;
        self.connect(endpoint)
    }
}

/// The default connector: TCP over IPv4 and IPv6, and Unix sockets.
///
/// A host name is resolved anew for every connection. Its IPv6 and IPv4 addresses are tried in turns,
/// each after 250 ms or when the one before has failed, and the first connection wins (RFC 8305).
/// `TCP_NODELAY` is set; keepalive probes find a peer that vanished while its connection was
/// idle (after 30 s, every 10 s, 3 times).
#[derive(Clone)]
pub struct Sockets {
    resolver: Arc<dyn Resolver>,
}

impl Sockets {
    /// Sockets whose names are resolved by this; by default the operating system does it.
    pub fn with_resolver(resolver: impl Resolver) -> Self {
        Self {
            resolver: Arc::new(resolver),
        }
    }
}

impl Default for Sockets {
    fn default() -> Self {
        Self::with_resolver(SystemResolver)
    }
}

impl fmt::Debug for Sockets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sockets").finish_non_exhaustive()
    }
}

const KEEPALIVE: socket2::TcpKeepalive = socket2::TcpKeepalive::new()
    .with_time(Duration::from_secs(30))
    .with_interval(Duration::from_secs(10))
    .with_retries(3);

impl Connector for Sockets {
    fn connect<'a>(&'a self, endpoint: &'a Endpoint) -> Connecting<'a> {
        Box::pin(async move {
            match endpoint {
                Endpoint::Tcp { host, port } => match host.parse::<IpAddr>() {
                    Ok(address) => tcp(SocketAddr::new(address, *port)).await,
                    Err(_) => Ok(dial(self, endpoint).await?.transport),
                },
                Endpoint::Unix(path) => {
                    Ok(Box::new(UnixStream::connect(path).await?) as Box<dyn Transport>)
                }
            }
        })
    }

    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> Option<Resolving<'a>> {
        Some(self.resolver.resolve(host, port))
    }

    fn connect_to<'a>(&'a self, _: &'a Endpoint, address: SocketAddr) -> Connecting<'a> {
        Box::pin(tcp(address))
    }
}

async fn tcp(address: SocketAddr) -> io::Result<Box<dyn Transport>> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    socket2::SockRef::from(&stream).set_tcp_keepalive(&KEEPALIVE)?;
    Ok(Box::new(stream))
}
