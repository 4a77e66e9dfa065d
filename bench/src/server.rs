//! A memcached for one part of the run, with the values that are read.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use steersman_bench_contract::{key, key_count, value};

use crate::machine::pinned;

/// Ended when it is dropped.
pub(crate) struct Server {
    process: Child,
    addr: SocketAddr,
}

impl Server {
    /// One with a single thread on the cores that clients have, too, filled with values of that
    /// size.
    pub(crate) fn start(value_size: usize) -> io::Result<Self> {
        let addr = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let process = pinned("memcached")
            .args(["-u", "root", "-t", "1", "-c", "4096", "-m", "1024"])
            // The item of a value of 1 MiB has more than that.
            .args(["-I", "2m", "-l", "127.0.0.1", "-p"])
            .arg(addr.port().to_string())
            .stdin(Stdio::null())
            .spawn()?;
        let mut server = Self { process, addr };
        while TcpStream::connect(addr).is_err() {
            if let Some(status) = server.process.try_wait()? {
                return Err(io::Error::other(format!("memcached ended: {status}")));
            }
            thread::sleep(Duration::from_millis(5));
        }
        server.fill(value_size)?;
        Ok(server)
    }

    /// `HOST:PORT`.
    pub(crate) fn addr(&self) -> String {
        self.addr.to_string()
    }

    fn fill(&self, value_size: usize) -> io::Result<()> {
        let mut stream = TcpStream::connect(self.addr)?;
        let value = value(value_size);
        for number in 0..key_count(value_size) {
            let key = key(number, value_size);
            let mut set = format!("set {key} 0 0 {value_size}\r\n").into_bytes();
            set.extend_from_slice(&value);
            set.extend_from_slice(b"\r\n");
            stream.write_all(&set)?;
            let mut reply = [0; b"STORED\r\n".len()];
            stream.read_exact(&mut reply)?;
            if &reply != b"STORED\r\n" {
                let reply = String::from_utf8_lossy(&reply).into_owned();
                return Err(io::Error::other(format!("{key} was not stored: {reply}")));
            }
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Whether it works or not, there is nothing else to be done.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
