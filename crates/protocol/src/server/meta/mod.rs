//! The meta commands on the server's side: what a client can ask, and the lines that answer it.
//!
//! The flags of a request are kept as they came, because the reply bears what was asked for in
//! that order, and some of them take effect one after the other.

mod flags;
mod reply;

use bytes::Bytes;

use super::tokens;

pub(super) use self::flags::{decode, parse};
pub use self::reply::MetaLine;

/// A meta command with a key and flags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetaRequest {
    /// The key, decoded if it came in base64.
    pub key: Bytes,
    /// `b`: the key came in base64.
    pub is_binary: bool,
    /// `v`: the value is wanted.
    pub wants_value: bool,
    /// `q`: the commonest reply is not wanted.
    pub is_quiet: bool,
    /// `u`: reading does not count as a use.
    pub no_bump: bool,
    /// `I`: mark stale.
    pub invalidate: bool,
    /// `N`: the expiry, as sent, of an item that is made if there is none.
    pub vivify: Option<i32>,
    /// `T`: the new expiry as sent.
    pub exptime: Option<i32>,
    /// `R`: an expiry, as sent, before which the item is to be renewed.
    pub recache: Option<i32>,
    /// `C`: the CAS number to compare.
    pub cas: Option<u64>,
    /// `F`: the client's flags.
    pub client_flags: u32,
    /// `D`: how much to add or subtract.
    pub delta: u64,
    /// `J`: the number of a counter that is made.
    pub initial: u64,
    /// `M`: the mode, one of those that the command has.
    pub mode: Option<u8>,
    words: Bytes,
}

impl MetaRequest {
    /// The flags as they came: a letter, and the whole word.
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use steersman_memcached_protocol::server::{Command, Event, Limits, Parser};
    ///
    /// let event = Parser::new(Limits::default()).next(&mut BytesMut::from("mg key v Oabc\r\n"));
    /// let Some(Event::Request(request)) = event else { panic!("it is a request") };
    /// let Command::MetaGet(get) = request.command else { panic!("it is a read") };
    /// assert_eq!(get.key, "key");
    /// assert!(get.flags().eq([(b'v', &b"v"[..]), (b'O', b"Oabc")]));
    /// ```
    pub fn flags(&self) -> impl Iterator<Item = (u8, &[u8])> {
        tokens::words(&self.words).map(|word| (word[0], word))
    }
}
