//! What a load gives, and what a caller gets.

use std::fmt;

use bytes::Bytes;

use crate::error::Error;
use crate::expires::Expires;
use crate::value::IntoValue;

/// A loaded value that says itself how it is to be stored, such as the news that there is nothing to
/// cache, which is kept for a shorter time than what there is.
///
/// ```
/// use std::time::Duration;
/// use steersman_memcached::Fill;
///
/// const ABSENT: u32 = 1;
/// let nobody = Fill::new("").flags(ABSENT).expires_in(Duration::from_secs(5));
/// # let _ = nobody;
/// ```
#[derive(Debug, Clone)]
#[must_use = "a load function has to return it"]
pub struct Fill {
    pub(super) data: Bytes,
    pub(super) flags: Option<u32>,
    pub(super) expires: Option<Expires>,
}

impl Fill {
    /// A value that is stored as the caller of the load says.
    pub fn new(value: impl IntoValue) -> Self {
        Self {
            data: value.into_value(),
            flags: None,
            expires: None,
        }
    }

    /// Stores these flags with it.
    pub fn flags(mut self, flags: u32) -> Self {
        self.flags = Some(flags);
        self
    }

    /// When it expires.
    pub fn expires(mut self, expires: impl Into<Expires>) -> Self {
        self.expires = Some(expires.into());
        self
    }

    /// It expires after this time, rounded up to whole seconds.
    pub fn expires_in(self, after: std::time::Duration) -> Self {
        self.expires(after)
    }
}

/// What a load function may give: a [value](IntoValue), or a [`Fill`].
pub trait IntoFill {
    /// The value and how it is to be stored.
    fn into_fill(self) -> Fill;
}

impl<V: IntoValue> IntoFill for V {
    fn into_fill(self) -> Fill {
        Fill::new(self)
    }
}

impl IntoFill for Fill {
    fn into_fill(self) -> Fill {
        self
    }
}

/// A value from the cache, or from a load.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Filled {
    /// The value.
    pub data: Bytes,
    /// The flags that are stored with it.
    pub flags: u32,
    /// Where it comes from.
    pub origin: Origin,
}

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Origin {
    /// The cache had it.
    Cached,
    /// The cache had it, marked stale; another caller loads the new one, or has failed to.
    Stale,
    /// Another caller loaded it while this one waited.
    Waited,
    /// This caller loaded it.
    Loaded {
        /// Whether it is in the cache now. It is not if the lease had ended, if the key was written or
        /// invalidated during the load, or if the cache could not take it.
        stored: bool,
    },
}

/// Why a value could be had neither from the cache nor from a load.
#[derive(Debug, Clone)]
pub enum FillError<E> {
    /// The cache could not be asked.
    Cache(Error),
    /// The load function of this caller failed.
    Load(E),
}

impl<E> From<Error> for FillError<E> {
    fn from(error: Error) -> Self {
        Self::Cache(error)
    }
}

impl<E: fmt::Display> fmt::Display for FillError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cache(error) => error.fmt(f),
            Self::Load(error) => write!(f, "the value could not be loaded: {error}"),
        }
    }
}

impl<E: std::error::Error + 'static> std::error::Error for FillError<E> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Cache(error) => Some(error),
            Self::Load(error) => Some(error),
        }
    }
}
