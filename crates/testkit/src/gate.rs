//! Where a server listens: a listener that can be closed and opened again at the same address.
//!
//! Closing takes effect before the call returns: from then on connects are refused. While it is
//! closed, the port stays reserved, so that no other program and no other test gets it: on Linux
//! a second socket is bound to it that never listens.

use std::fmt;
use std::future::poll_fn;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::{TcpListener, UnixListener};
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use crate::lock;
use crate::stream::{Duplex, Stream};

/// So many connections wait to be accepted, as memcached has it.
const BACKLOG: u16 = 1024;

/// Where to listen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Endpoint {
    Tcp(SocketAddr),
    Unix(PathBuf),
    /// Nowhere: connections are given.
    Given,
}

impl Endpoint {
    /// A free port of 127.0.0.1.
    pub(crate) fn anywhere() -> Self {
        Self::Tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
    }

    /// As a client's configuration writes it.
    pub(crate) fn node(&self) -> String {
        match self {
            Endpoint::Tcp(addr) => addr.to_string(),
            Endpoint::Unix(path) => format!("unix:{}", path.display()),
            Endpoint::Given => "given".to_owned(),
        }
    }
}

pub(crate) struct Gate {
    endpoint: Endpoint,
    runtime: Handle,
    state: Mutex<State>,
    _reservation: Option<Socket>,
}

struct State {
    listener: Option<Listener>,
    /// Where connections are given to a server that listens nowhere.
    entrance: Option<mpsc::Sender<Box<dyn Duplex>>>,
    stopped: bool,
    refusing: bool,
    /// Who waits for a connection.
    waiting: Option<Waker>,
}

enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
    Given(mpsc::Receiver<Box<dyn Duplex>>),
}

impl Gate {
    /// Listens at `endpoint`, which loses its port 0 for the port found.
    pub(crate) fn open(endpoint: Endpoint) -> io::Result<Self> {
        let runtime = Handle::try_current().map_err(io::Error::other)?;
        let mut entrance = None;
        let (endpoint, listener, reservation) = match endpoint {
            Endpoint::Tcp(addr) => {
                let reservation = bind(addr)?;
                let addr = local_addr(&reservation)?;
                // Elsewhere two sockets may not share an address even if one never listens.
                let reservation = cfg!(target_os = "linux").then_some(reservation);
                (Endpoint::Tcp(addr), listen_tcp(addr)?, reservation)
            }
            Endpoint::Unix(path) => {
                let listener = Listener::Unix(UnixListener::bind(&path)?);
                (Endpoint::Unix(path), listener, None)
            }
            Endpoint::Given => (Endpoint::Given, open_entrance(&mut entrance), None),
        };
        let state = State {
            listener: Some(listener),
            entrance,
            stopped: false,
            refusing: false,
            waiting: None,
        };
        Ok(Self {
            endpoint,
            runtime,
            state: Mutex::new(state),
            _reservation: reservation,
        })
    }

    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Closes for a stopped server, or opens for one started again.
    pub(crate) fn set_stopped(&self, stopped: bool) -> io::Result<()> {
        let mut state = lock(&self.state);
        state.stopped = stopped;
        self.apply(&mut state)
    }

    /// Closes for good and leaves nothing behind.
    pub(crate) fn dismantle(&self) {
        let mut state = lock(&self.state);
        state.stopped = true;
        state.listener = None;
        if let Endpoint::Unix(path) = &self.endpoint {
            // Somebody may have tidied up before.
            let _ = std::fs::remove_file(path);
        }
    }

    /// Closes for a fault, or opens at its end.
    pub(crate) fn set_refusing(&self, refusing: bool) -> io::Result<()> {
        let mut state = lock(&self.state);
        state.refusing = refusing;
        self.apply(&mut state)
    }

    fn apply(&self, state: &mut State) -> io::Result<()> {
        if state.stopped || state.refusing {
            state.listener = None;
        } else if state.listener.is_none() {
            let _entered = self.runtime.enter();
            let listener = self.listen_again(&mut state.entrance)?;
            state.listener = Some(listener);
            if let Some(waiting) = state.waiting.take() {
                waiting.wake();
            }
        }
        Ok(())
    }

    fn listen_again(
        &self,
        entrance: &mut Option<mpsc::Sender<Box<dyn Duplex>>>,
    ) -> io::Result<Listener> {
        match &self.endpoint {
            Endpoint::Tcp(addr) => listen_tcp(*addr),
            Endpoint::Unix(path) => {
                match std::fs::remove_file(path) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
                Ok(Listener::Unix(UnixListener::bind(path)?))
            }
            Endpoint::Given => Ok(open_entrance(entrance)),
        }
    }

    /// Lets a stream wait to be accepted, as the system does with those that connect.
    pub(crate) fn enter(&self, stream: Box<dyn Duplex>) -> io::Result<()> {
        match &lock(&self.state).entrance {
            Some(entrance) => entrance
                .try_send(stream)
                .map_err(|_| io::ErrorKind::ConnectionRefused.into()),
            None => Err(io::Error::new(
                io::ErrorKind::Unsupported,
                format!(
                    "the server listens at {}: connect there",
                    self.endpoint.node()
                ),
            )),
        }
    }

    /// Waits for the next connection, over times when the gate is closed.
    ///
    /// `admit` is called before the gate can be closed: whoever closes it knows that every
    /// connection was admitted or will never be.
    pub(crate) async fn accept<T>(&self, mut admit: impl FnMut() -> T) -> io::Result<(Stream, T)> {
        poll_fn(|context| {
            let mut state = lock(&self.state);
            state.waiting = Some(context.waker().clone());
            let Some(listener) = &mut state.listener else {
                return Poll::Pending;
            };
            listener
                .poll_accept(context)
                .map_ok(|stream| (stream, admit()))
        })
        .await
    }
}

impl Listener {
    fn poll_accept(&mut self, context: &mut Context<'_>) -> Poll<io::Result<Stream>> {
        match self {
            Listener::Tcp(listener) => listener.poll_accept(context).map_ok(|(stream, _)| {
                // Replies leave as they are written; a failure costs latency, no more.
                let _ = stream.set_nodelay(true);
                Stream::Tcp(stream)
            }),
            Listener::Unix(listener) => listener
                .poll_accept(context)
                .map_ok(|(stream, _)| Stream::Unix(stream)),
            // Its sender is kept beside it.
            Listener::Given(given) => match given.poll_recv(context) {
                Poll::Ready(Some(stream)) => Poll::Ready(Ok(Stream::Given(stream))),
                Poll::Ready(None) | Poll::Pending => Poll::Pending,
            },
        }
    }
}

fn open_entrance(entrance: &mut Option<mpsc::Sender<Box<dyn Duplex>>>) -> Listener {
    let (sender, receiver) = mpsc::channel(BACKLOG.into());
    *entrance = Some(sender);
    Listener::Given(receiver)
}

fn bind(addr: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(addr), Type::STREAM, Some(Protocol::TCP))?;
    if addr.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    socket.set_reuse_address(true)?;
    socket.bind(&addr.into())?;
    Ok(socket)
}

fn listen_tcp(addr: SocketAddr) -> io::Result<Listener> {
    let socket = bind(addr)?;
    socket.listen(BACKLOG.into())?;
    socket.set_nonblocking(true)?;
    Ok(Listener::Tcp(TcpListener::from_std(socket.into())?))
}

fn local_addr(socket: &Socket) -> io::Result<SocketAddr> {
    let addr = socket.local_addr()?;
    addr.as_socket()
        .ok_or_else(|| io::Error::other("a TCP socket has no internet address"))
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate")
            .field("endpoint", &self.endpoint)
            .finish_non_exhaustive()
    }
}
