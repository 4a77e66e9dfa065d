//! One connection to a server, step by step.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Sent after every step: its reply, which no step's command causes, ends the step's.
const MARK: &[u8] = b"shutdown\r\n";
const MARK_REPLY: &[u8] = b"ERROR: shutdown not enabled\r\n";

/// A server that has not answered by then never will.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a server made of a step.
#[derive(PartialEq, Eq)]
pub(super) struct Outcome {
    reply: Vec<u8>,
    closed: bool,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}{}",
            show(&self.reply),
            if self.closed { " and closed" } else { "" }
        )
    }
}

/// Bytes as text, shortened in the middle.
pub(super) fn show(bytes: &[u8]) -> String {
    const ENDS: usize = 120;
    if bytes.len() <= 2 * ENDS {
        return format!("\"{}\"", bytes.escape_ascii());
    }
    let (head, tail) = (&bytes[..ENDS], &bytes[bytes.len() - ENDS..]);
    format!(
        "\"{}\" ... {} bytes ... \"{}\"",
        head.escape_ascii(),
        bytes.len(),
        tail.escape_ascii()
    )
}

/// A connection, made anew when a step has closed it.
pub(super) struct Session {
    addr: SocketAddr,
    stream: TcpStream,
}

impl Session {
    pub(super) async fn connect(addr: SocketAddr) -> io::Result<Self> {
        Ok(Self {
            addr,
            stream: TcpStream::connect(addr).await?,
        })
    }

    /// Sends the bytes and collects everything they cause.
    pub(super) async fn play(&mut self, step: &[u8]) -> io::Result<Outcome> {
        let outcome = self.exchange(&[step, MARK].concat(), MARK_REPLY).await?;
        if outcome.closed {
            self.stream = TcpStream::connect(self.addr).await?;
        }
        Ok(outcome)
    }

    /// Sends the bytes, upon which the server is to close, and collects what it says before.
    pub(super) async fn play_to_the_end(mut self, bytes: &[u8]) -> io::Result<Outcome> {
        self.exchange(bytes, b"never").await
    }

    async fn exchange(&mut self, request: &[u8], end: &[u8]) -> io::Result<Outcome> {
        let mut reply = Vec::new();
        let (mut source, mut sink) = self.stream.split();
        // A server that hangs up does so in the middle of the step.
        let send = async {
            sink.write_all(request)
                .await
                .or_else(|error| hung_up(error, ()))
        };
        let receive = async {
            while !reply.ends_with(end) {
                let read = source.read_buf(&mut reply).await;
                if read.or_else(|error| hung_up(error, 0))? == 0 {
                    return Ok::<_, io::Error>(true);
                }
            }
            Ok(false)
        };
        let both = async { tokio::join!(send, receive) };
        let (sent, closed) = timeout(PATIENCE, both).await.map_err(|_| {
            let message = format!("{} is not answered by {}", show(request), self.addr);
            io::Error::new(io::ErrorKind::TimedOut, message)
        })?;
        sent?;
        let closed = closed?;
        Ok(Outcome {
            reply: in_hundreds(&reply),
            closed,
        })
    }
}

/// Rounds the seconds in replies to meta commands to hundreds: what is left up, what has passed
/// down.
fn in_hundreds(reply: &[u8]) -> Vec<u8> {
    let lines = reply.split(|&byte| byte == b'\n').map(|line| {
        if !matches!(line.get(..3), Some(b"HD " | b"VA " | b"ME ")) {
            return line.to_vec();
        }
        let words = line.split(|&byte| byte == b' ').map(round);
        words.collect::<Vec<_>>().join(&b' ')
    });
    lines.collect::<Vec<_>>().join(&b'\n')
}

fn round(word: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(word);
    let (text, end) = match text.strip_suffix('\r') {
        Some(text) => (text, "\r"),
        None => (&*text, ""),
    };
    for (name, rounded_up) in [("t", true), ("exp=-", true), ("l", false), ("la=", false)] {
        if let Some(Ok(number)) = text.strip_prefix(name).map(str::parse::<u64>)
            && (name, number) != ("exp=-", 1)
        {
            let hundreds = if rounded_up {
                number.div_ceil(100)
            } else {
                number / 100
            };
            return format!("{name}{}{end}", 100 * hundreds).into_bytes();
        }
    }
    word.to_vec()
}

fn hung_up<T>(error: io::Error, outcome: T) -> io::Result<T> {
    match error.kind() {
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => Ok(outcome),
        _ => Err(error),
    }
}
