//! A ledger of what was written, which judges what is read.
//!
//! Whoever tests a cache under faults enters every write before it is sent and its result when it is known,
//! and shows every answer to the ledger. It knows which answers cannot be: see [`ViolationKind`]. It has no
//! clock and asks no node anything, so it does for real servers and in virtual time; and any number of
//! writers and readers of a key may overlap, because it concludes only from writes of which one had
//! ended before the other began.
//!
//! ```
//! use steersman_testkit::ledger::{Ledger, ViolationKind};
//!
//! let ledger = Ledger::new();
//! let (node, writer) = (0, 1);
//! let first = ledger.write(node, "key", writer);
//! let old = first.value(100);
//! first.confirmed();
//! let second = ledger.write(node, "key", writer);
//! let new = second.value(100);
//! second.confirmed();
//!
//! assert!(ledger.read(node, "key").found(&new).is_ok());
//! let stale = ledger.read(node, "key").found(&old).unwrap_err();
//! assert_eq!(stale.kind, ViolationKind::Stale);
//! let miss = ledger.read(node, "key").missed().unwrap_err();
//! assert_eq!(miss.kind, ViolationKind::FalseMiss);
//!
//! // The node is killed, and loses what it had.
//! ledger.loss(node).ended();
//! assert!(ledger.read(node, "key").missed().is_ok());
//! assert!(ledger.read(node, "key").found(&new).is_err());
//! ```

mod history;
mod stamp;
#[cfg(test)]
mod tests;
mod violation;

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

use bytes::Bytes;

use self::history::{History, Known, Moment, Outcome};
pub use self::stamp::{Damage, Stamp};
pub use self::violation::{Violation, ViolationKind};
use crate::lock;

/// So many writes are told in the story of a violation.
const TOLD: usize = 6;

/// What was written, on which node, and what came of it.
///
/// Nodes are numbers of the caller's. A key has a history of its own on each node.
#[derive(Debug, Default)]
pub struct Ledger {
    book: Mutex<Book>,
}

#[derive(Debug, Default)]
struct Book {
    now: Moment,
    keys: HashMap<Box<str>, Vec<History>>,
    /// The nodes that may lack memory.
    scarce: HashSet<usize>,
}

impl Book {
    /// The next moment.
    fn tick(&mut self) -> Moment {
        self.now += 1;
        self.now
    }

    fn history(&mut self, home: usize, key: &str) -> &mut History {
        if !self.keys.contains_key(key) {
            self.keys.insert(key.into(), Vec::new());
        }
        let homes = self.keys.get_mut(key).expect("it was just put there");
        if homes.len() <= home {
            homes.resize_with(home + 1, History::default);
        }
        &mut homes[home]
    }

    fn at(&mut self, home: usize) -> impl Iterator<Item = &mut History> {
        self.keys
            .values_mut()
            .filter_map(move |homes| homes.get_mut(home))
    }
}

impl Ledger {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// The node `home` may run out of memory. memcached removes what it cannot replace, so there a write
    /// whose result is not known may have left nothing.
    pub fn may_lack_memory(&self, home: usize) {
        lock(&self.book).scarce.insert(home);
    }

    /// A write of `key` to the node `home` is about to be made.
    pub fn write<'a>(&'a self, home: usize, key: &'a str, writer: u32) -> Write<'a> {
        self.begin(home, key, writer, true)
    }

    /// A deletion of `key` on the node `home` is about to be made.
    pub fn delete<'a>(&'a self, home: usize, key: &'a str, writer: u32) -> Write<'a> {
        self.begin(home, key, writer, false)
    }

    fn begin<'a>(&'a self, home: usize, key: &'a str, writer: u32, stores: bool) -> Write<'a> {
        let mut book = lock(&self.book);
        let start = book.tick();
        let removes = !stores || book.scarce.contains(&home);
        book.history(home, key).begin(start, stores, removes);
        Write {
            ledger: self,
            home,
            stamp: Stamp {
                key,
                writer,
                version: start,
            },
            has_ended: false,
        }
    }

    /// A read of `key` at the node `home` is about to be made.
    pub fn read<'a>(&'a self, home: usize, key: &'a str) -> Read<'a> {
        let mut book = lock(&self.book);
        let start = book.tick();
        book.history(home, key).begin_read(start);
        Read {
            ledger: self,
            home,
            key,
            start,
        }
    }

    /// The node `home` is about to lose all it has, as when its process is killed.
    pub fn loss(&self, home: usize) -> Loss<'_> {
        let mut book = lock(&self.book);
        let start = book.tick();
        book.at(home)
            .for_each(|history| history.begin(start, false, true));
        Loss {
            ledger: self,
            home,
            start,
        }
    }

    /// Nothing that was sent to the node `home` by calls that are over is on its way any more: what has not
    /// been executed never will be. Without this, a write whose result is not known is taken to be executed
    /// at any later time. Writes that are still under way are no concern of it.
    pub fn settle(&self, home: usize) {
        let mut book = lock(&self.book);
        let now = book.tick();
        book.at(home).for_each(|history| history.settle(now));
    }
}

/// A write under way; from [`Ledger::write`] and [`Ledger::delete`]. Dropped, it is one whose result is not
/// known.
#[derive(Debug)]
#[must_use = "a write that is dropped at once may still be executed at any time"]
pub struct Write<'a> {
    ledger: &'a Ledger,
    home: usize,
    stamp: Stamp<'a>,
    has_ended: bool,
}

impl Write<'_> {
    /// The value to write, with so many bytes besides its stamp.
    pub fn value(&self, filler: usize) -> Bytes {
        self.stamp.value(filler)
    }

    /// It was executed.
    pub fn confirmed(mut self) {
        self.end(Outcome::Confirmed);
    }

    /// The server refused it, and may have removed what was there: memcached does when it lacks memory.
    pub fn refused(mut self) {
        self.end(Outcome::Refused);
    }

    /// It was not executed and never will be.
    pub fn not_executed(mut self) {
        self.end(Outcome::NotExecuted);
    }

    fn end(&mut self, outcome: Outcome) {
        self.has_ended = true;
        let mut book = lock(&self.ledger.book);
        let now = book.tick();
        let history = book.history(self.home, self.stamp.key);
        history.end(self.stamp.version, now, outcome);
    }
}

impl Drop for Write<'_> {
    fn drop(&mut self) {
        if !self.has_ended {
            let mut book = lock(&self.ledger.book);
            let history = book.history(self.home, self.stamp.key);
            history.abandon(self.stamp.version);
        }
    }
}

/// A loss under way; from [`Ledger::loss`].
#[derive(Debug)]
#[must_use = "until it is said to have ended the node may lose its values at any time"]
pub struct Loss<'a> {
    ledger: &'a Ledger,
    home: usize,
    start: Moment,
}

impl Loss<'_> {
    /// All that the node had is gone: its process has ended, say.
    pub fn ended(self) {
        let mut book = lock(&self.ledger.book);
        let now = book.tick();
        book.at(self.home)
            .for_each(|history| history.end(self.start, now, Outcome::Confirmed));
    }
}

/// A read under way; from [`Ledger::read`]. Dropped, it is one that had no answer.
#[derive(Debug)]
#[must_use = "show it what was read"]
pub struct Read<'a> {
    ledger: &'a Ledger,
    home: usize,
    key: &'a str,
    start: Moment,
}

/// Whether anything was known that an answer could have contradicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// A write was confirmed before.
    AgainstAWrite,
    /// Nothing was: any of the key's values would have done, or none.
    AgainstNothing,
}

impl Read<'_> {
    /// It gave this value.
    ///
    /// # Errors
    ///
    /// The promise that is broken if it did.
    pub fn found(self, value: &[u8]) -> Result<Held, Violation> {
        let stamp = self.whole(value)?;
        let mut book = lock(&self.ledger.book);
        let history = book.history(self.home, self.key);
        let floor = history.floor(self.start);
        let kind = match history.judge(stamp.version, floor) {
            Known::Possible => return Ok(held(floor)),
            Known::Stale => ViolationKind::Stale,
            Known::NotExecuted => ViolationKind::NotExecuted,
            Known::NeverWritten => ViolationKind::NeverWritten,
        };
        let seen = format!("version {} of writer {}", stamp.version, stamp.writer);
        Err(self.violation(kind, self.story(&seen, history)))
    }

    /// It was a miss.
    ///
    /// # Errors
    ///
    /// The promise that is broken if it was.
    pub fn missed(self) -> Result<Held, Violation> {
        let mut book = lock(&self.ledger.book);
        let history = book.history(self.home, self.key);
        let floor = history.floor(self.start);
        if history.may_miss(floor) {
            return Ok(held(floor));
        }
        let story = self.story("nothing", history);
        Err(self.violation(ViolationKind::FalseMiss, story))
    }

    /// It gave this value, of which is asked only whether it is whole and the key's own: where a key
    /// lives on several nodes nobody promises more.
    ///
    /// # Errors
    ///
    /// The promise that is broken if it did.
    pub fn found_somewhere(self, value: &[u8]) -> Result<(), Violation> {
        self.whole(value).map(drop)
    }

    fn whole<'a>(&self, value: &'a [u8]) -> Result<Stamp<'a>, Violation> {
        let stamp = Stamp::read(value)
            .map_err(|damage| self.violation(ViolationKind::Damaged, damage.to_string()))?;
        if stamp.key == self.key {
            return Ok(stamp);
        }
        let story = format!(
            "it is {}, version {} of writer {}",
            stamp.key, stamp.version, stamp.writer
        );
        Err(self.violation(ViolationKind::OtherKey, story))
    }

    fn violation(&self, kind: ViolationKind, story: String) -> Violation {
        Violation {
            kind,
            key: self.key.to_owned(),
            home: self.home,
            story,
        }
    }

    fn story(&self, seen: &str, history: &History) -> String {
        let floor = history.floor(self.start);
        let last: Vec<_> = history.last(TOLD).collect();
        format!(
            "a read that began at {} saw {seen}; surely overwritten is what ended before {floor:?}; \
             the last writes are {last:?}",
            self.start
        )
    }
}

impl Drop for Read<'_> {
    fn drop(&mut self) {
        lock(&self.ledger.book)
            .history(self.home, self.key)
            .end_read(self.start);
    }
}

fn held(floor: Option<Moment>) -> Held {
    match floor {
        Some(_) => Held::AgainstAWrite,
        None => Held::AgainstNothing,
    }
}
