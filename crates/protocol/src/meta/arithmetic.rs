//! `ma`: counting up and down.

use super::MetaKey;
use super::flag::{self, Argument, Flags};
use crate::Expiry;

/// Adds to a decimal number or subtracts from it (`ma`). Answered by
/// [`Status::Done`](super::Status::Done), by [`Value`](super::Status::Value) if the new number was
/// asked for, by [`NotFound`](super::Status::NotFound), or, with [`if_cas`](Self::if_cas), by
/// [`Exists`](super::Status::Exists). Needs memcached 1.6.10.
#[derive(Clone, Copy, Debug)]
pub struct Arithmetic<'a> {
    pub(super) key: MetaKey<'a>,
    pub(super) delta: u64,
    pub(super) down: bool,
    initial: Option<(u64, Expiry)>,
    touch: Option<Expiry>,
    if_cas: Option<u64>,
    flags: Flags,
    opaque: Option<u32>,
    new_cas: Option<u64>,
}

impl<'a> Arithmetic<'a> {
    /// Adds, wrapping at 2^64.
    pub fn increment(key: impl Into<MetaKey<'a>>, delta: u64) -> Self {
        Self::new(key.into(), delta, false)
    }

    /// Subtracts (`MD`), stopping at 0.
    pub fn decrement(key: impl Into<MetaKey<'a>>, delta: u64) -> Self {
        Self::new(key.into(), delta, true)
    }

    fn new(key: MetaKey<'a>, delta: u64, down: bool) -> Self {
        Self {
            key,
            delta,
            down,
            initial: None,
            touch: None,
            if_cas: None,
            flags: Flags::default(),
            opaque: None,
            new_cas: None,
        }
    }

    /// If there is no item, makes one of this number, to which nothing is added (`J`), with this
    /// expiry (`N`).
    pub fn initial(mut self, number: u64, expiry: impl Into<Expiry>) -> Self {
        self.initial = Some((number, expiry.into()));
        self
    }

    /// Sets when the item expires (`T`).
    pub fn touch(mut self, expiry: impl Into<Expiry>) -> Self {
        self.touch = Some(expiry.into());
        self
    }

    /// Only if the item's cas number is this one (`C`).
    pub fn if_cas(mut self, cas: u64) -> Self {
        self.if_cas = Some(cas);
        self
    }

    /// Asks for the new number (`v`), which is in [`Reply::number`](super::Reply::number).
    pub fn return_value(self) -> Self {
        self.flag(b'v')
    }

    /// Asks for the new cas number (`c`).
    pub fn return_cas(self) -> Self {
        self.flag(b'c')
    }

    /// Asks for the time that the item has left (`t`).
    pub fn return_ttl(self) -> Self {
        self.flag(b't')
    }

    /// Asks for the key (`k`), which is compared with the one that was sent.
    pub fn return_key(self) -> Self {
        self.flag(b'k')
    }

    /// Sends a number along that the reply has to bear (`O`).
    pub fn opaque(mut self, number: u32) -> Self {
        self.opaque = Some(number);
        self
    }

    /// The item's cas number from now on (`E`). Needs memcached 1.6.27.
    pub fn new_cas(mut self, cas: u64) -> Self {
        self.new_cas = Some(cas);
        self
    }

    pub(super) fn returns_value(&self) -> bool {
        self.flags.has(b'v')
    }

    /// Whether it does what the classic `incr` or `decr` does.
    pub(super) fn is_plain(&self) -> bool {
        let asks_more = self.flags.has(b'c') || self.flags.has(b't');
        let changes_more = self.initial.is_some() || self.touch.is_some();
        !asks_more && !changes_more && self.if_cas.is_none() && self.new_cas.is_none()
    }

    fn flag(mut self, letter: u8) -> Self {
        self.flags = self.flags.with(letter);
        self
    }

    pub(super) fn for_each_flag(&self, each: &mut impl FnMut(u8, Argument)) {
        if self.delta != 1 {
            each(b'D', Argument::Number(self.delta));
        }
        if self.down {
            each(b'M', Argument::Letter(b'D'));
        }
        // The server does them in order: the time left is the new one.
        if let Some((number, expiry)) = self.initial {
            each(b'N', Argument::Time(expiry));
            each(b'J', Argument::Number(number));
        }
        flag::time(b'T', self.touch, each);
        for letter in self.flags.iter() {
            each(letter, Argument::None);
        }
        flag::number(b'O', self.opaque, each);
        flag::number(b'C', self.if_cas, each);
        flag::number(b'E', self.new_cas, each);
    }
}
