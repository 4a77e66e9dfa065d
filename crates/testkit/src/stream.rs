//! A connection over TCP or a Unix socket.

use std::io;
use std::time::Duration;

use socket2::SockRef;
use tokio::net::{TcpStream, UnixStream};

/// How a connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Closed in order: the peer reads the end of the stream.
    Close,
    /// Reset: what is under way is lost, and the peer gets an error.
    Reset,
}

#[derive(Debug)]
pub(crate) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    /// Ends the connection. A Unix socket knows no reset and is closed.
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
