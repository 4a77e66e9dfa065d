//! A connection over TCP, a Unix socket, or whatever the server is given.

use std::io;
use std::time::Duration;

use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};

/// How a connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Closed in order: the peer reads the end of the stream.
    Close,
    /// Reset: what is under way is lost, and the peer gets an error.
    Reset,
}

/// A stream that a server can be [given](crate::Server::connect) as a connection.
pub trait Duplex: AsyncRead + AsyncWrite + Send + Sync + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Sync + Unpin> Duplex for T {}

pub(crate) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
    Given(Box<dyn Duplex>),
}

impl Stream {
    /// Ends the connection. Only TCP knows a reset; others are closed.
    pub(crate) fn end(self, ending: Ending) {
        if let (Stream::Tcp(stream), Ending::Reset) = (&self, ending)
            && let Err(error) = linger_not(stream)
        {
            tracing::debug!(%error, "a connection is closed where it was to be reset");
        }
    }
}

/// Makes dropping the stream reset the connection.
fn linger_not(stream: &TcpStream) -> io::Result<()> {
    SockRef::from(stream).set_linger(Some(Duration::ZERO))
}
