//! How a server is to be started.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::clock::{Clock, SystemClock};
use crate::gate::Endpoint;
use crate::machine::Settings;
use crate::server::Server;
use crate::witness::Witness;

/// A server to be started; see [`Server::builder`].
///
/// ```
/// use steersman_testkit::Server;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> std::io::Result<()> {
/// let server = Server::builder()
///     .listen_tcp("127.0.0.1:0")
///     .memory_limit(1024 * 1024)
///     .max_connections(10)
///     .start()
///     .await?;
/// assert!(server.node().starts_with("127.0.0.1:"));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct Builder {
    listen: Listen,
    settings: Settings,
    clock: Option<Arc<dyn Clock>>,
}

#[derive(Debug, Clone)]
enum Listen {
    Tcp(String),
    Unix(PathBuf),
    Given,
}

impl Builder {
    pub(crate) fn new() -> Self {
        let settings = Settings {
            memory_limit: 64 * 1024 * 1024,
            item_size_max: 1024 * 1024,
            max_connections: 1024,
            kept_requests: 0,
            witness: None,
        };
        Self {
            listen: Listen::Tcp(Endpoint::anywhere().node()),
            settings,
            clock: None,
        }
    }

    /// Listens on TCP at this IP address and port; port 0 is any free one. Default: `127.0.0.1:0`.
    pub fn listen_tcp(mut self, addr: impl Into<String>) -> Self {
        self.listen = Listen::Tcp(addr.into());
        self
    }

    /// Listens on a Unix socket at this path, where nothing may be yet. The socket is removed
    /// when the server is dropped.
    pub fn listen_unix(mut self, path: impl Into<PathBuf>) -> Self {
        self.listen = Listen::Unix(path.into());
        self
    }

    /// Listens nowhere: connections are [given](Server::connect) to the server, streams in memory or of
    /// a simulated network.
    pub fn listen_nowhere(mut self) -> Self {
        self.listen = Listen::Given;
        self
    }

    /// Items take at most so many bytes, counted as memcached counts them: 56 for the header, key
    /// and value with one and two bytes more. Those not used for longest make room for new ones.
    /// Default: 64 MiB.
    pub fn memory_limit(mut self, bytes: usize) -> Self {
        self.settings.memory_limit = bytes;
        self
    }

    /// One item takes at most so many bytes, counted the same way. Default: 1 MiB.
    pub fn item_size_max(mut self, bytes: usize) -> Self {
        self.settings.item_size_max = bytes;
        self
    }

    /// At most so many clients are served at a time; others are answered
    /// `ERROR Too many open connections` and closed. Default: 1,024.
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.settings.max_connections = connections;
        self
    }

    /// Keeps the last so many requests for [`Server::requests`]. Default: 0.
    pub fn keep_requests(mut self, requests: usize) -> Self {
        self.settings.kept_requests = requests;
        self
    }

    /// Takes the time from this clock. Default: a [`SystemClock`].
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Tells this witness of everything that is executed. Default: nobody.
    pub fn witness(mut self, witness: Arc<dyn Witness>) -> Self {
        self.settings.witness = Some(witness);
        self
    }

    /// Starts the server on the current Tokio runtime.
    ///
    /// Fails if the address is no address or cannot be listened on, or outside a runtime.
    #[allow(
        clippy::unused_async,
        reason = "a server needs a runtime, and may have to wait one day"
    )]
    pub async fn start(self) -> io::Result<Server> {
        let endpoint = match self.listen {
            Listen::Tcp(addr) => Endpoint::Tcp(addr.parse().map_err(|_| {
                let message = format!(
                    "cannot listen on {addr:?}: give an IP address and a port, as in 127.0.0.1:0"
                );
                io::Error::new(io::ErrorKind::InvalidInput, message)
            })?),
            Listen::Unix(path) => Endpoint::Unix(path),
            Listen::Given => Endpoint::Given,
        };
        let clock = self.clock.unwrap_or_else(|| Arc::new(SystemClock::new()));
        Server::launch(endpoint, self.settings, clock)
    }
}
