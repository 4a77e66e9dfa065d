//! `ms`: storing an item.

use bytes::Bytes;

use super::MetaKey;
use super::flag::{self, Argument, Flags};
use crate::Expiry;

/// Stores an item (`ms`). Answered by [`Status::Done`](super::Status::Done), or by
/// [`NotStored`](super::Status::NotStored) if the mode's condition does not hold, or, with
/// [`if_cas`](Self::if_cas), by [`Exists`](super::Status::Exists) or
/// [`NotFound`](super::Status::NotFound).
#[derive(Clone, Copy, Debug)]
pub struct Set<'a> {
    pub(super) key: MetaKey<'a>,
    pub(crate) data: &'a Bytes,
    pub(super) mode: SetMode,
    pub(super) client_flags: u32,
    pub(super) expiry: Expiry,
    pub(super) if_cas: Option<u64>,
    pub(super) invalidate: bool,
    pub(super) flags: Flags,
    vivify: Option<Expiry>,
    opaque: Option<u32>,
    new_cas: Option<u64>,
}

/// How a [`Set`] stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SetMode {
    /// Whatever is there.
    Set,
    /// Only if nothing is there.
    Add,
    /// Only if something is there.
    Replace,
    /// Behind what is there, whose flags and expiry stay.
    Append,
    /// Before what is there, whose flags and expiry stay.
    Prepend,
}

impl<'a> Set<'a> {
    /// Stores a value whatever is there, without flags and for ever. A large value is shared, not
    /// copied, until it is written.
    pub fn new(key: impl Into<MetaKey<'a>>, data: &'a Bytes) -> Self {
        Self {
            key: key.into(),
            data,
            mode: SetMode::Set,
            client_flags: 0,
            expiry: Expiry::NEVER,
            if_cas: None,
            invalidate: false,
            flags: Flags::default(),
            vivify: None,
            opaque: None,
            new_cas: None,
        }
    }

    /// How it stores (`M`).
    pub fn mode(mut self, mode: SetMode) -> Self {
        self.mode = mode;
        self
    }

    /// A number of the caller's that comes back with the value (`F`).
    pub fn client_flags(mut self, flags: u32) -> Self {
        self.client_flags = flags;
        self
    }

    /// When the item expires (`T`).
    pub fn expires(mut self, expiry: impl Into<Expiry>) -> Self {
        self.expiry = expiry.into();
        self
    }

    /// Stores only if the item's cas number is this one (`C`).
    pub fn if_cas(mut self, cas: u64) -> Self {
        self.if_cas = Some(cas);
        self
    }

    /// With [`if_cas`](Self::if_cas): if the item's number is greater, stores the value all the
    /// same, but marked stale (`I`).
    pub fn invalidate(mut self) -> Self {
        self.invalidate = true;
        self
    }

    /// Asks for the new cas number (`c`); 0 if nothing was stored.
    pub fn return_cas(mut self) -> Self {
        self.flags = self.flags.with(b'c');
        self
    }

    /// Asks for the key (`k`), which is compared with the one that was sent.
    pub fn return_key(mut self) -> Self {
        self.flags = self.flags.with(b'k');
        self
    }

    /// Asks for the length of the value as stored (`s`). Needs memcached 1.6.20.
    pub fn return_size(mut self) -> Self {
        self.flags = self.flags.with(b's');
        self
    }

    /// Sends a number along that the reply has to bear (`O`).
    pub fn opaque(mut self, number: u32) -> Self {
        self.opaque = Some(number);
        self
    }

    /// For appending and prepending: if there is no item, makes one with this expiry (`N`). Needs
    /// memcached 1.6.20; older ones do not look at it.
    pub fn vivify(mut self, expiry: impl Into<Expiry>) -> Self {
        self.vivify = Some(expiry.into());
        self
    }

    /// The item's cas number from now on (`E`), instead of one that the server draws. Needs
    /// memcached 1.6.27.
    pub fn new_cas(mut self, cas: u64) -> Self {
        self.new_cas = Some(cas);
        self
    }

    /// Whether it does and tells no more than a classic store.
    pub(super) fn is_plain(&self) -> bool {
        let asks_more = self.flags.has(b'c') || self.flags.has(b's');
        let draws_cas = self.new_cas.is_some();
        !asks_more && !draws_cas && !self.invalidate && self.vivify.is_none()
    }

    pub(super) fn for_each_flag(&self, each: &mut impl FnMut(u8, Argument)) {
        for letter in self.flags.iter() {
            each(letter, Argument::None);
        }
        flag::number(b'O', self.opaque, each);
        flag::number(b'C', self.if_cas, each);
        flag::number(b'E', self.new_cas, each);
        if self.client_flags != 0 {
            each(b'F', Argument::Number(self.client_flags.into()));
        }
        if self.invalidate {
            each(b'I', Argument::None);
        }
        match self.mode {
            SetMode::Set => {}
            SetMode::Add => each(b'M', Argument::Letter(b'E')),
            SetMode::Replace => each(b'M', Argument::Letter(b'R')),
            SetMode::Append => each(b'M', Argument::Letter(b'A')),
            SetMode::Prepend => each(b'M', Argument::Letter(b'P')),
        }
        flag::time(b'N', self.vivify, each);
        if self.expiry != Expiry::NEVER {
            each(b'T', Argument::Time(self.expiry));
        }
    }
}
