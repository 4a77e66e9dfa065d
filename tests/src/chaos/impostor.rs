//! Something at a node's address that is no memcached: it speaks as soon as somebody connects, in ways that
//! no client can take for an answer.

use std::io;
use std::net::SocketAddr;

use fastrand::Rng;
use socket2::{Domain, Protocol, Socket, Type};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

/// A server of garbage; ends, with its connections, when it is dropped.
#[derive(Debug)]
pub struct Impostor {
    task: JoinHandle<()>,
}

impl Impostor {
    /// Listens at an address that is free but reserved, as that of a server that was killed.
    pub fn start(addr: SocketAddr, seed: u64) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(addr), Type::STREAM, Some(Protocol::TCP))?;
        socket.set_reuse_address(true)?;
        socket.bind(&addr.into())?;
        socket.listen(128)?;
        socket.set_nonblocking(true)?;
        let listener = TcpListener::from_std(socket.into())?;
        let random = Rng::with_seed(seed);
        Ok(Self {
            task: tokio::spawn(accept(listener, random)),
        })
    }

    /// Ends it; when this returns nobody listens any more.
    pub async fn end(mut self) {
        self.task.abort();
        let _ = (&mut self.task).await;
    }
}

impl Drop for Impostor {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, mut random: Rng) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        connections.spawn(speak(stream, garbage(&mut random)));
    }
}

async fn speak(mut stream: TcpStream, garbage: Vec<u8>) {
    let mut heard = [0; 4096];
    if stream.write_all(&garbage).await.is_ok() {
        // Held open: it is for the client to see that this makes no sense.
        while matches!(stream.read(&mut heard).await, Ok(1..)) {}
    }
}

/// Something that is no reply to any request of a client.
pub fn garbage(random: &mut Rng) -> Vec<u8> {
    match random.usize(..8) {
        0 => b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".to_vec(),
        1 => b"-ERR unknown command\r\n".to_vec(),
        2 => b"SSH-2.0-OpenSSH_9.6\r\n".to_vec(),
        // A TLS alert.
        3 => b"\x15\x03\x01\x00\x02\x02\x16".to_vec(),
        4 => b"VALUE nobodys-key 0 3\r\nabc\r\nEND\r\n".to_vec(),
        5 => b"VALUE nobodys-key 0 18446744073709551615\r\n".to_vec(),
        6 => vec![b'A'; 1 << 20],
        _ => {
            let mut bytes: Vec<u8> = (0..random.usize(1..2_000))
                .map(|_| random.u8(..) | 0x80)
                .collect();
            bytes.extend_from_slice(b"\r\n");
            bytes
        }
    }
}
