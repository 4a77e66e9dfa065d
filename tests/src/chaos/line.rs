//! A connection to a server for one request after the other, past all proxies and without a client.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConnection, StreamOwned};

use super::guard::{Lock, USER};

/// A server that works answers by then, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(120);

/// Where a server is, and what it asks for.
#[derive(Debug, Clone, Copy)]
pub struct Door<'a> {
    /// Its address.
    pub addr: SocketAddr,
    /// The TLS and the credentials that it wants, if any.
    pub lock: Option<&'a Lock>,
}

impl Door<'_> {
    /// That of a node, by its name, for whoever has neither TLS nor a password.
    pub fn of(node: &str) -> io::Result<Self> {
        let addr = node.parse().map_err(io::Error::other)?;
        Ok(Self { addr, lock: None })
    }

    /// How many connections the server has, that of whoever asks included.
    pub fn connections(self) -> io::Result<u64> {
        let mut line = Line::connect(self)?;
        let mut found = None;
        let mut said = line.ask("stats\r\n")?;
        while said != "END" {
            if let Some(count) = said.strip_prefix("STAT curr_connections ") {
                found = count.parse().ok();
            }
            said = line.hear()?;
        }
        found.ok_or_else(|| {
            let addr = self.addr;
            io::Error::other(format!("{addr} does not say how many connections it has"))
        })
    }

    /// What the server says to one more connection that asks for its version, if it takes it and answers.
    pub fn answers(self) -> io::Result<String> {
        Line::within(self, Duration::from_secs(1))?.ask("version\r\n")
    }
}

/// A connection for one request after the other.
pub struct Line {
    stream: BufReader<Box<dyn Stream>>,
}

trait Stream: Read + Write {}

impl<T: Read + Write> Stream for T {}

impl Line {
    /// Connects.
    pub fn connect(door: Door<'_>) -> io::Result<Self> {
        Self::within(door, PATIENCE)
    }

    fn within(door: Door<'_>, patience: Duration) -> io::Result<Self> {
        let socket = TcpStream::connect_timeout(&door.addr, patience)?;
        socket.set_read_timeout(Some(patience))?;
        socket.set_nodelay(true)?;
        let Some(lock) = door.lock else {
            return Ok(Self::over(socket));
        };
        let name = ServerName::from(door.addr.ip());
        let session = ClientConnection::new(Arc::clone(&lock.tls), name);
        let session = session.map_err(io::Error::other)?;
        let mut line = Self::over(StreamOwned::new(session, socket));
        let token = format!("{USER} {}", lock.password);
        match line.ask(&format!("set login 0 0 {}\r\n{token}\r\n", token.len()))? {
            said if said == "STORED" => Ok(line),
            said => Err(io::Error::other(format!("the password is refused: {said}"))),
        }
    }

    fn over(stream: impl Stream + 'static) -> Self {
        Self {
            stream: BufReader::new(Box::new(stream)),
        }
    }

    /// Sends a request; the first line of its reply.
    pub fn ask(&mut self, request: &str) -> io::Result<String> {
        let stream = self.stream.get_mut();
        stream.write_all(request.as_bytes())?;
        stream.flush()?;
        self.hear()
    }

    /// The next line.
    pub fn hear(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        line.truncate(line.trim_end().len());
        Ok(line)
    }
}
