//! Cache-aside reads: on a miss one caller loads the value, and all others wait for it.
//!
//! [`GetOrFill`] is what callers configure. Each look at the cache ([`look`]) gives a value, a
//! lease ([`lease`]) by which this caller alone loads it, or the news that somebody else does. Who
//! waits in the same process waits together ([`flight`]), and one of them watches the cache for all
//! ([`wait`]).
//!
//! The lease is memcached's own, made of the flags `N`, `R`, `W`, `X` and `Z` of its meta commands. It
//! is the idea of R. Nishtala et al., "Scaling Memcache at Facebook", NSDI 2013, section 3.2.1.

mod flight;
mod invalidate;
mod lease;
mod look;
mod outcome;
mod wait;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use tracing::debug;

pub(crate) use self::flight::Flights;
pub use self::invalidate::Invalidate;
use self::lease::Lease;
use self::look::Sought;
pub use self::outcome::{Fill, FillError, Filled, IntoFill, Origin};
use crate::deadline::Patience;
use crate::error::{Error, ErrorKind, Result, Stage};
use crate::expires::Expires;
use crate::observe::targets;
use crate::shared::Shared;

/// A read of a value that is loaded if the cache does not have it; from
/// [`Client::get_or_fill`](crate::Client::get_or_fill).
///
/// Its methods are options; [`load`](Self::load) does it.
#[derive(Clone)]
#[must_use = "it does nothing until a load function is given"]
pub struct GetOrFill<K> {
    key: K,
    reader: Reader,
}

/// What all steps of one such read need.
#[derive(Clone)]
struct Reader {
    shared: Arc<Shared>,
    key: Bytes,
    options: Options,
}

#[derive(Clone, Copy)]
struct Options {
    expires: Expires,
    flags: u32,
    lease: Duration,
    refresh_ahead: Option<Duration>,
    stale_while_revalidate: bool,
    stale_if_error: bool,
    /// The time-out of each request.
    patience: Patience,
}

/// memcached takes longer times for dates.
const LONGEST_LEASE: Duration = Duration::from_secs(60 * 60 * 24 * 30);

impl<K: AsRef<[u8]>> GetOrFill<K> {
    pub(crate) fn new(shared: Arc<Shared>, key: K) -> Self {
        Self {
            key,
            reader: Reader {
                shared,
                key: Bytes::new(),
                options: Options {
                    expires: Expires::Never,
                    flags: 0,
                    lease: Duration::from_secs(10),
                    refresh_ahead: None,
                    stale_while_revalidate: false,
                    stale_if_error: false,
                    patience: Patience::Default,
                },
            },
        }
    }

    /// When a loaded value expires, unless the load says otherwise by a [`Fill`]; never by default.
    pub fn expires(mut self, expires: impl Into<Expires>) -> Self {
        self.reader.options.expires = expires.into();
        self
    }

    /// A loaded value expires after this time, rounded up to whole seconds.
    pub fn expires_in(self, after: Duration) -> Self {
        self.expires(after)
    }

    /// A loaded value expires at this moment.
    pub fn expires_at(self, moment: SystemTime) -> Self {
        self.expires(moment)
    }

    /// The flags that a loaded value is stored with, unless the load says otherwise by a [`Fill`]; 0 by
    /// default.
    pub fn flags(mut self, flags: u32) -> Self {
        self.reader.options.flags = flags;
        self
    }

    /// For how long a caller alone may load: 1 s to 30 days, 10 s by default. Give it more than a load
    /// takes; a load that is not done by then is still returned to its caller, but not stored.
    ///
    /// If the process of a caller dies, the others wait so long. memcached counts in whole seconds, so
    /// the time is rounded up to them and may end up to a second early. All who fill a key should give
    /// the same.
    pub fn lease(mut self, lease: Duration) -> Self {
        self.reader.options.lease = lease;
        self
    }

    /// Lets one caller load a value anew when it has less than so long to live, while the others go on
    /// with it; off by default. Rounded up to whole seconds, at most 30 days.
    ///
    /// Give less than the shortest life of a value, or each read of such a one refreshes it. A refresh
    /// that fails is not repeated before the value expires.
    pub fn refresh_ahead(mut self, left: Duration) -> Self {
        self.reader.options.refresh_ahead = Some(left);
        self
    }

    /// Takes a value that was [marked stale](crate::Client::invalidate) while another caller loads the
    /// new one, instead of waiting for that; off by default.
    pub fn stale_while_revalidate(mut self) -> Self {
        self.reader.options.stale_while_revalidate = true;
        self
    }

    /// If a load fails and there is an old value, takes that instead of the error; off by default. The
    /// error is lost.
    pub fn stale_if_error(mut self) -> Self {
        self.reader.options.stale_if_error = true;
        self
    }

    /// Replaces the client's time-out for each request to the cache; `None` waits for ever. A lease that
    /// comes later than that is given back.
    ///
    /// How long a load may take is up to the load function, and how long the whole may take is for
    /// [`tokio::time::timeout`] to say: it may be dropped at any point.
    pub fn timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.reader.options.patience = Patience::Own(timeout.into());
        self
    }

    /// Gives the cached value, or loads it if this caller is the one to do so, or waits until another
    /// one has loaded it.
    ///
    /// The load function is called once at most. Its future may be dropped, fail or panic: the lease is
    /// given back at once, and one of those who wait loads in its turn, by its own function.
    ///
    /// # Errors
    ///
    /// [`FillError::Load`] with what the load function of this caller gave; nobody else gets it.
    /// [`FillError::Cache`] if the cache could not be asked; then nothing was loaded. A value that was
    /// loaded and could not be stored is no error; [`Filled::origin`] tells it.
    pub async fn load<F, L, V, E>(self, load: F) -> Result<Filled, FillError<E>>
    where
        F: FnOnce() -> L,
        L: Future<Output = Result<V, E>>,
        V: IntoFill,
    {
        match self.reader()?.seek().await? {
            Sought::Found(filled) => Ok(filled),
            Sought::Won(turn) => turn.load(load).await,
        }
    }

    /// The same, but a value that is there already is returned at once, and refreshed by a task of its own.
    /// That is one that is [refreshed ahead](Self::refresh_ahead), or a stale one with
    /// [`stale_while_revalidate`](Self::stale_while_revalidate).
    ///
    /// # Errors
    ///
    /// Those of [`load`](Self::load), except that those of a refresh are lost.
    pub async fn load_in_background<F, L, V, E>(self, load: F) -> Result<Filled, FillError<E>>
    where
        F: FnOnce() -> L + Send + 'static,
        L: Future<Output = Result<V, E>> + Send + 'static,
        V: IntoFill + Send + 'static,
        E: Send + 'static,
    {
        let reader = self.reader()?;
        let turn = match reader.seek().await? {
            Sought::Found(filled) => return Ok(filled),
            Sought::Won(turn) => turn,
        };
        match (turn.fresh_enough(), reader.shared.cluster.runtime()) {
            (Some(old), Some(runtime)) => {
                runtime.spawn(async move {
                    if turn.load(load).await.is_err() {
                        debug!(target: targets::UNANSWERED, "a value could not be refreshed");
                    }
                });
                Ok(old)
            }
            _ => turn.load(load).await,
        }
    }

    /// Checks the options.
    fn reader(self) -> Result<Reader> {
        let Self { key, mut reader } = self;
        let lease = reader.options.lease;
        if lease < Duration::from_secs(1) || lease > LONGEST_LEASE {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                Stage::Validation,
                format!("the lease is {lease:?}; give one of 1 s to 30 days"),
            )
            .asked(NAME));
        }
        reader.key = Bytes::copy_from_slice(key.as_ref());
        Ok(reader)
    }
}

/// The name of the client's method.
const NAME: &str = "get_or_fill";

impl<K> fmt::Debug for GetOrFill<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GetOrFill").finish_non_exhaustive()
    }
}
