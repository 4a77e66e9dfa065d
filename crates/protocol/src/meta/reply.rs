//! What servers answer to meta commands, owned by the caller.

use bytes::Bytes;

use crate::parse::parse_padded_number;

/// The reply to a meta command: a status, and what was asked for.
///
/// What the command did not ask for, or the server did not send, is `None` or false.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reply {
    /// How the command ended.
    pub status: Status,
    /// The value. A large one shares memory with what was read from the connection; see
    /// [`Limits::copy_below`](crate::Limits::copy_below).
    pub value: Option<Bytes>,
    /// The number that tells this version of the item from others (`c`).
    pub cas: Option<u64>,
    /// The number that was stored with the value (`f`).
    pub client_flags: Option<u32>,
    /// How long the item has to live (`t`).
    pub ttl: Option<Ttl>,
    /// The length of the value in bytes (`s`).
    pub size: Option<u64>,
    /// Whether the item had been read before (`h`).
    pub hit_before: Option<bool>,
    /// Seconds since the item was last read or stored (`l`).
    pub last_access: Option<u32>,
    /// The key, decoded if it came in base64 (`k`). It is the one that was asked for.
    pub key: Option<Bytes>,
    /// The number that was sent along (`O`).
    pub opaque: Option<u32>,
    /// The caller, and nobody else, is to renew the item (`W`).
    pub won: bool,
    /// The value is an old one (`X`).
    pub stale: bool,
    /// Somebody else has been told to renew the item (`Z`).
    pub recaching: bool,
    /// What the server keeps about the item, in reply to `me`.
    pub item: Option<Item>,
}

impl Reply {
    pub(super) fn new(status: Status) -> Self {
        Self {
            status,
            value: None,
            cas: None,
            client_flags: None,
            ttl: None,
            size: None,
            hit_before: None,
            last_access: None,
            key: None,
            opaque: None,
            won: false,
            stale: false,
            recaching: false,
            item: None,
        }
    }

    /// The value as a decimal number, such as that of a counter; `None` if it is no number.
    pub fn number(&self) -> Option<u64> {
        parse_padded_number(self.value.as_ref()?)
    }
}

/// How a meta command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Status {
    /// `VA`: the item is there, and its value follows.
    Value,
    /// `HD`: it is done, or the item is there; no value follows.
    Done,
    /// `EN`: there is no item to be read.
    Miss,
    /// `NF`: there is no item to be changed.
    NotFound,
    /// `NS`: the condition of the store does not hold; nothing has changed.
    NotStored,
    /// `EX`: the item has another cas number; nothing has changed.
    Exists,
    /// `MN`: everything before the no-op is done.
    Noop,
    /// `ME`: what the server keeps about the item is in [`Reply::item`].
    Item,
}

/// How long an item has to live.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ttl {
    /// It does not expire.
    Never,
    /// So many seconds.
    Seconds(u32),
}

/// What a server keeps about an item, as far as it says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Item {
    /// How long it has to live (`exp`). memcached 1.6.18 shows one second like no end.
    pub ttl: Option<Ttl>,
    /// Seconds since it was last read or stored (`la`).
    pub last_access: Option<u64>,
    /// The number that tells this version of the item from others (`cas`).
    pub cas: Option<u64>,
    /// Whether it has ever been read (`fetch`).
    pub fetched: Option<bool>,
    /// The slab class in which it lies (`cls`).
    pub class: Option<u32>,
    /// The bytes that it takes, with its key and what surrounds it (`size`).
    pub size: Option<u64>,
}
