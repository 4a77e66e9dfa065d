//! The embedded server: starting, stopping, looking at it.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use bytes::BytesMut;
use steersman_memcached_protocol::server::{Rejection, Reply, Request};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::task::JoinHandle;

use crate::builder::Builder;
use crate::clock::Clock;
use crate::connections::Place;
use crate::fault::Faults;
use crate::gate::Endpoint;
use crate::host::{Host, Serve, accept_all};
use crate::item::Seconds;
use crate::lock;
use crate::machine::{Machine, Settings};
use crate::observe::{Stats, wait_until};
use crate::outbox::Outbox;
use crate::relay::relay;
use crate::script::Script;
use crate::session::Session;
use crate::stream::{Duplex, Ending, Stream};

/// A memcached server inside this process.
///
/// It runs on the Tokio runtime it is started on and ends when it is dropped.
///
/// ```
/// use std::io::{Read, Write};
/// use steersman_testkit::Server;
///
/// # #[tokio::main] async fn main() -> std::io::Result<()> {
/// let server = Server::start().await?;
/// let mut client = std::net::TcpStream::connect(server.addr())?;
/// client.write_all(b"set greeting 0 0 5\r\nhello\r\nget greeting\r\nquit\r\n")?;
/// let mut replies = String::new();
/// client.read_to_string(&mut replies)?;
/// assert_eq!(replies, "STORED\r\nVALUE greeting 0 5\r\nhello\r\nEND\r\n");
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Server {
    pub(crate) shared: Arc<Shared>,
    acceptor: JoinHandle<()>,
}

/// What the handle and the connections share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) host: Host,
    pub(crate) settings: Settings,
    pub(crate) script: Script,
    pub(crate) machine: Mutex<Machine>,
    pub(crate) turned_away: AtomicU64,
    pub(crate) bytes_read: AtomicU64,
    pub(crate) bytes_written: AtomicU64,
    clock: Arc<dyn Clock>,
}

impl Server {
    /// Starts a server on a free port of 127.0.0.1, with memcached's defaults.
    ///
    /// Fails if there is no free port, or outside a Tokio runtime.
    pub async fn start() -> io::Result<Self> {
        Self::builder().start().await
    }

    /// A server with other limits, at another address or with another clock.
    pub fn builder() -> Builder {
        Builder::new()
    }

    pub(crate) fn launch(
        endpoint: Endpoint,
        settings: Settings,
        clock: Arc<dyn Clock>,
    ) -> io::Result<Self> {
        let now = seconds(&*clock);
        let shared = Arc::new(Shared {
            host: Host::open(endpoint)?,
            machine: Mutex::new(Machine::new(&settings, now)),
            settings,
            script: Script::default(),
            turned_away: AtomicU64::new(0),
            bytes_read: AtomicU64::new(0),
            bytes_written: AtomicU64::new(0),
            clock,
        });
        let acceptor = tokio::spawn(accept_all(Arc::new(Connector {
            shared: Arc::clone(&shared),
        })));
        Ok(Self { shared, acceptor })
    }

    /// The address to connect to.
    ///
    /// # Panics
    ///
    /// If the server does not listen on TCP; [`Server::node`] is for Unix sockets too.
    pub fn addr(&self) -> SocketAddr {
        match self.shared.host.gate.endpoint() {
            Endpoint::Tcp(addr) => *addr,
            Endpoint::Unix(path) => {
                panic!(
                    "the server listens on the Unix socket {}, not on TCP",
                    path.display()
                )
            }
            Endpoint::Given => panic!("the server listens nowhere: connections are given to it"),
        }
    }

    /// The address as a client's configuration writes it: `127.0.0.1:11211`, `[::1]:11211` or
    /// `unix:/path`; `given` for a server that [listens nowhere](Builder::listen_nowhere).
    pub fn node(&self) -> String {
        self.shared.host.gate.endpoint().node()
    }

    /// Gives a connection to a server that [listens nowhere](Builder::listen_nowhere).
    ///
    /// ```
    /// use steersman_testkit::Server;
    /// use tokio::io::{AsyncReadExt, AsyncWriteExt};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> std::io::Result<()> {
    /// let server = Server::builder().listen_nowhere().start().await?;
    /// let (mut client, stream) = tokio::io::duplex(1024);
    /// server.connect(stream)?;
    /// client.write_all(b"version\r\nquit\r\n").await?;
    /// let mut reply = String::new();
    /// client.read_to_string(&mut reply).await?;
    /// assert_eq!(reply, "VERSION 1.6.18\r\n");
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`ConnectionRefused`](io::ErrorKind::ConnectionRefused) while the server is stopped or refuses, or
    /// if 1,024 connections wait to be accepted; [`Unsupported`](io::ErrorKind::Unsupported) if it listens
    /// somewhere.
    pub fn connect(&self, stream: impl Duplex + 'static) -> io::Result<()> {
        self.shared.host.gate.enter(Box::new(stream))
    }

    /// What is to go wrong on the way to the clients.
    pub fn faults(&self) -> &Faults {
        &self.shared.host.faults
    }

    /// What is to be answered in place of the server's own replies.
    pub fn script(&self) -> &Script {
        &self.shared.script
    }

    /// Stops the server as if it were killed: connections end, connecting is refused. Returns
    /// when all of that has happened. The address stays reserved for [`Server::restart`].
    pub async fn stop(&self) {
        self.shared.host.stop().await;
    }

    /// Starts the server again at the same address with an empty cache; a running one is stopped
    /// first. Faults and the script stay as they are.
    ///
    /// Fails if the address cannot be listened on again.
    pub async fn restart(&self) -> io::Result<()> {
        self.stop().await;
        let now = self.shared.now();
        lock(&self.shared.machine).restart(&self.shared.settings, now);
        self.shared.host.start_again()
    }

    /// What the server has seen so far.
    pub fn stats(&self) -> Stats {
        let (connections, accepted) = self.shared.host.connections.count();
        Stats {
            connections,
            accepted,
            turned_away: self.shared.turned_away.load(Ordering::Relaxed),
            bytes_read: self.shared.bytes_read.load(Ordering::Relaxed),
            bytes_written: self.shared.bytes_written.load(Ordering::Relaxed),
            commands: lock(&self.shared.machine).counts.clone(),
        }
    }

    /// The requests received last, the oldest first: as many as
    /// [`Builder::keep_requests`] says, none by default.
    pub fn requests(&self) -> Vec<Request> {
        lock(&self.shared.machine).requests()
    }

    /// Waits until the condition holds and returns the counters that fulfilled it. Looks again
    /// at every event, not after a time: it returns as soon as it can, and never if the
    /// condition never holds.
    ///
    /// ```
    /// # use steersman_testkit::Server;
    /// # use steersman_memcached_protocol::server::Verb;
    /// # async fn example(server: &Server) {
    /// server.wait_for(|stats| stats.commands.of(Verb::Set) == 3).await;
    /// # }
    /// ```
    pub async fn wait_for(&self, mut condition: impl FnMut(&Stats) -> bool) -> Stats {
        let look = || Some(self.stats()).filter(|stats| condition(stats));
        wait_until(&self.shared.host.changed, look).await
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.host.gate.dismantle();
        self.acceptor.abort();
    }
}

impl Shared {
    pub(crate) fn now(&self) -> Seconds {
        seconds(&*self.clock)
    }
}

fn seconds(clock: &dyn Clock) -> Seconds {
    clock.now().as_secs().try_into().unwrap_or(Seconds::MAX)
}

/// Connects clients with the server.
struct Connector {
    shared: Arc<Shared>,
}

impl Serve for Connector {
    fn host(&self) -> &Host {
        &self.shared.host
    }

    async fn serve(&self, stream: &mut Stream, place: Place) -> Ending {
        let ended = match stream {
            Stream::Tcp(stream) => {
                let (source, sink) = stream.split();
                self.converse(source, sink, place).await
            }
            Stream::Unix(stream) => {
                let (source, sink) = stream.split();
                self.converse(source, sink, place).await
            }
            Stream::Given(stream) => {
                let (source, sink) = tokio::io::split(stream);
                self.converse(source, sink, place).await
            }
        };
        ended.unwrap_or_else(|error| {
            tracing::debug!(%error, "a client is gone");
            Ending::Close
        })
    }
}

impl Connector {
    async fn converse(
        &self,
        mut source: impl AsyncRead + Unpin,
        mut sink: impl AsyncWrite + Unpin,
        place: Place,
    ) -> io::Result<Ending> {
        let shared = &self.shared;
        if place.open > shared.settings.max_connections {
            shared.turned_away.fetch_add(1, Ordering::Relaxed);
            let mut refusal = BytesMut::new();
            Reply::Rejected(Rejection::TooManyConnections).encode(&mut refusal);
            sink.write_all(&refusal).await?;
            return Ok(Ending::Close);
        }
        let mut session = Session::new(Arc::clone(shared));
        let faults = &shared.host.faults;
        let outbox = Outbox::new(Some(faults.clone()));
        relay(&mut source, &mut sink, faults, outbox, &mut session).await
    }
}
