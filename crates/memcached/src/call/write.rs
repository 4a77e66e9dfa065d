//! set, add, replace, append, prepend, cas, increment, decrement, touch and delete.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use steersman_memcached_protocol::{Reply, Request, StoreVerb};

use super::{Call, key, sealed};
use crate::error::Result;
use crate::expires::Expires;
use crate::outcome::{CasOutcome, StoreOutcome};

/// What is stored: key, value, flags and expiry.
#[derive(Debug, Clone)]
pub struct Item<K> {
    key: K,
    data: Bytes,
    flags: u32,
    expires: Expires,
}

impl<K> Item<K> {
    pub(crate) fn new(key: K, data: Bytes) -> Self {
        Self {
            key,
            data,
            flags: 0,
            expires: Expires::Never,
        }
    }

    pub(crate) fn with_flags(mut self, flags: u32) -> Self {
        self.flags = flags;
        self
    }
}

impl<K> Item<K> {
    fn request<'a>(&'a self, sent: &'a [u8], verb: StoreVerb) -> Result<Request<'a>> {
        let key = key(sent)?;
        let expiry = self.expires.to_wire();
        Ok(Request::Store {
            verb,
            key,
            flags: self.flags,
            expiry,
            data: &self.data,
        })
    }
}

/// Operations that change something and can be sent without waiting for the reply.
pub trait Write: sealed::Operation {}

/// Operations that store a value with an expiry.
pub trait WriteExpiry: sealed::Operation + private::HasItem {}

/// Operations that store a value with the flags that the caller likes.
pub trait WriteItem: WriteExpiry {}

pub(crate) mod private {
    use super::Item;

    pub trait HasItem {
        type Key;
        fn item(&mut self) -> &mut Item<Self::Key>;
    }
}

impl<O: WriteItem> Call<O> {
    /// Stores these flags with the value, to be returned with it; 0 by default.
    pub fn flags(mut self, flags: u32) -> Self {
        self.operation.item().flags = flags;
        self
    }
}

impl<O: WriteExpiry> Call<O> {
    /// When the value expires; never by default.
    pub fn expires(mut self, expires: impl Into<Expires>) -> Self {
        self.operation.item().expires = expires.into();
        self
    }

    /// The value expires after this time, rounded up to whole seconds; zero expires at once.
    pub fn expires_in(self, after: Duration) -> Self {
        self.expires(after)
    }

    /// The value expires at this moment.
    pub fn expires_at(self, moment: SystemTime) -> Self {
        self.expires(moment)
    }
}

impl<O: Write> Call<O> {
    /// Does not wait for the reply: the call is done once the request is queued in order.
    ///
    /// What the same task asks of the same node afterwards sees the write. Whether it succeeded
    /// is never known: it may be refused by the server or lost with its connection.
    pub fn noreply(self) -> Call<NoReply<O>> {
        self.map(NoReply)
    }
}

/// A write whose reply is not waited for.
#[derive(Debug, Clone)]
pub struct NoReply<O>(pub(crate) O);

impl<O: Write + WriteExpiry> WriteExpiry for NoReply<O> {}
impl<O: Write + WriteItem> WriteItem for NoReply<O> {}

impl<O: private::HasItem> private::HasItem for NoReply<O> {
    type Key = O::Key;

    fn item(&mut self) -> &mut Item<O::Key> {
        self.0.item()
    }
}

impl<O: Write> sealed::Operation for NoReply<O> {
    type Output = ();

    const IS_ATTEMPT: bool = O::IS_ATTEMPT;

    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn command(&self) -> &'static str {
        self.0.command()
    }

    fn key(&self) -> Option<&[u8]> {
        self.0.key()
    }

    fn request<'a>(&'a self, key: &'a [u8]) -> Result<Request<'a>> {
        self.0.request(key)
    }

    fn read(_: Reply) -> std::result::Result<(), Reply> {
        Ok(())
    }

    fn unanswered() -> Option<()> {
        Some(())
    }
}

/// Makes an operation that stores an item.
macro_rules! stores {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty),* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone)]
        pub struct $name<K> {
            pub(crate) item: Item<K>,
            $(pub(crate) $field: $type,)*
        }

        impl<K: AsRef<[u8]>> Write for $name<K> {}
    };
}

/// Lets a storing operation take flags and expiry.
macro_rules! has_item {
    ($($name:ident),*) => {$(
        impl<K: AsRef<[u8]>> WriteExpiry for $name<K> {}
        impl<K: AsRef<[u8]>> WriteItem for $name<K> {}

        impl<K> private::HasItem for $name<K> {
            type Key = K;

            fn item(&mut self) -> &mut Item<K> {
                &mut self.item
            }
        }
    )*};
}

stores! {
    /// Stores a value whatever was there.
    Set {}
}
stores! {
    /// `add` or `replace`: stores a value if the key does not exist, or if it does.
    SetIf { verb: StoreVerb }
}
stores! {
    /// `append` or `prepend`: adds to a value that exists, and keeps its flags and expiry.
    Concat { verb: StoreVerb }
}
stores! {
    /// Stores a value if nobody has changed it since its cas number was read.
    Cas { cas: u64 }
}
has_item!(Set, SetIf, Cas);

impl<K: AsRef<[u8]>> sealed::Operation for Set<K> {
    type Output = ();

    fn name(&self) -> &'static str {
        "set"
    }

    fn key(&self) -> Option<&[u8]> {
        Some(self.item.key.as_ref())
    }

    fn request<'a>(&'a self, key: &'a [u8]) -> Result<Request<'a>> {
        self.item.request(key, StoreVerb::Set)
    }

    fn read(reply: Reply) -> std::result::Result<(), Reply> {
        match reply {
            Reply::Stored => Ok(()),
            other => Err(other),
        }
    }
}

pub(crate) fn store_name(verb: StoreVerb) -> &'static str {
    match verb {
        StoreVerb::Set => "set",
        StoreVerb::Add => "add",
        StoreVerb::Replace => "replace",
        StoreVerb::Append => "append",
        StoreVerb::Prepend => "prepend",
    }
}

/// The operations whose condition may not hold.
macro_rules! conditional {
    ($($name:ident),*) => {$(
        impl<K: AsRef<[u8]>> sealed::Operation for $name<K> {
            type Output = StoreOutcome;

            fn name(&self) -> &'static str {
                store_name(self.verb)
            }

            fn key(&self) -> Option<&[u8]> {
                Some(self.item.key.as_ref())
            }

            fn request<'a>(&'a self, key: &'a [u8]) -> Result<Request<'a>> {
                self.item.request(key, self.verb)
            }

            fn read(reply: Reply) -> std::result::Result<StoreOutcome, Reply> {
                match reply {
                    Reply::Stored => Ok(StoreOutcome::Stored),
                    Reply::NotStored => Ok(StoreOutcome::NotStored),
                    other => Err(other),
                }
            }
        }
    )*};
}
conditional!(SetIf, Concat);

impl<K: AsRef<[u8]>> sealed::Operation for Cas<K> {
    type Output = CasOutcome;

    fn name(&self) -> &'static str {
        "cas"
    }

    fn key(&self) -> Option<&[u8]> {
        Some(self.item.key.as_ref())
    }

    fn request<'a>(&'a self, sent: &'a [u8]) -> Result<Request<'a>> {
        let Item {
            data,
            flags,
            expires,
            ..
        } = &self.item;
        Ok(Request::Cas {
            key: key(sent)?,
            flags: *flags,
            expiry: expires.to_wire(),
            cas: self.cas,
            data,
        })
    }

    fn read(reply: Reply) -> std::result::Result<CasOutcome, Reply> {
        match reply {
            Reply::Stored => Ok(CasOutcome::Stored),
            Reply::Exists => Ok(CasOutcome::Exists),
            Reply::NotFound => Ok(CasOutcome::NotFound),
            other => Err(other),
        }
    }
}

/// `increment` or `decrement`: gives the new number, or `None` if the key does not exist.
#[derive(Debug, Clone)]
pub struct Arithmetic<K> {
    pub(crate) key: K,
    pub(crate) delta: u64,
    pub(crate) down: bool,
}

impl<K: AsRef<[u8]>> Write for Arithmetic<K> {}

impl<K: AsRef<[u8]>> sealed::Operation for Arithmetic<K> {
    type Output = Option<u64>;

    fn name(&self) -> &'static str {
        if self.down { "decrement" } else { "increment" }
    }

    fn key(&self) -> Option<&[u8]> {
        Some(self.key.as_ref())
    }

    fn request<'a>(&'a self, sent: &'a [u8]) -> Result<Request<'a>> {
        let (key, delta) = (key(sent)?, self.delta);
        Ok(if self.down {
            Request::Decrement { key, delta }
        } else {
            Request::Increment { key, delta }
        })
    }

    fn read(reply: Reply) -> std::result::Result<Option<u64>, Reply> {
        match reply {
            Reply::Number(number) => Ok(Some(number)),
            Reply::NotFound => Ok(None),
            other => Err(other),
        }
    }
}

/// Sets a new expiry; gives whether the key exists.
#[derive(Debug, Clone)]
pub struct Touch<K> {
    pub(crate) key: K,
    pub(crate) expires: Expires,
}

impl<K: AsRef<[u8]>> Write for Touch<K> {}

impl<K: AsRef<[u8]>> sealed::Operation for Touch<K> {
    type Output = bool;

    fn name(&self) -> &'static str {
        "touch"
    }

    fn key(&self) -> Option<&[u8]> {
        Some(self.key.as_ref())
    }

    fn request<'a>(&'a self, sent: &'a [u8]) -> Result<Request<'a>> {
        Ok(Request::Touch {
            key: key(sent)?,
            expiry: self.expires.to_wire(),
        })
    }

    fn read(reply: Reply) -> std::result::Result<bool, Reply> {
        match reply {
            Reply::Touched => Ok(true),
            Reply::NotFound => Ok(false),
            other => Err(other),
        }
    }
}

/// Deletes a key; gives whether it existed.
#[derive(Debug, Clone)]
pub struct Delete<K> {
    pub(crate) key: K,
}

impl<K: AsRef<[u8]>> Write for Delete<K> {}

impl<K: AsRef<[u8]>> sealed::Operation for Delete<K> {
    type Output = bool;

    fn name(&self) -> &'static str {
        "delete"
    }

    fn key(&self) -> Option<&[u8]> {
        Some(self.key.as_ref())
    }

    fn request<'a>(&'a self, sent: &'a [u8]) -> Result<Request<'a>> {
        Ok(Request::Delete { key: key(sent)? })
    }

    fn read(reply: Reply) -> std::result::Result<bool, Reply> {
        match reply {
            Reply::Deleted => Ok(true),
            Reply::NotFound => Ok(false),
            other => Err(other),
        }
    }
}
