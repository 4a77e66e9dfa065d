//! A memcached for one part of the run, with the values that are read.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use steersman_bench_contract::{key, key_count, value};

use crate::certificate::Certificate;
use crate::machine::pinned;

/// Ended when it is dropped.
pub(crate) struct Server {
    process: Child,
    addr: SocketAddr,
    /// Where it speaks TLS, if it does.
    encrypted: Option<SocketAddr>,
}

impl Server {
    /// One with a single thread on the cores that clients have, too, filled with values of that
    /// size.
    pub(crate) fn start(value_size: usize) -> io::Result<Self> {
        let addr = free_addr()?;
        let listen = ["-l".into(), format!("{addr}")];
        Self::listening(&listen, addr, None, value_size)
    }

    /// One that speaks TLS at a second address.
    pub(crate) fn start_encrypted(value_size: usize) -> io::Result<Self> {
        let (addr, encrypted) = (free_addr()?, free_addr()?);
        let certificate = Certificate::new()?;
        let listen = [
            "-Z".into(),
            "-o".into(),
            certificate.option(),
            "-l".into(),
            format!("notls:{addr},{encrypted}"),
        ];
        Self::listening(&listen, addr, Some(encrypted), value_size)
    }

    fn listening(
        listen: &[String],
        addr: SocketAddr,
        encrypted: Option<SocketAddr>,
        value_size: usize,
    ) -> io::Result<Self> {
        let process = pinned("memcached")
            .args(["-u", "root", "-t", "1", "-c", "4096", "-m", "1024"])
            // The item of a value of 1 MiB has more than that.
            .args(["-I", "2m"])
            .args(listen)
            .stdin(Stdio::null())
            .spawn()?;
        let mut server = Self {
            process,
            addr,
            encrypted,
        };
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

    /// `HOST:PORT` where it speaks TLS.
    pub(crate) fn encrypted(&self) -> Option<String> {
        self.encrypted.map(|addr| addr.to_string())
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

fn free_addr() -> io::Result<SocketAddr> {
    TcpListener::bind("127.0.0.1:0")?.local_addr()
}

impl Drop for Server {
    fn drop(&mut self) {
        // Whether it works or not, there is nothing else to be done.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
