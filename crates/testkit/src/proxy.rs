//! A proxy that puts faults in front of any TCP server.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use crate::connections::Place;
use crate::fault::Faults;
use crate::gate::Endpoint;
use crate::host::{Host, Serve, accept_all};
use crate::observe::wait_until;
use crate::outbox::Outbox;
use crate::relay::{Work, relay};
use crate::stream::{Ending, Stream};

/// A TCP proxy with [`Faults`], for servers that cannot fail on demand.
///
/// Each client gets a connection of its own to the upstream. What clients send passes untouched
/// (but for a frozen proxy and a black hole); the faults strike what the upstream answers. An
/// upstream that cannot be reached, or resets its connection, resets the client's.
///
/// The proxy runs on the Tokio runtime it is started on and ends when it is dropped.
///
/// ```
/// use std::io::{Read, Write};
/// use steersman_testkit::{Ending, FaultProxy, Server, Times};
///
/// # #[tokio::main] async fn main() -> std::io::Result<()> {
/// let upstream = Server::start().await?;
/// let proxy = FaultProxy::start(upstream.node()).await?;
/// proxy.faults().cut_replies(Times::Next(1), 4, Ending::Close);
///
/// let mut client = std::net::TcpStream::connect(proxy.addr())?;
/// client.write_all(b"version\r\n")?;
/// let mut reply = String::new();
/// client.read_to_string(&mut reply)?;
/// assert_eq!(reply, "VERS");
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct FaultProxy {
    shared: Arc<Shared>,
    acceptor: JoinHandle<()>,
}

/// A proxy's counters at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProxyStats {
    /// Connections of clients open now.
    pub connections: usize,
    /// Connections of clients accepted so far.
    pub accepted: u64,
    /// Bytes passed to the upstream.
    pub bytes_up: u64,
    /// Bytes passed to the clients.
    pub bytes_down: u64,
}

#[derive(Debug)]
struct Shared {
    host: Host,
    upstream: String,
    bytes_up: AtomicU64,
    bytes_down: AtomicU64,
}

impl FaultProxy {
    /// Starts a proxy on a free port of 127.0.0.1 in front of `upstream`, a `host:port` that is
    /// connected to for each client anew.
    ///
    /// Fails if there is no free port, or outside a Tokio runtime.
    #[allow(
        clippy::unused_async,
        reason = "a proxy needs a runtime, and may have to wait one day"
    )]
    pub async fn start(upstream: impl Into<String>) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            host: Host::open(Endpoint::anywhere())?,
            upstream: upstream.into(),
            bytes_up: AtomicU64::new(0),
            bytes_down: AtomicU64::new(0),
        });
        let acceptor = tokio::spawn(accept_all(Arc::clone(&shared)));
        Ok(Self { shared, acceptor })
    }

    /// The address to connect to.
    pub fn addr(&self) -> SocketAddr {
        match self.shared.host.gate.endpoint() {
            Endpoint::Tcp(addr) => *addr,
            Endpoint::Unix(_) | Endpoint::Given => unreachable!("a proxy listens on TCP only"),
        }
    }

    /// The address as a client's configuration writes it.
    pub fn node(&self) -> String {
        self.shared.host.gate.endpoint().node()
    }

    /// What is to go wrong between the upstream and the clients.
    pub fn faults(&self) -> &Faults {
        &self.shared.host.faults
    }

    /// Stops the proxy: connections end, connecting is refused. Returns when all of that has
    /// happened. The address stays reserved for [`FaultProxy::restart`].
    pub async fn stop(&self) {
        self.shared.host.stop().await;
    }

    /// Starts the proxy again at the same address; a running one is stopped first.
    ///
    /// Fails if the address cannot be listened on again.
    pub async fn restart(&self) -> io::Result<()> {
        self.stop().await;
        self.shared.host.start_again()
    }

    /// What has passed so far.
    pub fn stats(&self) -> ProxyStats {
        let (connections, accepted) = self.shared.host.connections.count();
        ProxyStats {
            connections,
            accepted,
            bytes_up: self.shared.bytes_up.load(Ordering::Relaxed),
            bytes_down: self.shared.bytes_down.load(Ordering::Relaxed),
        }
    }

    /// Waits until the condition holds and returns the counters that fulfilled it; see
    /// [`Server::wait_for`](crate::Server::wait_for).
    ///
    /// ```
    /// # async fn example(proxy: &steersman_testkit::FaultProxy) {
    /// proxy.wait_for(|stats| stats.connections == 0).await;
    /// # }
    /// ```
    pub async fn wait_for(&self, mut condition: impl FnMut(&ProxyStats) -> bool) -> ProxyStats {
        let look = || Some(self.stats()).filter(|stats| condition(stats));
        wait_until(&self.shared.host.changed, look).await
    }
}

impl Drop for FaultProxy {
    fn drop(&mut self) {
        self.shared.host.gate.dismantle();
        self.acceptor.abort();
    }
}

impl Serve for Shared {
    fn host(&self) -> &Host {
        &self.host
    }

    async fn serve(&self, stream: &mut Stream, _place: Place) -> Ending {
        let ended = match stream {
            Stream::Tcp(stream) => {
                let (source, sink) = stream.split();
                self.connect(source, sink).await
            }
            Stream::Unix(stream) => {
                let (source, sink) = stream.split();
                self.connect(source, sink).await
            }
            Stream::Given(stream) => {
                let (source, sink) = tokio::io::split(stream);
                self.connect(source, sink).await
            }
        };
        ended.unwrap_or_else(|error| {
            tracing::debug!(%error, upstream = self.upstream, "a connection failed");
            Ending::Reset
        })
    }
}

impl Shared {
    async fn connect(
        &self,
        mut client_source: impl AsyncRead + Unpin,
        mut client_sink: impl AsyncWrite + Unpin,
    ) -> io::Result<Ending> {
        let faults = &self.host.faults;
        let mut upstream = TcpStream::connect(&self.upstream).await?;
        upstream.set_nodelay(true)?;
        let (mut upstream_source, mut upstream_sink) = upstream.split();

        let mut up = Forward::new(self, &self.bytes_up);
        let up = async {
            let plain = Outbox::new(None);
            relay(
                &mut client_source,
                &mut upstream_sink,
                faults,
                plain,
                &mut up,
            )
            .await?;
            // The client has said all it wants to say; it may still listen.
            upstream_sink.shutdown().await
        };
        let mut down = Forward::new(self, &self.bytes_down);
        let shaped = Outbox::new(Some(faults.clone()));
        let down = relay(
            &mut upstream_source,
            &mut client_sink,
            faults,
            shaped,
            &mut down,
        );

        tokio::pin!(down);
        tokio::select! {
            sent = up => sent?,
            ending = &mut down => return ending,
        }
        down.await
    }
}

/// Passes bytes on in one direction.
struct Forward<'a> {
    shared: &'a Shared,
    passed: &'a AtomicU64,
    /// It lost bytes in a black hole: the rest makes no sense.
    is_dead: bool,
}

impl<'a> Forward<'a> {
    fn new(shared: &'a Shared, passed: &'a AtomicU64) -> Self {
        Self {
            shared,
            passed,
            is_dead: false,
        }
    }
}

impl Work for Forward<'_> {
    fn work(&mut self, input: &mut BytesMut, outbox: &mut Outbox) {
        if self.is_dead || self.shared.host.faults.is_black_hole() {
            self.is_dead |= !input.is_empty();
            input.clear();
            return;
        }
        outbox.push(input.split().freeze());
    }

    fn received(&mut self, _bytes: usize) {}

    fn sent(&mut self, bytes: usize) {
        self.passed.fetch_add(bytes as u64, Ordering::Relaxed);
        self.shared.host.changed.notify_waiters();
    }
}
