//! `mg`: reading an item, what is known about it, and who is to renew it.

use super::MetaKey;
use super::flag::{self, Argument, Flags};
use crate::Expiry;

/// Reads an item (`mg`): only what is asked for comes back. Answered by
/// [`Status::Value`](super::Status::Value) if the value was asked for, by
/// [`Status::Done`](super::Status::Done) if it was not, by [`Status::Miss`](super::Status::Miss) if
/// there is no item.
#[derive(Clone, Copy, Debug)]
pub struct Get<'a> {
    pub(super) key: MetaKey<'a>,
    pub(super) flags: Flags,
    pub(super) touch: Option<Expiry>,
    vivify: Option<Expiry>,
    recache_below: Option<u32>,
    opaque: Option<u32>,
    new_cas: Option<u64>,
    unless_cas: Option<u64>,
}

impl<'a> Get<'a> {
    /// The longest time that memcached takes as relative: 30 days, in seconds.
    const MAX_RECACHE: u32 = 60 * 60 * 24 * 30;

    /// Whether there is such an item, and nothing else.
    pub fn new(key: impl Into<MetaKey<'a>>) -> Self {
        Self {
            key: key.into(),
            flags: Flags::default(),
            touch: None,
            vivify: None,
            recache_below: None,
            opaque: None,
            new_cas: None,
            unless_cas: None,
        }
    }

    /// Asks for the value (`v`).
    pub fn value(self) -> Self {
        self.flag(b'v')
    }

    /// Asks for the number that was stored with the value (`f`).
    pub fn client_flags(self) -> Self {
        self.flag(b'f')
    }

    /// Asks for the cas number (`c`).
    pub fn cas(self) -> Self {
        self.flag(b'c')
    }

    /// Asks for the time that the item has left (`t`), before a [`touch`](Self::touch).
    pub fn ttl(self) -> Self {
        self.flag(b't')
    }

    /// Asks for the length of the value (`s`).
    pub fn size(self) -> Self {
        self.flag(b's')
    }

    /// Asks whether the item had been read before (`h`).
    pub fn hit_before(self) -> Self {
        self.flag(b'h')
    }

    /// Asks for the seconds since it was last read or stored (`l`).
    pub fn last_access(self) -> Self {
        self.flag(b'l')
    }

    /// Asks for the key (`k`), which is compared with the one that was asked for. Not sent with a
    /// binary key, of which memcached may send bare bytes; use [`opaque`](Self::opaque).
    pub fn return_key(self) -> Self {
        self.flag(b'k')
    }

    /// Sends a number along that the reply has to bear (`O`). memcached before 1.6.18 leaves it out
    /// of a miss.
    pub fn opaque(mut self, number: u32) -> Self {
        self.opaque = Some(number);
        self
    }

    /// Sees to it that a value that comes is known to be this item's: asks for the key, and with a
    /// binary one, which does not come back, sends a number that is made of it, unless another
    /// [`opaque`](Self::opaque) number is sent. A read of no value stays as it is.
    ///
    /// ```
    /// use steersman_memcached_protocol::{Connection, Key, Limits, Request, meta};
    ///
    /// let get = meta::Get::new(Key::new(b"pear")?).value().attributed();
    /// let mut connection = Connection::new(Limits::default());
    /// connection.submit(&Request::Meta(get.into()), "who asked")?;
    /// # use bytes::{Buf, BytesMut};
    /// # let sent = connection.output().remaining();
    /// # connection.output().advance(sent);
    /// // The server has lost count of what it was asked.
    /// let mut input = BytesMut::from("VA 5 kapple\r\ngreen\r\n");
    /// assert!(connection.feed(&mut input, &mut |_, _| unreachable!()).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn attributed(mut self) -> Self {
        if !self.returns_value() {
            return self;
        }
        match self.key {
            MetaKey::Plain(_) => self.return_key(),
            MetaKey::Binary(key) => {
                self.opaque
                    .get_or_insert_with(|| fingerprint(key.as_bytes()));
                self
            }
        }
    }

    /// Does not count as a use of the item (`u`): neither its place in the order of eviction nor what
    /// [`hit_before`](Self::hit_before) and [`last_access`](Self::last_access) tell changes.
    pub fn no_bump(self) -> Self {
        self.flag(b'u')
    }

    /// Sets when the item expires (`T`).
    pub fn touch(mut self, expiry: impl Into<Expiry>) -> Self {
        self.touch = Some(expiry.into());
        self
    }

    /// If there is no item, makes an empty one with this expiry and tells the caller by
    /// [`Reply::won`](super::Reply::won) to fill it (`N`). It looks like an empty value to those who read it, with
    /// [`Reply::recaching`](super::Reply::recaching) if they use `mg`.
    pub fn vivify(mut self, expiry: impl Into<Expiry>) -> Self {
        self.vivify = Some(expiry.into());
        self
    }

    /// If the item has fewer seconds left than this, tells one caller by [`Reply::won`](super::Reply::won) to renew it
    /// (`R`). More than 30 days count as 30 days.
    pub fn recache_below(mut self, seconds: u32) -> Self {
        self.recache_below = Some(seconds.min(Self::MAX_RECACHE));
        self
    }

    /// The cas number of an item that [`vivify`](Self::vivify) makes (`E`). Needs memcached 1.6.27.
    pub fn new_cas(mut self, cas: u64) -> Self {
        self.new_cas = Some(cas);
        self
    }

    /// Leaves the value out if the item's cas number is this one (`C`): the caller has it. The
    /// reply is [`Status::Done`](super::Status::Done) then. Needs memcached 1.6.40; older ones do
    /// not look at it.
    pub fn unless_cas(mut self, cas: u64) -> Self {
        self.unless_cas = Some(cas);
        self
    }

    pub(super) fn returns_value(&self) -> bool {
        self.flags.has(b'v')
    }

    /// Whether it does and tells no more than the classic `get` or `gat`, and no less.
    pub(super) fn is_plain(&self) -> bool {
        let asks_more = [b'h', b'l', b's', b't', b'u']
            .into_iter()
            .any(|letter| self.flags.has(letter));
        let leases = self.vivify.is_some() || self.recache_below.is_some();
        self.returns_value() && !asks_more && !leases && self.unless_cas.is_none()
    }

    fn flag(mut self, letter: u8) -> Self {
        self.flags = self.flags.with(letter);
        self
    }

    pub(super) fn for_each_flag(&self, each: &mut impl FnMut(u8, Argument)) {
        // The server does them in order: the time left is that of an item just made, but the one
        // before a touch.
        flag::time(b'N', self.vivify, each);
        flag::number(b'R', self.recache_below, each);
        for letter in self.flags.iter() {
            each(letter, Argument::None);
        }
        flag::number(b'O', self.opaque, each);
        flag::number(b'C', self.unless_cas, each);
        flag::number(b'E', self.new_cas, each);
        flag::time(b'T', self.touch, each);
    }
}

/// A number that tells a key from others: FNV-1a of 32 bits (G. Fowler, L. C. Noll, K.-P. Vo,
/// "The FNV Non-Cryptographic Hash Algorithm").
fn fingerprint(key: &[u8]) -> u32 {
    key.iter().fold(0x811c_9dc5, |hash, &byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_are_those_of_fnv() {
        assert_eq!(fingerprint(b""), 0x811c_9dc5);
        assert_eq!(fingerprint(b"a"), 0xe40c_292c);
        assert_eq!(fingerprint(b"foobar"), 0xbf9c_f968);
    }
}
