//! A network whose every event is decided by the test, in virtual time.
//!
//! The client connects through [`Network`]; each attempt reaches the test as an [`Attempt`],
//! which it accepts, refuses or leaves hanging. An accepted one gives the server's end as a
//! [`Peer`], through which the test reads requests and writes replies.

use std::io;
use std::time::Duration;

use futures_util::FutureExt;
use steersman_memcached::{Builder, Client, Connecting, Connector, Endpoint, Transport};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::sync::{mpsc, oneshot};

/// How much one direction of a connection holds before writing waits.
const BUFFER: usize = 64 * 1024;

pub(crate) struct Network {
    attempts: mpsc::UnboundedSender<Attempt>,
}

/// Attempts to connect, in the order in which they are made.
pub(crate) struct Attempts(mpsc::UnboundedReceiver<Attempt>);

pub(crate) struct Attempt {
    pub(crate) endpoint: String,
    answer: oneshot::Sender<io::Result<DuplexStream>>,
}

pub(crate) struct Peer(DuplexStream);

pub(crate) fn network() -> (Network, Attempts) {
    let (attempts, receiver) = mpsc::unbounded_channel();
    (Network { attempts }, Attempts(receiver))
}

/// A client of one node named `n` on a network of its own.
pub(crate) fn client(options: impl FnOnce(Builder) -> Builder) -> (Client, Attempts) {
    let (network, attempts) = network();
    let builder = Client::builder().node("n=host:1").connector(network);
    (options(builder).build().unwrap(), attempts)
}

impl Connector for Network {
    fn connect<'a>(&'a self, endpoint: &'a Endpoint) -> Connecting<'a> {
        self.attempt(endpoint.to_string())
    }
}

impl Network {
    pub(crate) fn attempt<'a>(&self, endpoint: String) -> Connecting<'a> {
        let (answer, made) = oneshot::channel();
        // Without a listener the network is gone, and the attempt is refused.
        let _ = self.attempts.send(Attempt { endpoint, answer });
        Box::pin(async move {
            match made.await {
                Ok(stream) => Ok(Box::new(stream?) as Box<dyn Transport>),
                Err(_) => Err(io::ErrorKind::ConnectionRefused.into()),
            }
        })
    }
}

impl Attempts {
    pub(crate) async fn next(&mut self) -> Attempt {
        self.0.recv().await.expect("the client is alive")
    }

    /// The next attempt if there is one before `within` has passed.
    pub(crate) async fn next_within(&mut self, within: Duration) -> Option<Attempt> {
        tokio::time::timeout(within, self.next()).await.ok()
    }
}

impl Attempt {
    pub(crate) fn accept(self) -> Peer {
        let (ours, theirs) = tokio::io::duplex(BUFFER);
        // A client that gave the attempt up sees nothing of it.
        let _ = self.answer.send(Ok(theirs));
        Peer(ours)
    }

    pub(crate) fn refuse(self) {
        let _ = self
            .answer
            .send(Err(io::ErrorKind::ConnectionRefused.into()));
    }
}

impl Peer {
    /// Reads exactly `request`.
    pub(crate) async fn expect(&mut self, request: &str) {
        let mut read = vec![0; request.len()];
        self.0
            .read_exact(&mut read)
            .await
            .expect("the client is connected");
        assert_eq!(String::from_utf8_lossy(&read), request);
    }

    pub(crate) async fn reply(&mut self, bytes: impl AsRef<[u8]>) {
        self.0
            .write_all(bytes.as_ref())
            .await
            .expect("the client is connected");
    }

    /// Reads `request` and answers it.
    pub(crate) async fn exchange(&mut self, request: &str, reply: &str) {
        self.expect(request).await;
        self.reply(reply).await;
    }

    /// What comes next in one read; empty when the client closed the connection.
    pub(crate) async fn read_some(&mut self) -> String {
        let mut bytes = vec![0; BUFFER];
        let count = self
            .0
            .read(&mut bytes)
            .await
            .expect("an in-memory pipe does not fail");
        String::from_utf8_lossy(&bytes[..count]).into_owned()
    }

    /// Whether there is nothing to read now.
    pub(crate) fn is_silent(&mut self) -> bool {
        let mut byte = [0];
        std::pin::pin!(self.0.read(&mut byte))
            .now_or_never()
            .is_none()
    }

    /// Waits until the client closes the connection, and expects nothing before that.
    pub(crate) async fn closed(&mut self) {
        assert_eq!(self.read_some().await, "");
    }
}

/// The reply to a read that hits.
pub(crate) fn hit(key: &str, value: &str) -> String {
    format!("VALUE {key} 0 {}\r\n{value}\r\nEND\r\n", value.len())
}

/// Lets every task run until all of them wait, without time passing.
pub(crate) async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}
