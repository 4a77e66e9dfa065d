//! Those who take what a server has: its connections, its queue of new ones, its memory.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};

use super::line::{Door, Line};

/// Connections that do nothing; they end when this is dropped.
#[derive(Debug)]
pub struct Squatters {
    _sockets: Vec<Socket>,
}

impl Squatters {
    /// Begins to connect so many times, and waits for none of it: a server at its limit does not answer.
    pub fn connect(addr: SocketAddr, count: usize) -> io::Result<Self> {
        let connect = |_| {
            let socket = Socket::new(Domain::for_address(addr), Type::STREAM, Some(Protocol::TCP))?;
            socket.set_nonblocking(true)?;
            match socket.connect(&addr.into()) {
                Err(error) if error.raw_os_error() != Some(IN_PROGRESS) => Err(error),
                _ => Ok(socket),
            }
        };
        let sockets = (0..count).map(connect).collect::<io::Result<_>>()?;
        Ok(Self { _sockets: sockets })
    }
}

/// `EINPROGRESS` of Linux, for which the standard library has no stable name.
const IN_PROGRESS: i32 = 115;

/// The sizes of values; those of [the load](super::workload) are the same, so that both need the same memory.
pub const SIZES: [usize; 4] = [50, 900, 5_000, 20_000];

/// Fills a server that may evict nothing, and keeps it full.
#[derive(Debug)]
pub struct Ballast {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<io::Result<u64>>,
}

impl Ballast {
    /// Begins to fill the server.
    pub fn load(addr: SocketAddr) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || fill(addr, &stopped));
        Self { stop, thread }
    }

    /// Removes all of it; says how often the server refused to take more.
    pub fn unload(self) -> io::Result<u64> {
        self.stop.store(true, Ordering::Relaxed);
        let filled = self.thread.join();
        filled.unwrap_or_else(|_| Err(io::Error::other("whoever filled the server panicked")))
    }
}

fn fill(addr: SocketAddr, stop: &AtomicBool) -> io::Result<u64> {
    let mut line = Line::connect(Door { addr, lock: None })?;
    let (mut stored, mut refused) = (Vec::new(), 0);
    let mut number = 0;
    while !stop.load(Ordering::Relaxed) {
        let before = refused;
        for size in SIZES {
            // Values of the load have a stamp, too.
            let data = "x".repeat(size + 40);
            let key = format!("ballast:{number}");
            number += 1;
            let reply = line.ask(&format!("set {key} 0 0 {}\r\n{data}\r\n", data.len()))?;
            if reply == "STORED" {
                stored.push(key);
            } else {
                refused += 1;
            }
        }
        if refused > before {
            thread::sleep(Duration::from_millis(1));
        }
    }
    for keys in stored.chunks(64) {
        let requests: Vec<_> = keys.iter().map(|key| format!("delete {key}\r\n")).collect();
        line.ask(&requests.concat())?;
        for _ in 1..keys.len() {
            line.hear()?;
        }
    }
    Ok(refused)
}
