//! `md`: removing an item, or marking it stale.

use super::MetaKey;
use super::flag::{self, Argument, Flags};
use crate::Expiry;

/// Removes an item (`md`). Answered by [`Status::Done`](super::Status::Done), by
/// [`NotFound`](super::Status::NotFound), or, with [`if_cas`](Self::if_cas), by
/// [`Exists`](super::Status::Exists).
#[derive(Clone, Copy, Debug)]
pub struct Delete<'a> {
    pub(super) key: MetaKey<'a>,
    pub(super) if_cas: Option<u64>,
    invalidate: bool,
    /// The new expiry of an item that is marked stale.
    expiry: Option<Expiry>,
    flags: Flags,
    opaque: Option<u32>,
    new_cas: Option<u64>,
}

impl<'a> Delete<'a> {
    /// Removes the item, whatever its state.
    pub fn new(key: impl Into<MetaKey<'a>>) -> Self {
        Self {
            key: key.into(),
            if_cas: None,
            invalidate: false,
            expiry: None,
            flags: Flags::default(),
            opaque: None,
            new_cas: None,
        }
    }

    /// Only if the item's cas number is this one (`C`).
    pub fn if_cas(mut self, cas: u64) -> Self {
        self.if_cas = Some(cas);
        self
    }

    /// Marks the item stale instead of removing it (`I`), and sets when it expires if that is given
    /// (`T`). It gets a new cas number; the next who reads it with `mg` is told to renew it.
    pub fn invalidate(mut self, expiry: Option<Expiry>) -> Self {
        self.invalidate = true;
        self.expiry = expiry;
        self
    }

    /// Removes the value and the client flags but leaves the item (`x`). Needs memcached 1.6.27.
    pub fn remove_value(mut self) -> Self {
        self.flags = self.flags.with(b'x');
        self
    }

    /// Asks for the key (`k`), which is compared with the one that was sent.
    pub fn return_key(mut self) -> Self {
        self.flags = self.flags.with(b'k');
        self
    }

    /// Sends a number along that the reply has to bear (`O`).
    pub fn opaque(mut self, number: u32) -> Self {
        self.opaque = Some(number);
        self
    }

    /// The cas number of an item that stays (`E`). Needs memcached 1.6.27.
    pub fn new_cas(mut self, cas: u64) -> Self {
        self.new_cas = Some(cas);
        self
    }

    /// Whether it does what the classic `delete` does.
    pub(super) fn is_plain(&self) -> bool {
        self.if_cas.is_none() && !self.invalidate && !self.flags.has(b'x')
    }

    pub(super) fn for_each_flag(&self, each: &mut impl FnMut(u8, Argument)) {
        for letter in self.flags.iter() {
            each(letter, Argument::None);
        }
        flag::number(b'O', self.opaque, each);
        flag::number(b'C', self.if_cas, each);
        flag::number(b'E', self.new_cas, each);
        if self.invalidate {
            each(b'I', Argument::None);
            flag::time(b'T', self.expiry, each);
        }
    }
}
