//! What carries the bytes: TCP and Unix sockets, or whatever a [`Connector`] makes.

use std::io;
use std::pin::Pin;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};

use crate::address::Endpoint;

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
}

/// The default connector: TCP over IPv4 and IPv6, and Unix sockets.
///
/// A host name is resolved anew for every connection, and its addresses are tried in the
/// resolver's order until one answers. `TCP_NODELAY` is set; keepalive probes find a peer that
/// vanished while its connection was idle (after 30 s, every 10 s, 3 times).
#[derive(Debug, Clone, Copy, Default)]
pub struct Sockets;

const KEEPALIVE: socket2::TcpKeepalive = socket2::TcpKeepalive::new()
    .with_time(Duration::from_secs(30))
    .with_interval(Duration::from_secs(10))
    .with_retries(3);

impl Connector for Sockets {
    fn connect<'a>(&'a self, endpoint: &'a Endpoint) -> Connecting<'a> {
        Box::pin(async move {
            match endpoint {
                Endpoint::Tcp { host, port } => {
                    let stream = TcpStream::connect((host.as_str(), *port)).await?;
                    stream.set_nodelay(true)?;
                    socket2::SockRef::from(&stream).set_tcp_keepalive(&KEEPALIVE)?;
                    Ok(Box::new(stream) as Box<dyn Transport>)
                }
                Endpoint::Unix(path) => {
                    Ok(Box::new(UnixStream::connect(path).await?) as Box<dyn Transport>)
                }
            }
        })
    }
}
