//! The meta commands: `mg`, `ms`, `md`, `ma`, `me` and `mn`, which do what the classic commands do
//! and more, told by flags of one letter.
//!
//! Each command is a small builder whose methods are its flags. It is sent like any other request,
//! as [`Request::Meta`](crate::Request::Meta), and answered by [`Reply::Meta`](crate::Reply::Meta).
//!
//! - A key may be [binary](BinaryKey): any bytes, sent in base64. Only the meta commands take one.
//! - What a server lacks is found out before anything is sent: [`Command::check_version`].
//!   [`Command::classic`] is the classic command of the same effect, where there is one.
//! - A reply comes in the order of its request. If an opaque number or the key was asked back, it
//!   is compared as well, and another one ends the connection; so does an item that lacks it.
//!   Nothing else in a reply tells whose value it is: [`Get::attributed`] sees to that.
//! - A [`Get`] can keep a crowd of readers from recomputing a value all at once: [`Reply::won`] tells
//!   one of them to do so, [`Reply::recaching`] tells the others that somebody does, and
//!   [`Reply::stale`] that the value is an old one.
//!
//! ```
//! use bytes::{Buf, BytesMut};
//! use steersman_memcached_protocol::{Connection, Expiry, Key, Limits, Reply, Request, meta};
//!
//! let key = Key::new(b"apple")?;
//! let now = 1_796_000_000; // seconds since 1970, from the caller's clock
//! let lease = Expiry::after(std::time::Duration::from_secs(30), now);
//! let get = meta::Get::new(key).value().cas().vivify(lease).opaque(7);
//!
//! let mut connection = Connection::new(Limits::default());
//! connection.submit(&Request::Meta(get.into()), "who asked")?;
//! assert_eq!(connection.output().copy_to_bytes(21), &b"mg apple N30 c v O7\r\n"[..]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The quiet flag `q` is not offered. It hides the commonest reply of each command, and whoever
//! asked has to wait for a later one to know; error lines name no request, so that one of them
//! among quiet requests belongs to nobody. What it saves is given in the project's DESIGN.md. The
//! proxy hints `P` and `L` mean nothing to memcached and are not offered either.
//!
//! The commands are those that `doc/protocol.txt` of memcached describes.

mod arithmetic;
mod classic;
mod delete;
mod flag;
mod gate;
mod get;
mod key;
mod parse;
mod reply;
mod set;

pub use self::arithmetic::Arithmetic;
pub use self::delete::Delete;
pub use self::gate::Requirement;
pub use self::get::Get;
pub use self::key::{BinaryKey, MetaKey};
pub use self::reply::{Item, Reply, Status, Ttl};
pub use self::set::{Set, SetMode};

pub(crate) use self::flag::Argument;
pub(crate) use self::parse::{MetaLine, Mismatch};

/// A meta command, borrowed from the caller until it is encoded.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Command<'a> {
    /// Reads an item (`mg`).
    Get(Get<'a>),
    /// Stores an item (`ms`).
    Set(Set<'a>),
    /// Removes an item or marks it stale (`md`).
    Delete(Delete<'a>),
    /// Adds to a number or subtracts from it (`ma`).
    Arithmetic(Arithmetic<'a>),
    /// Asks what the server keeps about an item, for people to look at (`me`); answered by
    /// [`Status::Item`] or [`Status::Miss`]. The reply bears the key. Of a binary one that a read or
    /// a counter has made the item of, memcached sends the bare bytes; white space in them ends the
    /// connection with a protocol error.
    Inspect(MetaKey<'a>),
    /// Does nothing (`mn`); answered by [`Status::Noop`] once everything before it is done.
    Noop,
}

impl<'a> Command<'a> {
    /// The name on the wire, such as `mg`.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Get(_) => "mg",
            Self::Set(_) => "ms",
            Self::Delete(_) => "md",
            Self::Arithmetic(_) => "ma",
            Self::Inspect(_) => "me",
            Self::Noop => "mn",
        }
    }

    /// The key; `mn` has none.
    pub const fn key(&self) -> Option<MetaKey<'a>> {
        match self {
            Self::Get(get) => Some(get.key),
            Self::Set(set) => Some(set.key),
            Self::Delete(delete) => Some(delete.key),
            Self::Arithmetic(arithmetic) => Some(arithmetic.key),
            Self::Inspect(key) => Some(*key),
            Self::Noop => None,
        }
    }

    /// What may answer it.
    #[inline(never)]
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Get(get) if get.returns_value() => Kind::GetValue,
            Self::Get(_) => Kind::Get,
            Self::Set(_) => Kind::Set,
            Self::Delete(_) => Kind::Delete,
            Self::Arithmetic(arithmetic) if arithmetic.returns_value() => Kind::ArithmeticValue,
            Self::Arithmetic(_) => Kind::Arithmetic,
            Self::Inspect(_) => Kind::Inspect,
            Self::Noop => Kind::Noop,
        }
    }

    /// Every flag in the order in which it is sent.
    pub(crate) fn for_each_flag(&self, each: &mut impl FnMut(u8, Argument)) {
        if let Some(MetaKey::Binary(_)) = self.key() {
            each(b'b', Argument::None);
        }
        match self {
            // The server may send a binary key back as it is, line ends and all: it does for an item
            // that a read or a counter has made.
            Self::Get(get) if matches!(get.key, MetaKey::Binary(_)) => {
                get.for_each_flag(&mut |letter, argument| {
                    if letter != b'k' {
                        each(letter, argument);
                    }
                });
            }
            Self::Get(get) => get.for_each_flag(each),
            Self::Set(set) => set.for_each_flag(each),
            Self::Delete(delete) => delete.for_each_flag(each),
            Self::Arithmetic(arithmetic) => arithmetic.for_each_flag(each),
            Self::Inspect(_) | Self::Noop => {}
        }
    }
}

macro_rules! from_builder {
    ($($name:ident),*) => {$(
        impl<'a> From<$name<'a>> for Command<'a> {
            fn from(command: $name<'a>) -> Self {
                Self::$name(command)
            }
        }
    )*};
}
from_builder!(Get, Set, Delete, Arithmetic);

/// Which replies a meta command may get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Get,
    GetValue,
    Set,
    Delete,
    Arithmetic,
    ArithmeticValue,
    Inspect,
    Noop,
}

impl Kind {
    /// Whether the command does something besides getting its reply.
    pub(crate) fn reports_an_effect(self) -> bool {
        !matches!(
            self,
            Self::Get | Self::GetValue | Self::Inspect | Self::Noop
        )
    }

    /// For messages: the replies it may get.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::Get => "HD or EN in reply to mg",
            Self::GetValue => "VA, HD or EN in reply to mg",
            Self::Set => "HD, NS, EX or NF in reply to ms",
            Self::Delete => "HD, EX or NF in reply to md",
            Self::Arithmetic => "HD, NS, EX or NF in reply to ma",
            Self::ArithmeticValue => "VA, NS, EX or NF in reply to ma",
            Self::Inspect => "ME or EN in reply to me",
            Self::Noop => "MN in reply to mn",
        }
    }
}
