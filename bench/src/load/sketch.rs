//! The least that a client on Tokio can do, to tell what the runtime costs from what the client costs.
//!
//! A channel of keys to a task that owns the connection, and a channel back for each value. It puts whatever
//! waits on one line, and takes for granted that each read is a hit: no errors, no time-outs, no cancellation,
//! no routing, one kind of request. Nobody could use it.

use std::collections::VecDeque;
use std::io;

use bytes::{Buf, Bytes, BytesMut};
use steersman_bench_contract::Peer;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};
use tokio::task::yield_now;

type Read = (String, oneshot::Sender<Bytes>);

#[derive(Clone)]
pub(crate) struct Sketch {
    connections: Vec<mpsc::UnboundedSender<Read>>,
    mine: usize,
}

impl Peer for Sketch {
    async fn connect(server: String, connections: usize) -> Result<Self, String> {
        let mut senders = Vec::new();
        for _ in 0..connections {
            let socket = TcpStream::connect(&server).await;
            let socket = socket.map_err(|error| error.to_string())?;
            socket
                .set_nodelay(true)
                .map_err(|error| error.to_string())?;
            let (sender, reads) = mpsc::unbounded_channel();
            tokio::spawn(drive(socket, reads));
            senders.push(sender);
        }
        Ok(Self {
            connections: senders,
            mine: 0,
        })
    }

    fn for_task(&self, number: usize) -> Self {
        Self {
            connections: self.connections.clone(),
            mine: number % self.connections.len(),
        }
    }

    async fn get(&self, key: &str) -> Option<usize> {
        let (teller, value) = oneshot::channel();
        self.connections[self.mine]
            .send((key.to_owned(), teller))
            .ok()?;
        Some(value.await.ok()?.len())
    }

    /// It only reads.
    async fn set(&self, _key: &str, _value: &Bytes) -> bool {
        false
    }
}

async fn drive(mut socket: TcpStream, mut reads: mpsc::UnboundedReceiver<Read>) -> io::Result<()> {
    let mut waiting: VecDeque<oneshot::Sender<Bytes>> = VecDeque::new();
    let (mut input, mut line) = (BytesMut::new(), Vec::new());
    loop {
        tokio::select! {
            biased;
            read = socket.read_buf(&mut input) => {
                if read? == 0 {
                    return Ok(());
                }
                while let Some(value) = next_value(&mut input) {
                    if let Some(teller) = waiting.pop_front() {
                        let _ = teller.send(value);
                    }
                }
            }
            first = reads.recv() => {
                let Some(first) = first else { return Ok(()) };
                // All who can run now put their keys in before the line is written.
                yield_now().await;
                line.clear();
                line.extend_from_slice(b"get");
                let mut next = Some(first);
                while let Some((key, teller)) = next {
                    line.push(b' ');
                    line.extend_from_slice(key.as_bytes());
                    waiting.push_back(teller);
                    next = reads.try_recv().ok();
                }
                line.extend_from_slice(b"\r\n");
                socket.write_all(&line).await?;
            }
        }
    }
}

/// The next value if it has come whole.
fn next_value(input: &mut BytesMut) -> Option<Bytes> {
    if input.starts_with(b"END\r\n") {
        input.advance(b"END\r\n".len());
    }
    let end = input.iter().position(|byte| *byte == b'\n')?;
    let length = input[..end - 1].rsplit(|byte| *byte == b' ').next()?;
    let length: usize = std::str::from_utf8(length).ok()?.parse().ok()?;
    if input.len() < end + 1 + length + 2 {
        return None;
    }
    input.advance(end + 1);
    let value = Bytes::copy_from_slice(&input[..length]);
    input.advance(length + 2);
    Some(value)
}
