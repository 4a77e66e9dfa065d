//! Operations on a node itself: `flush_all`, `version`, `stats`, `verbosity` and
//! `cache_memlimit`.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use steersman_memcached_protocol::{Reply, Request, StatsArgs};

use super::{Call, sealed};
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

            fn request(&self) -> Result<Request<'_>> {
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

    fn request(&self) -> Result<Request<'_>> {
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

    fn request(&self) -> Result<Request<'_>> {
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

/// Asks every node of the cluster at the same time.
pub(crate) async fn on_all_nodes<O>(shared: &Arc<Shared>, operation: O) -> PerNode<O::Output>
where
    O: sealed::Operation + Clone,
{
    let nodes: Vec<_> = shared.cluster.members().nodes().cloned().collect();
    let calls = nodes.into_iter().map(|node| {
        let name = node.name().clone();
        let call = Call::new(Arc::clone(shared), Some(node), operation.clone());
        async move { (name, call.await) }
    });
    PerNode {
        results: join_all(calls).await,
    }
}
