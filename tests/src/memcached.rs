//! A real memcached for one test.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use socket2::{Domain, Protocol, Socket, Type};
use steersman_testkit::FaultProxy;
use tempfile::TempDir;

/// Between two attempts to connect to a server that is starting.
const POLL: Duration = Duration::from_millis(2);
/// A server that does not answer by then never will.
const PATIENCE: Duration = Duration::from_secs(10);

/// A memcached process, ended when this is dropped.
///
/// The functions block; a start takes a few milliseconds.
///
/// ```
/// use steersman_e2e::memcached::RealMemcached;
///
/// let mut memcached = RealMemcached::start()?;
/// assert!(std::net::TcpStream::connect(memcached.addr()).is_ok());
/// memcached.kill()?;
/// assert!(std::net::TcpStream::connect(memcached.addr()).is_err());
/// memcached.restart()?;
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug)]
pub struct RealMemcached {
    place: Place,
    arguments: Vec<String>,
    /// Whether anybody may ask it for its version.
    is_open: bool,
    process: Option<Child>,
    folder: TempDir,
}

/// Three servers, each behind a proxy of its own.
///
/// Fails if memcached is not installed.
pub async fn three_behind_proxies() -> io::Result<([RealMemcached; 3], [FaultProxy; 3])> {
    let servers = [
        RealMemcached::start()?,
        RealMemcached::start()?,
        RealMemcached::start()?,
    ];
    let proxies = [
        FaultProxy::start(servers[0].node()).await?,
        FaultProxy::start(servers[1].node()).await?,
        FaultProxy::start(servers[2].node()).await?,
    ];
    Ok((servers, proxies))
}

/// Where it listens.
#[derive(Debug)]
enum Place {
    /// The second socket is bound to the port, too, but never listens: so that the port is the
    /// server's even while the server is down.
    Tcp(
        SocketAddr,
        #[expect(dead_code, reason = "it only has to exist")] Socket,
    ),
    Unix(PathBuf),
}

impl RealMemcached {
    /// Starts memcached on a free port of 127.0.0.1.
    ///
    /// Fails if memcached is not installed, with one line that says how to install it.
    pub fn start() -> io::Result<Self> {
        Self::start_with(&[])
    }

    /// Starts memcached on a free port of 127.0.0.1, with more arguments.
    pub fn start_with(arguments: &[&str]) -> io::Result<Self> {
        Self::start_on_port(arguments, true)
    }

    /// The same for arguments by which it wants TLS or credentials. Of such a server it is awaited
    /// that it takes connections, not that it answers.
    pub fn start_guarded(arguments: &[&str]) -> io::Result<Self> {
        Self::start_on_port(arguments, false)
    }

    fn start_on_port(arguments: &[&str], is_open: bool) -> io::Result<Self> {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
        socket.set_reuse_address(true)?;
        socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into())?;
        let addr = socket
            .local_addr()?
            .as_socket()
            .ok_or(io::ErrorKind::AddrNotAvailable)?;
        let place = Place::Tcp(addr, socket);
        Self::launch(place, arguments, is_open, tempfile::tempdir()?)
    }

    /// Starts memcached on a Unix socket of its own.
    pub fn start_on_unix_socket() -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let place = Place::Unix(folder.path().join("memcached"));
        Self::launch(place, &[], true, folder)
    }

    fn launch(
        place: Place,
        arguments: &[&str],
        is_open: bool,
        folder: TempDir,
    ) -> io::Result<Self> {
        let arguments = arguments.iter().map(ToString::to_string).collect();
        let mut memcached = Self {
            place,
            arguments,
            is_open,
            process: None,
            folder,
        };
        memcached.spawn()?;
        Ok(memcached)
    }

    /// The address to connect to.
    ///
    /// # Panics
    ///
    /// If it listens on a Unix socket.
    pub fn addr(&self) -> SocketAddr {
        match &self.place {
            Place::Tcp(addr, _) => *addr,
            Place::Unix(path) => panic!("memcached listens on {}", path.display()),
        }
    }

    /// The address as a client's configuration writes it.
    pub fn node(&self) -> String {
        match &self.place {
            Place::Tcp(addr, _) => addr.to_string(),
            Place::Unix(path) => format!("unix:{}", path.display()),
        }
    }

    /// Ends the process at once, as a crash would. It may be started again.
    pub fn kill(&mut self) -> io::Result<()> {
        let Some(mut process) = self.process.take() else {
            return Ok(());
        };
        process.kill()?;
        process.wait().map(drop)
    }

    /// Stops the process without ending it: connecting succeeds, nothing is answered.
    pub fn pause(&self) -> io::Result<()> {
        self.signal(Signal::STOP)?;
        // The signal takes effect a little later; only then may a test rely on it.
        let pid = self.process.as_ref().map(Pid::from_child);
        Ok(waitpid(pid, WaitOptions::UNTRACED).map(drop)?)
    }

    /// Lets a paused process go on.
    pub fn resume(&self) -> io::Result<()> {
        self.signal(Signal::CONT)
    }

    /// Starts memcached again at the same address, with an empty cache; one that runs is killed
    /// first.
    pub fn restart(&mut self) -> io::Result<()> {
        self.kill()?;
        self.spawn()
    }

    fn signal(&self, signal: Signal) -> io::Result<()> {
        let process = self.process.as_ref().ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::NotFound,
                "memcached does not run: it was killed",
            )
        })?;
        Ok(kill_process(Pid::from_child(process), signal)?)
    }

    fn spawn(&mut self) -> io::Result<()> {
        let log = self.folder.path().join("log");
        let mut command = Command::new("memcached");
        // Only root may name a user, and root has to.
        command.args(["-u", "root"]);
        match &self.place {
            Place::Tcp(addr, _) => {
                let (ip, port) = (addr.ip().to_string(), addr.port().to_string());
                command.args(["-l", &ip, "-p", &port, "-U", "0"]);
            }
            Place::Unix(path) => {
                command.arg("-s").arg(path);
            }
        }
        command.args(&self.arguments);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&log)?);
        let process = command.spawn().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => io::Error::new(
                error.kind(),
                "memcached is not installed: apt-get install memcached",
            ),
            kind => io::Error::new(kind, format!("cannot start memcached: {error}")),
        })?;
        self.process = Some(process);
        self.wait_until_it_answers(&log)
    }

    fn wait_until_it_answers(&mut self, log: &Path) -> io::Result<()> {
        let started = Instant::now();
        loop {
            let Err(error) = self.ask_version() else {
                return Ok(());
            };
            let exited = match &mut self.process {
                Some(process) => process.try_wait()?,
                None => None,
            };
            if exited.is_none() && started.elapsed() < PATIENCE {
                thread::sleep(POLL);
                continue;
            }
            let said = std::fs::read_to_string(log).unwrap_or_default();
            let state = exited.map_or("runs".to_owned(), |status| format!("ended with {status}"));
            return Err(io::Error::other(format!(
                "memcached does not answer at {}: {error}; it {state} and said {said:?}",
                self.node()
            )));
        }
    }

    fn ask_version(&self) -> io::Result<()> {
        match &self.place {
            Place::Tcp(addr, _) => {
                let stream = TcpStream::connect_timeout(addr, PATIENCE)?;
                if !self.is_open {
                    return Ok(());
                }
                stream.set_read_timeout(Some(PATIENCE))?;
                ask_version(stream)
            }
            Place::Unix(path) => {
                let stream = UnixStream::connect(path)?;
                stream.set_read_timeout(Some(PATIENCE))?;
                ask_version(stream)
            }
        }
    }
}

impl Drop for RealMemcached {
    fn drop(&mut self) {
        if let Err(error) = self.kill() {
            eprintln!("cannot end memcached at {}: {error}", self.node());
        }
    }
}

fn ask_version(mut stream: impl Read + Write) -> io::Result<()> {
    stream.write_all(b"version\r\n")?;
    let mut reply = [0; 8];
    stream.read_exact(&mut reply)?;
    if &reply == b"VERSION " {
        Ok(())
    } else {
        Err(io::ErrorKind::InvalidData.into())
    }
}
