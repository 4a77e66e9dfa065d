//! Operations on a node itself: `flush_all`, `version`, `stats`, `verbosity` and
//! `cache_memlimit`.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use steersman_memcached_protocol::{Reply, Request, StatsArgs};

use super::{Call, sealed};
use crate::deadline::Patience;
use crate::error::{Error, ErrorKind, Result, Stage};
use crate::outcome::PerNode;
use crate::shared::Shared;

/// Makes every value of the node invisible, now or after a delay.
#[derive(Debug, Clone, Copy, Default)]
pub struct FlushAll {
    delay: Duration,
}

/// Asks for the server's version.
#[derive(Debug, Clone, Copy)]
pub struct Version;

/// Asks for the server's statistics, as names and values in the server's order.
#[derive(Debug, Clone)]
pub struct Stats {
    pub(crate) args: String,
}

/// Sets how much the server logs.
#[derive(Debug, Clone, Copy)]
pub struct Verbosity {
    pub(crate) level: u32,
}

/// Sets the server's memory limit.
#[derive(Debug, Clone, Copy)]
pub struct CacheMemlimit {
    pub(crate) megabytes: u64,
}

impl Call<FlushAll> {
    /// Flushes after this delay, rounded up to whole seconds; at once by default.
    pub fn delay(mut self, delay: Duration) -> Self {
        self.operation.delay = delay;
        self
    }
}

/// The operations that answer `OK`.
macro_rules! answers_ok {
    ($($name:ident, $method:literal, |$self:ident| $request:expr;)*) => {$(
        impl sealed::Operation for $name {
            type Output = ();

            fn name(&self) -> &'static str {
                $method
            }

            fn key(&self) -> Option<&[u8]> {
                None
            }

            fn request<'a>(&'a self, _: &'a [u8]) -> Result<Request<'a>> {
                let $self = self;
                Ok($request)
            }

            fn read(reply: Reply) -> std::result::Result<(), Reply> {
                match reply {
                    Reply::Ok => Ok(()),
                    other => Err(other),
                }
            }
        }
    )*};
}

answers_ok! {
    FlushAll, "flush_all", |this| Request::FlushAll { delay: whole_seconds(this.delay) };
    Verbosity, "verbosity", |this| Request::Verbosity { level: this.level };
    CacheMemlimit, "cache_memlimit", |this| Request::CacheMemlimit { megabytes: this.megabytes };
}

fn whole_seconds(delay: Duration) -> Option<u32> {
    if delay.is_zero() {
        return None;
    }
    let seconds = delay
        .as_secs()
        .saturating_add(u64::from(delay.subsec_nanos() > 0));
    Some(u32::try_from(seconds).unwrap_or(u32::MAX))
}

impl sealed::Operation for Version {
    type Output = String;

    fn name(&self) -> &'static str {
        "version"
    }

    fn key(&self) -> Option<&[u8]> {
        None
    }

    fn request<'a>(&'a self, _: &'a [u8]) -> Result<Request<'a>> {
        Ok(Request::Version)
    }

    fn read(reply: Reply) -> std::result::Result<String, Reply> {
        match reply {
            Reply::Version(version) => Ok(version),
            other => Err(other),
        }
    }
}

impl sealed::Operation for Stats {
    type Output = Vec<(String, String)>;

    fn name(&self) -> &'static str {
        "stats"
    }

    fn key(&self) -> Option<&[u8]> {
        None
    }

    fn request<'a>(&'a self, _: &'a [u8]) -> Result<Request<'a>> {
        let args = match self.args.as_str() {
            "" => None,
            args => Some(StatsArgs::new(args.as_bytes()).map_err(|error| {
                Error::new(
                    ErrorKind::InvalidArgument,
                    Stage::Validation,
                    error.to_string(),
                )
                .with_source(error)
            })?),
        };
        Ok(Request::Stats { args })
    }

    fn read(reply: Reply) -> std::result::Result<Self::Output, Reply> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match reply {
            Reply::Stats(stats) => Ok(stats
                .iter()
                .map(|(name, value)| (text(name), text(value)))
                .collect()),
            // `stats reset` and the like.
            Reply::Ok => Ok(Vec::new()),
            other => Err(other),
        }
    }
}

/// An operation on every node of the cluster at the same time. Awaiting it gives [`PerNode`].
///
/// While [discovery](crate::Builder::discovery) has found no nodes its one result says why, under the
/// name of the source.
///
/// ```no_run
/// # async fn example(client: steersman_memcached::Client) -> steersman_memcached::Result<()> {
/// use std::time::Duration;
///
/// for (node, version) in client.version().timeout(Duration::from_millis(100)).await {
///     println!("{node}: {}", version?);
/// }
/// # Ok(()) }
/// ```
#[must_use = "a call does nothing until it is awaited"]
pub struct AllNodes<O> {
    shared: Arc<Shared>,
    patience: Patience,
    operation: O,
}

impl<O> AllNodes<O> {
    pub(crate) fn new(shared: Arc<Shared>, operation: O) -> Self {
        Self {
            shared,
            patience: Patience::Default,
            operation,
        }
    }

    /// Replaces the client's time-out for this call; `None` waits for ever.
    pub fn timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.patience = Patience::Own(timeout.into());
        self
    }
}

impl AllNodes<FlushAll> {
    /// Flushes after this delay, rounded up to whole seconds; at once by default.
    pub fn delay(mut self, delay: Duration) -> Self {
        self.operation.delay = delay;
        self
    }
}

impl<O: sealed::Operation> fmt::Debug for AllNodes<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AllNodes")
            .field("operation", &self.operation.name())
            .finish_non_exhaustive()
    }
}

impl<O> IntoFuture for AllNodes<O>
where
    O: sealed::Operation + Clone + Send + 'static,
    O::Output: Send,
{
    type Output = PerNode<O::Output>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        let Self {
            shared,
            patience,
            operation,
        } = self;
        Box::pin(async move {
            let mut patience = patience;
            let cluster = &shared.cluster;
            if shared.ensure_started().is_ok() && cluster.awaits_first_list() {
                let limit = patience.or(shared.options().timeout);
                if let Ok(left) = shared.first_list(limit).await {
                    patience = Patience::Own(left);
                }
            }
            let nodes: Vec<_> = cluster.members().nodes().cloned().collect();
            if let (true, Some(list)) = (nodes.is_empty(), &cluster.discovery)
                && let Some(missing) = list.missing()
            {
                let missing = missing.asked(operation.name());
                return PerNode {
                    results: vec![(list.source().into(), Err(missing))],
                };
            }
            let calls = nodes.into_iter().map(|node| {
                let name = node.name().clone();
                let mut call = Call::new(Arc::clone(&shared), Some(node), operation.clone());
                call.patience = patience;
                let answer = call.into_future();
                async move { (name, answer.await) }
            });
            PerNode {
                results: join_all(calls).await,
            }
        })
    }
}
