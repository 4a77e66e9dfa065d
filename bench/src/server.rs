//! A memcached for this run alone, with the values that are read.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command};

/// How many keys there are.
const KEYS: usize = 10_000;

/// The bytes of each value.
pub(crate) const VALUE: usize = 100;

/// Ended when it is dropped.
pub(crate) struct Server {
    process: Child,
    addr: SocketAddr,
}

/// The key of that number; numbers go round.
pub(crate) fn key(number: usize) -> String {
    format!("key{:05}", number % KEYS)
}

impl Server {
    /// One with a single thread, once it takes connections.
    pub(crate) fn start() -> Self {
        let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let addr = free.expect("a port is free");
        let process = Command::new("memcached")
            .args(["-u", "root", "-t", "1", "-l", "127.0.0.1", "-p"])
            .arg(addr.port().to_string())
            .spawn()
            .expect("memcached is installed");
        let mut server = Self { process, addr };
        while TcpStream::connect(addr).is_err() {
            let ended = server
                .process
                .try_wait()
                .expect("it is a child of this process");
            assert!(ended.is_none(), "memcached ended: {ended:?}");
            std::thread::yield_now();
        }
        server
    }

    pub(crate) fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Stores all values.
    pub(crate) fn fill(&self) {
        let mut writer = TcpStream::connect(self.addr).expect("it takes connections");
        let mut reader = writer.try_clone().expect("a socket can be cloned");
        let sets: String = (0..KEYS)
            .map(|number| {
                format!(
                    "set {} 0 0 {VALUE}\r\n{}\r\n",
                    key(number),
                    "x".repeat(VALUE)
                )
            })
            .collect();
        let writing = std::thread::spawn(move || writer.write_all(sets.as_bytes()));
        let mut replies = vec![0; KEYS * "STORED\r\n".len()];
        reader.read_exact(&mut replies).expect("all are stored");
        writing.join().expect("no panic").expect("all are sent");
        assert!(replies.starts_with(b"STORED\r\n"));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Whether it works or not, there is nothing else to be done.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
