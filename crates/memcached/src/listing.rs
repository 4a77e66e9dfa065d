//! Listing the keys of a node, on a connection of its own.
//!
//! The server gives a listing a connection to itself until it ends, so the connections that calls
//! share are left alone. Items are read as they are asked for: a listing that nobody goes on with
//! makes the server's crawler wait, and holds one read's worth of bytes here.
//!
//! The keys are those of `lru_crawler metadump all`. `metadump hash` would leave none out, but holds
//! locks while it waits for its reader: reads of the same server hang then.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, BytesMut};
use steersman_memcached_protocol::{
    Dumped, DumpedItem, Limits, Metadump, Reply, Request, ServerError,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep_until};

use crate::address::NodeConfig;
use crate::ask::{Failure, ask};
use crate::call::server_error;
use crate::deadline::within;
use crate::error::{Error, ErrorKind, Result, Stage};
use crate::node;
use crate::options::Options;
use crate::transport::Transport;

/// How many bytes are read at a time.
const ROOM: usize = 64 * 1024;

/// How long a server whose crawler is busy is left alone.
const PAUSE: Duration = Duration::from_millis(50);

/// The keys of a node as they come; from [`NodeHandle::keys`](crate::NodeHandle::keys).
///
/// It is no snapshot: an item that is stored, read or moved to another of the server's queues meanwhile
/// may be left out or come twice. Items that have expired are not in it.
///
/// Go on with it, or drop it, which ends it: as long as it is neither, the server's crawler waits, which
/// nobody else can use then, and which makes room where values have expired.
///
/// ```no_run
/// # async fn example(client: steersman_memcached::Client) -> steersman_memcached::Result<()> {
/// let mut keys = client.node("cache-1:11211")?.keys().await?;
/// while let Some(item) = keys.next().await? {
///     println!("{:?} takes {:?} bytes", item.key, item.size);
/// }
/// # Ok(()) }
/// ```
pub struct KeyListing {
    node: Arc<str>,
    transport: Box<dyn Transport>,
    /// How long the server may be silent.
    patience: Option<Duration>,
    /// What the keys begin with that are this client's.
    prefix: Box<[u8]>,
    dump: Metadump,
    input: BytesMut,
    /// What has been read and not been asked for: the beginning.
    first: Option<Dumped>,
    ended: bool,
}

impl KeyListing {
    pub(crate) async fn open(node: &NodeConfig, options: &Options) -> Result<Self> {
        let name = Arc::clone(node.shared_name());
        let listing = async {
            Handle::try_current().map_err(|error| {
                let why = "there is no Tokio runtime here; list the keys within one";
                Error::new(ErrorKind::Runtime, Stage::Routing, why).with_source(error)
            })?;
            let opened = node::open(node, options, false).await?;
            let mut listing = Self {
                node: Arc::clone(&name),
                transport: opened.transport,
                patience: options.timeout,
                prefix: options
                    .keys
                    .as_ref()
                    .map_or_else(Box::default, |rules| rules.prefix.clone()),
                dump: Metadump::new(),
                input: BytesMut::new(),
                first: None,
                ended: false,
            };
            listing.begin().await?;
            Ok(listing)
        };
        listing.await.map_err(|error| in_words(error, &name))
    }

    /// Asks for the keys when the server's crawler is free. It must not be asked before: while it
    /// waits for whoever reads another listing, the question would hold up the server's thread, and
    /// with it every connection that thread serves (seen on memcached 1.6.18).
    async fn begin(&mut self) -> Result<()> {
        let until = self
            .patience
            .and_then(|patience| Instant::now().checked_add(patience));
        while self.is_crawling().await? {
            let next = Instant::now() + PAUSE;
            if until.is_some_and(|until| until < next) {
                let what = "another listing, or a crawl of the server's own, goes on there; try again later";
                return Err(Error::new(ErrorKind::Timeout, Stage::Waiting, what));
            }
            sleep_until(next).await;
        }
        let sent = async {
            self.transport.write_all(Metadump::REQUEST).await?;
            self.transport.flush().await
        };
        step(self.patience, async { sent.await.map_err(broken) }).await?;
        match self.part().await? {
            Dumped::Refused(refusal) => Err(refused(refusal)),
            first => {
                self.first = Some(first);
                Ok(())
            }
        }
    }

    async fn is_crawling(&mut self) -> Result<bool> {
        let stats = Request::Stats { args: None };
        let asked = async {
            let asked = ask(&mut *self.transport, Limits::default(), &stats);
            asked.await.map_err(|failure| match failure {
                Failure::Broken(error) => broken(error),
                Failure::NoReply(why) => Error::new(ErrorKind::Protocol, Stage::Exchange, why),
            })
        };
        match step(self.patience, asked).await? {
            Reply::Stats(stats) => Ok(stats
                .iter()
                .any(|(name, value)| name == "lru_crawler_running" && value == "1")),
            Reply::Error(refusal) => Err(refused(refusal)),
            _ => Ok(false),
        }
    }

    /// The next item, `None` at the end. The future may be dropped and the listing gone on with.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::ConnectionLost`] if the connection ends before the list does,
    /// [`ErrorKind::Timeout`] if nothing comes for as long as the client's
    /// [`timeout`](crate::Builder::timeout), [`ErrorKind::Server`] if the server breaks off. The
    /// listing has ended then.
    pub async fn next(&mut self) -> Result<Option<DumpedItem>> {
        if self.ended {
            return Ok(None);
        }
        let end = loop {
            let part = match self.first.take() {
                Some(first) => Ok(first),
                None => self.part().await,
            };
            match part {
                Ok(Dumped::Item(mut item)) => {
                    // A caller has no empty key, so the prefix alone is none of its own.
                    if item.key.len() > self.prefix.len() && item.key.starts_with(&self.prefix) {
                        item.key.advance(self.prefix.len());
                        return Ok(Some(item));
                    }
                }
                Ok(Dumped::End) => break Ok(None),
                Ok(Dumped::Refused(refusal)) => break Err(refused(refusal)),
                Err(error) => break Err(error),
            }
        };
        self.ended = true;
        end.map_err(|error| in_words(error, &self.node))
    }

    async fn part(&mut self) -> Result<Dumped> {
        loop {
            let part = self.dump.next(&mut self.input).map_err(|error| {
                Error::new(ErrorKind::Protocol, Stage::Exchange, error.to_string())
                    .with_source(error)
            })?;
            if let Some(part) = part {
                return Ok(part);
            }
            self.input.reserve(ROOM);
            let read = self.transport.read_buf(&mut self.input);
            let read = async { read.await.map_err(broken) };
            if step(self.patience, read).await? == 0 {
                return Err(broken(io::ErrorKind::UnexpectedEof.into()));
            }
        }
    }
}

impl fmt::Debug for KeyListing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyListing")
            .field("node", &self.node)
            .field("ended", &self.ended)
            .finish_non_exhaustive()
    }
}

/// Does one step as long as the server is not silent for too long.
async fn step<T>(patience: Option<Duration>, step: impl Future<Output = Result<T>>) -> Result<T> {
    within(patience, step).await.unwrap_or_else(|limit| {
        let what = format!("nothing more within {limit:?}");
        Err(Error::new(ErrorKind::Timeout, Stage::Exchange, what))
    })
}

fn broken(error: io::Error) -> Error {
    let what = match error.kind() {
        io::ErrorKind::UnexpectedEof => {
            "the server closed the connection before the end of its keys".to_owned()
        }
        _ => format!("the connection broke before the end of the keys: {error}"),
    };
    Error::new(ErrorKind::ConnectionLost, Stage::Exchange, what).with_source(error)
}

/// Why a server does not list its keys, and what to do.
fn refused(refusal: ServerError) -> Error {
    let hint = match refusal.message() {
        "lru crawler disabled" => {
            "; turn its LRU crawler on: `lru_crawler enable`, or start it without `-o no_lru_crawler`"
        }
        "metadump not allowed" => "; it was started with `-X`, which forbids it",
        "" => "; only memcached itself lists its keys, from 1.4.31 on",
        busy if busy.starts_with("BUSY") => "; another listing goes on there: try again later",
        _ => "",
    };
    server_error(refusal).adding(hint)
}

fn in_words(error: Error, node: &Arc<str>) -> Error {
    error.asked("keys").at_node(node)
}
