//! What a node keeps about an item, put together from the commands that tell it.

use steersman_memcached_protocol::Value;
use steersman_memcached_protocol::meta::{self, Ttl};

/// What a server keeps about an item; from [`NodeHandle::inspect`](crate::NodeHandle::inspect).
/// What it does not tell is `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Inspected {
    /// How long it has to live.
    pub ttl: Option<Ttl>,
    /// Seconds since it was last read or stored.
    pub last_access: Option<u64>,
    /// Whether it has ever been read.
    pub fetched: Option<bool>,
    /// The number that tells this version of the item from others.
    pub cas: Option<u64>,
    /// The number that was stored with the value.
    pub flags: Option<u32>,
    /// The length of the value, in bytes.
    pub length: Option<u64>,
    /// The bytes that it takes, with its key and what surrounds it.
    pub size: Option<u64>,
    /// The slab class in which it lies.
    pub class: Option<u32>,
}

impl Inspected {
    /// Asks for what `mg` tells without the value, and without counting as a read.
    pub(crate) fn ask(get: meta::Get<'_>) -> meta::Get<'_> {
        get.ttl()
            .last_access()
            .hit_before()
            .cas()
            .client_flags()
            .size()
            .no_bump()
    }

    /// What the reply to that tells.
    pub(crate) fn about(reply: &meta::Reply) -> Self {
        Self {
            ttl: reply.ttl,
            last_access: reply.last_access.map(u64::from),
            fetched: reply.hit_before,
            cas: reply.cas,
            flags: reply.client_flags,
            length: reply.size,
            ..Self::default()
        }
    }

    /// Adds what `me` tells beyond that.
    pub(crate) fn kept(mut self, item: &meta::Item) -> Self {
        self.size = item.size;
        self.class = item.class;
        self
    }

    /// What a value tells.
    pub(crate) fn of_value(value: &Value) -> Self {
        Self {
            cas: value.cas,
            flags: Some(value.flags),
            length: u64::try_from(value.data.len()).ok(),
            ..Self::default()
        }
    }
}
