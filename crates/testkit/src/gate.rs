//! Where a server listens: a listener that can be closed and opened again at the same address.
//!
//! Closing takes effect before the call returns: from then on connects are refused. While it is
//! closed, the port stays reserved, so that no other program and no other test gets it: on Linux
//! a second socket is bound to it that never listens.

use std::future::poll_fn;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::{TcpListener, UnixListener};
use tokio::runtime::Handle;

use crate::lock;
use crate::stream::Stream;

/// So many connections wait to be accepted, as memcached has it.
const BACKLOG: i32 = 1024;

/// Where to listen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Endpoint {
    Tcp(SocketAddr),
    Unix(PathBuf),
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
        }
    }
}

#[derive(Debug)]
pub(crate) struct Gate {
    endpoint: Endpoint,
    runtime: Handle,
    state: Mutex<State>,
    _reservation: Option<Socket>,
}

#[derive(Debug)]
struct State {
    listener: Option<Listener>,
    stopped: bool,
    refusing: bool,
    /// Who waits for a connection.
    waiting: Option<Waker>,
}

#[derive(Debug)]
enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Gate {
    /// Listens at `endpoint`, which loses its port 0 for the port found.
    pub(crate) fn open(endpoint: Endpoint) -> io::Result<Self> {
        let runtime = Handle::try_current().map_err(io::Error::other)?;
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
        };
        let state = State {
            listener: Some(listener),
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
            state.listener = Some(self.listen_again()?);
            if let Some(waiting) = state.waiting.take() {
                waiting.wake();
            }
        }
        Ok(())
    }

    fn listen_again(&self) -> io::Result<Listener> {
        match &self.endpoint {
            Endpoint::Tcp(addr) => listen_tcp(*addr),
            Endpoint::Unix(path) => {
                match std::fs::remove_file(path) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
                Ok(Listener::Unix(UnixListener::bind(path)?))
            }
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
            let Some(listener) = &state.listener else {
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
    fn poll_accept(&self, context: &mut Context<'_>) -> Poll<io::Result<Stream>> {
        match self {
            Listener::Tcp(listener) => listener.poll_accept(context).map_ok(|(stream, _)| {
                // Replies leave as they are written; a failure costs latency, no more.
                let _ = stream.set_nodelay(true);
                Stream::Tcp(stream)
            }),
            Listener::Unix(listener) => listener
                .poll_accept(context)
                .map_ok(|(stream, _)| Stream::Unix(stream)),
        }
    }
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
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    Ok(Listener::Tcp(TcpListener::from_std(socket.into())?))
}

fn local_addr(socket: &Socket) -> io::Result<SocketAddr> {
    let addr = socket.local_addr()?;
    addr.as_socket()
        .ok_or_else(|| io::Error::other("a TCP socket has no internet address"))
}
