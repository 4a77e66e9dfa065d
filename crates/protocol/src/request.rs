//! What a caller can ask of a server, as borrowed values that are encoded without a copy.
//!
//! Every field is a type that can't say anything else than what it names: numbers are unsigned,
//! keys and arguments are checked. Nothing in here can add a field or a line to a command.

use bytes::Bytes;

use crate::encode::command;
use crate::error::{Problem, RequestError};
use crate::{Expiry, Key, Limits, meta};

/// A request, borrowed from the caller until it is encoded.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Request<'a> {
    /// Reads a value (`get`, or `gets` with `cas`); answered by [`Reply::Value`] or
    /// [`Reply::Miss`]. With [`Limits::autobatch`] it joins the reads submitted just before it.
    ///
    /// [`Reply::Value`]: crate::Reply::Value
    /// [`Reply::Miss`]: crate::Reply::Miss
    /// [`Limits::autobatch`]: crate::Limits::autobatch
    Get {
        /// What to read.
        key: Key<'a>,
        /// Whether the value's cas number is wanted.
        cas: bool,
    },
    /// Reads a value and sets when it expires (`gat`, or `gats` with `cas`); answered like a
    /// [`Get`](Self::Get). It joins only reads with the same expiry.
    GetAndTouch {
        /// What to read.
        key: Key<'a>,
        /// When the item expires from now on.
        expiry: Expiry,
        /// Whether the value's cas number is wanted.
        cas: bool,
    },
    /// Stores a value; answered by `Stored` or `NotStored`.
    Store {
        /// Under which condition, and how.
        verb: StoreVerb,
        /// Where.
        key: Key<'a>,
        /// A number of the caller's that comes back with the value. `append` and `prepend`
        /// leave the stored one as it is.
        flags: u32,
        /// When the item expires. `append` and `prepend` leave it as it is.
        expiry: Expiry,
        /// The value. A large one is shared, not copied, until it is written.
        data: &'a Bytes,
    },
    /// Stores a value if the item is the one that was read (`cas`); answered by `Stored`,
    /// `Exists` (it has changed) or `NotFound`.
    Cas {
        /// Where.
        key: Key<'a>,
        /// A number of the caller's that comes back with the value.
        flags: u32,
        /// When the item expires.
        expiry: Expiry,
        /// The number that came with the value that was read.
        cas: u64,
        /// The value. A large one is shared, not copied, until it is written.
        data: &'a Bytes,
    },
    /// Adds to a decimal number (`incr`), wrapping at 2^64; answered by `Number` or `NotFound`.
    Increment {
        /// Where the number is.
        key: Key<'a>,
        /// How much to add.
        delta: u64,
    },
    /// Subtracts from a decimal number (`decr`), stopping at 0; answered by `Number` or
    /// `NotFound`.
    Decrement {
        /// Where the number is.
        key: Key<'a>,
        /// How much to subtract.
        delta: u64,
    },
    /// Sets when an item expires (`touch`); answered by `Touched` or `NotFound`.
    Touch {
        /// Which item.
        key: Key<'a>,
        /// When it expires from now on.
        expiry: Expiry,
    },
    /// Removes an item (`delete`); answered by `Deleted` or `NotFound`.
    Delete {
        /// Which item.
        key: Key<'a>,
    },
    /// Invalidates every item of the server (`flush_all`); answered by `Ok`.
    FlushAll {
        /// In how many seconds, at most 30 days (memcached would take more for a date in the
        /// past and flush at once); now if `None`.
        delay: Option<u32>,
    },
    /// Asks for the server's version; answered by `Version`.
    Version,
    /// Asks for statistics (`stats`); answered by `Stats`, or by `Ok` for the arguments that
    /// change something, such as `reset`.
    Stats {
        /// Which ones; the general ones if `None`.
        args: Option<StatsArgs<'a>>,
    },
    /// Sets how much the server logs (`verbosity`); answered by `Ok`.
    Verbosity {
        /// 0 is quiet; memcached knows up to 3.
        level: u32,
    },
    /// Sets how much memory the server uses for items (`cache_memlimit`); answered by `Ok`.
    CacheMemlimit {
        /// In units of 1,048,576 bytes; memcached wants at least 8.
        megabytes: u64,
    },
    /// Asks a configuration endpoint of Amazon `ElastiCache` for its nodes (`config get
    /// cluster`); answered by `Value`. memcached itself answers an error.
    ClusterConfig,
    /// A meta command; answered by [`Reply::Meta`](crate::Reply::Meta).
    Meta(meta::Command<'a>),
}

impl Request<'_> {
    /// How its command begins on the wire, such as `gets`.
    pub const fn command(&self) -> &'static str {
        match self {
            Self::Get { cas: false, .. } => "get",
            Self::Get { cas: true, .. } => "gets",
            Self::GetAndTouch { cas: false, .. } => "gat",
            Self::GetAndTouch { cas: true, .. } => "gats",
            Self::Store { verb, .. } => verb.command(),
            Self::Cas { .. } => "cas",
            Self::Increment { .. } => "incr",
            Self::Decrement { .. } => "decr",
            Self::Touch { .. } => "touch",
            Self::Delete { .. } => "delete",
            Self::FlushAll { .. } => "flush_all",
            Self::Version => "version",
            Self::Stats { .. } => "stats",
            Self::Verbosity { .. } => "verbosity",
            Self::CacheMemlimit { .. } => "cache_memlimit",
            Self::ClusterConfig => "config get cluster",
            Self::Meta(command) => command.name(),
        }
    }

    /// Whether it can be sent within `limits`. Submitting checks the same; this is for finding
    /// out before there is a connection.
    ///
    /// # Errors
    /// [`RequestError`] if a value is longer than allowed or a delay longer than memcached takes.
    pub fn check(&self, limits: &Limits) -> Result<(), RequestError> {
        command::check(self, limits)
    }
}

/// How a [`Request::Store`] stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StoreVerb {
    /// Whatever is there.
    Set,
    /// Only if nothing is there.
    Add,
    /// Only if something is there.
    Replace,
    /// Behind what is there.
    Append,
    /// Before what is there.
    Prepend,
}

impl StoreVerb {
    /// The name of the command on the wire, such as `set`.
    pub const fn command(self) -> &'static str {
        match self {
            Self::Set => "set",
            Self::Add => "add",
            Self::Replace => "replace",
            Self::Append => "append",
            Self::Prepend => "prepend",
        }
    }
}

/// The kinds of reads: those of one kind can share a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReadKind {
    /// `get`: value and flags.
    Get,
    /// `gets`: value, flags and cas number.
    Gets,
    /// `gat`: value and flags, and sets when the item expires.
    GetAndTouch(Expiry),
    /// `gats`: value, flags and cas number, and sets when the item expires.
    GetsAndTouch(Expiry),
}

impl ReadKind {
    /// Whether values come with their cas number.
    pub const fn has_cas(self) -> bool {
        matches!(self, Self::Gets | Self::GetsAndTouch(_))
    }

    /// The name of the command on the wire, such as `gets`.
    pub const fn command(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Gets => "gets",
            Self::GetAndTouch(_) => "gat",
            Self::GetsAndTouch(_) => "gats",
        }
    }
}

/// The arguments of `stats`, such as `items` or `cachedump 1 100`: 1 to 250 bytes of printable
/// ASCII.
///
/// ```
/// use steersman_memcached_protocol::StatsArgs;
///
/// assert!(StatsArgs::new(b"items").is_ok());
/// assert!(StatsArgs::new(b"items\r\nflush_all").is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatsArgs<'a>(&'a [u8]);

impl<'a> StatsArgs<'a> {
    /// The most bytes of arguments.
    pub const MAX_LEN: usize = 250;

    /// Checks that `bytes` can't be taken for anything but arguments.
    ///
    /// # Errors
    /// [`RequestErrorKind::InvalidStatsArgs`](crate::RequestErrorKind::InvalidStatsArgs) if they
    /// are empty or too long or hold anything but printable ASCII.
    pub fn new(bytes: &'a [u8]) -> Result<Self, RequestError> {
        let printable = bytes.iter().all(|byte| matches!(byte, b' '..=b'~'));
        if bytes.is_empty() || bytes.len() > Self::MAX_LEN || !printable {
            return Err(Problem::InvalidStatsArgs.into());
        }
        Ok(Self(bytes))
    }

    /// The bytes of the arguments.
    pub const fn as_bytes(self) -> &'a [u8] {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RequestErrorKind;

    #[test]
    fn stats_arguments_hold_no_line() {
        for refused in [
            &b""[..],
            b"a\nb",
            b"a\rb",
            b"a\0",
            b"\x7f",
            "é".as_bytes(),
            &[b'a'; 251],
        ] {
            let error = StatsArgs::new(refused).unwrap_err();
            assert_eq!(
                error.kind(),
                RequestErrorKind::InvalidStatsArgs,
                "{refused:?}"
            );
        }
        assert_eq!(
            StatsArgs::new(b"cachedump 1 100").unwrap().as_bytes(),
            b"cachedump 1 100"
        );
        assert!(StatsArgs::new(&[b'a'; 250]).is_ok());
    }
}
