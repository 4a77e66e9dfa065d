//! What a client can ask for.

use bytes::{Buf, Bytes};

use super::{MetaRequest, tokens};

/// A well-formed request, ready to be executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// What to do.
    pub command: Command,
    /// The client wants no reply, whatever the outcome.
    pub noreply: bool,
}

/// A command with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// `get` or `gets`: read values.
    Get {
        /// The keys in the order asked, repetitions included.
        keys: Keys,
        /// `gets`: the reply carries each item's CAS number.
        with_cas: bool,
    },
    /// `gat` or `gats`: read values and give them a new expiry.
    GetAndTouch {
        /// The new expiry as sent (see [`Command::Store`]).
        exptime: i32,
        /// The keys in the order asked; `gat 0` asks for none.
        keys: Keys,
        /// `gats`: the reply carries each item's CAS number.
        with_cas: bool,
    },
    /// `set`, `add`, `replace`, `append`, `prepend` or `cas`: store a value.
    Store {
        /// Under which condition.
        mode: StoreMode,
        /// The key.
        key: Bytes,
        /// The client's flags, kept beside the value.
        flags: u32,
        /// Seconds from now up to 30 days, a Unix time above, 0 for never, negative for at once.
        exptime: i32,
        /// The data block.
        value: Bytes,
    },
    /// `incr`: add to a decimal number, wrapping at 2^64.
    Increment {
        /// The key.
        key: Bytes,
        /// How much to add.
        delta: u64,
    },
    /// `decr`: subtract from a decimal number, stopping at 0.
    Decrement {
        /// The key.
        key: Bytes,
        /// How much to subtract.
        delta: u64,
    },
    /// `touch`: a new expiry.
    Touch {
        /// The key.
        key: Bytes,
        /// The new expiry as sent (see [`Command::Store`]).
        exptime: i32,
    },
    /// `delete`: remove an item.
    Delete {
        /// The key.
        key: Bytes,
    },
    /// `flush_all`: invalidate every item.
    FlushAll {
        /// When: as an expiry; 0 or negative is now.
        delay: i32,
    },
    /// `version`.
    Version,
    /// `stats`.
    Stats {
        /// What was asked; empty for the general statistics.
        args: Vec<Bytes>,
    },
    /// `verbosity`: how much the server logs.
    Verbosity {
        /// The level as sent.
        level: u32,
    },
    /// `cache_memlimit`: how much memory items may take.
    CacheMemlimit {
        /// In mebibytes, 8 to 1,000,000,000.
        megabytes: u32,
    },
    /// `config get`: a configuration of the cluster, as `ElastiCache` has it.
    ConfigGet {
        /// Which one; `cluster` is the list of nodes.
        name: Bytes,
    },
    /// `mg`: read an item and what is known about it.
    MetaGet(Box<MetaRequest>),
    /// `ms`: store a value.
    MetaSet {
        /// The key and the flags.
        request: Box<MetaRequest>,
        /// The data block.
        value: Bytes,
    },
    /// `md`: remove an item or mark it stale.
    MetaDelete(Box<MetaRequest>),
    /// `ma`: add to a number or subtract from it.
    MetaArithmetic(Box<MetaRequest>),
    /// `me`: what the server keeps about an item.
    MetaDebug {
        /// The key, decoded if it came in base64.
        key: Bytes,
    },
    /// `mn`: the meta protocol's no-op, answered `MN`.
    MetaNoop,
    /// `quit`: close the connection.
    Quit,
}

impl Command {
    /// The word the command starts with.
    pub fn verb(&self) -> Verb {
        match self {
            Command::Get {
                with_cas: false, ..
            } => Verb::Get,
            Command::Get { with_cas: true, .. } => Verb::Gets,
            Command::GetAndTouch {
                with_cas: false, ..
            } => Verb::Gat,
            Command::GetAndTouch { with_cas: true, .. } => Verb::Gats,
            Command::Store { mode, .. } => mode.verb(),
            Command::Increment { .. } => Verb::Incr,
            Command::Decrement { .. } => Verb::Decr,
            Command::Touch { .. } => Verb::Touch,
            Command::Delete { .. } => Verb::Delete,
            Command::FlushAll { .. } => Verb::FlushAll,
            Command::Version => Verb::Version,
            Command::Stats { .. } => Verb::Stats,
            Command::Verbosity { .. } => Verb::Verbosity,
            Command::CacheMemlimit { .. } => Verb::CacheMemlimit,
            Command::ConfigGet { .. } => Verb::Config,
            Command::MetaGet(_) => Verb::MetaGet,
            Command::MetaSet { .. } => Verb::MetaSet,
            Command::MetaDelete(_) => Verb::MetaDelete,
            Command::MetaArithmetic(_) => Verb::MetaArithmetic,
            Command::MetaDebug { .. } => Verb::MetaDebug,
            Command::MetaNoop => Verb::MetaNoop,
            Command::Quit => Verb::Quit,
        }
    }
}

/// Under which condition a value is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreMode {
    /// Always.
    Set,
    /// Only if there is no such item.
    Add,
    /// Only if there is such an item.
    Replace,
    /// Behind the value of an existing item, which keeps its flags and expiry.
    Append,
    /// Before the value of an existing item, which keeps its flags and expiry.
    Prepend,
    /// Only if the item's CAS number is still this one.
    Cas(u64),
}

impl StoreMode {
    /// The word the command starts with.
    pub fn verb(self) -> Verb {
        match self {
            StoreMode::Set => Verb::Set,
            StoreMode::Add => Verb::Add,
            StoreMode::Replace => Verb::Replace,
            StoreMode::Append => Verb::Append,
            StoreMode::Prepend => Verb::Prepend,
            StoreMode::Cas(_) => Verb::Cas,
        }
    }
}

/// The keys of a reading command, in the order asked.
///
/// They are walked where they lie in the request line: a line of a thousand keys makes no list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keys {
    line: Bytes,
}

impl Keys {
    pub(super) fn new(line: Bytes) -> Self {
        Self { line }
    }
}

impl Iterator for Keys {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        let mut words = tokens::words(&self.line);
        let key = self.line.slice_ref(words.next()?);
        let walked = self.line.len() - words.rest().len();
        self.line.advance(walked);
        Some(key)
    }
}

macro_rules! verbs {
    ($($name:ident $text:literal,)*) => {
        /// The words commands start with.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Verb {
            $(#[doc = concat!("`", $text, "`")] $name,)*
        }

        impl Verb {
            /// Every verb, in the order of their declaration.
            pub const ALL: &[Verb] = &[$(Verb::$name,)*];

            /// The verb as it stands on the wire.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Verb::$name => $text,)*
                }
            }
        }
    };
}

// The commonest come first: a word is compared with them in this order.
verbs! {
    Get "get",
    Set "set",
    Gets "gets",
    Delete "delete",
    Gat "gat",
    Gats "gats",
    Add "add",
    Replace "replace",
    Append "append",
    Prepend "prepend",
    Cas "cas",
    Incr "incr",
    Decr "decr",
    Touch "touch",
    MetaGet "mg",
    MetaSet "ms",
    MetaDelete "md",
    MetaArithmetic "ma",
    MetaNoop "mn",
    MetaDebug "me",
    FlushAll "flush_all",
    Version "version",
    Stats "stats",
    Verbosity "verbosity",
    CacheMemlimit "cache_memlimit",
    Config "config",
    Quit "quit",
}

impl Verb {
    pub(super) fn from_word(word: &[u8]) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|verb| verb.as_str().as_bytes() == word)
    }
}
