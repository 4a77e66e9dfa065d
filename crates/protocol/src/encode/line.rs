//! The line of reads that further reads may join: what it asks for already, and its bounds.
//!
//! A read that finds its key in the line shares the answer, so a key that many tasks want at
//! once crosses the wire once.

use super::output::Output;
use crate::{Key, ReadKind};

/// The longest line of `get` or `gets`, in bytes: room for 32 keys of full length.
const MAX_GET_LINE: usize = 8 * 1024;

/// The longest line of `gat` or `gats`, in bytes. memcached closes the connection when it has
/// more than 2,048 bytes of a line and no end, unless the line begins like a get.
const MAX_TOUCH_LINE: usize = 2_000;

/// The most requests that one line answers, however few keys they name.
const MAX_REQUESTS: usize = 64 * 1024;

/// A line of reads that lacks its end and is the last thing in the output, or no line.
#[derive(Debug, Default)]
pub(crate) struct OpenLine {
    kind: Option<ReadKind>,
    /// How many bytes of it are in the output.
    len: usize,
    requests: usize,
    keys: Vec<AskedKey>,
    /// Tells of most keys that they are new without a look at `keys`.
    filter: Filter,
}

#[derive(Debug)]
struct AskedKey {
    hash: u32,
    /// Where in the line it begins.
    start: usize,
    len: usize,
    /// The slot of the last request for it.
    last_slot: u64,
}

impl OpenLine {
    pub(crate) fn is_open(&self) -> bool {
        self.kind.is_some()
    }

    /// Starts a line of which `len` bytes have been put, up to where its keys follow.
    pub(crate) fn open(&mut self, kind: ReadKind, len: usize) {
        self.kind = Some(kind);
        self.len = len;
        self.requests = 0;
        self.keys.clear();
        self.filter = Filter::default();
    }

    pub(crate) fn close(&mut self) {
        self.kind = None;
    }

    /// Whether a read of `kind` may join.
    pub(crate) fn accepts(&self, kind: ReadKind) -> bool {
        self.kind == Some(kind) && self.requests < MAX_REQUESTS
    }

    /// Whether a key that is not asked for yet has room.
    pub(crate) fn has_room(&self, key: Key<'_>, max_keys: usize) -> bool {
        let max_len = match self.kind {
            Some(ReadKind::Get | ReadKind::Gets) => MAX_GET_LINE,
            _ => MAX_TOUCH_LINE,
        };
        let with_key = self.len + " ".len() + key.as_bytes().len() + "\r\n".len();
        self.keys.len() < max_keys && with_key <= max_len
    }

    /// Notes a key that has just been put, asked for by the request in `slot`.
    #[inline]
    pub(crate) fn add_key(&mut self, key: Key<'_>, hash: u32, slot: u64) {
        let len = key.as_bytes().len();
        self.filter.add(hash);
        self.keys.push(AskedKey {
            hash,
            start: self.len + " ".len(),
            len,
            last_slot: slot,
        });
        self.len += " ".len() + len;
        self.requests += 1;
    }

    /// If the line asks for `key` already, notes that the request in `slot` does so too and
    /// returns the slot of the one before.
    #[inline]
    pub(crate) fn join_key(
        &mut self,
        key: Key<'_>,
        hash: u32,
        slot: u64,
        output: &Output,
    ) -> Option<u64> {
        if !self.filter.may_have(hash) {
            return None;
        }
        let line = output.last(self.len);
        let asked = self.keys.iter_mut().find(|asked| {
            asked.hash == hash && line[asked.start..][..asked.len] == *key.as_bytes()
        })?;
        self.requests += 1;
        Some(std::mem::replace(&mut asked.last_slot, slot))
    }
}

/// A Bloom filter with one bit a hash: it may take a new hash for one that was added, but never the
/// other way round. Even a line of 300 keys leaves most of its 1,024 bits clear.
#[derive(Debug, Default)]
struct Filter([u64; 16]);

impl Filter {
    fn add(&mut self, hash: u32) {
        let (word, bit) = Self::place(hash);
        self.0[word] |= bit;
    }

    fn may_have(&self, hash: u32) -> bool {
        let (word, bit) = Self::place(hash);
        self.0[word] & bit != 0
    }

    /// The upper bits of a product depend on the most bits of its factor, so they say where.
    fn place(hash: u32) -> (usize, u64) {
        ((hash >> 28) as usize, 1 << (hash >> 22 & 63))
    }
}

/// A quick hash that spares most comparisons of different keys; it decides nothing by itself.
pub(crate) fn hash(key: Key<'_>) -> u32 {
    const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |hash: u64, word: u64| (hash.rotate_left(23) ^ word).wrapping_mul(MULTIPLIER);

    let key = key.as_bytes();
    let (words, rest) = key.as_chunks::<8>();
    let last = match key.last_chunk::<8>() {
        // The last eight bytes overlap the others, which spares a loop over the rest.
        Some(last) => u64::from_le_bytes(*last),
        None => rest
            .iter()
            .fold(1, |word, &byte| word << 8 | u64::from(byte)),
    };
    let hash = words
        .iter()
        .fold(mix(key.len() as u64, last), |hash, word| {
            mix(hash, u64::from_le_bytes(*word))
        });
    // The upper half of a product depends on every bit of its factor.
    (hash >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_one_hash_are_told_apart() {
        let mut output = Output::default();
        let mut line = OpenLine::default();
        output.put(b"get");
        line.open(ReadKind::Get, "get".len());
        let keys = [&b"one"[..], b"on", b"two"].map(|key| Key::new(key).unwrap());
        for (slot, key) in (0..).zip(keys) {
            assert_eq!(line.join_key(key, 7, slot, &output), None);
            output.put(b" ");
            output.put(key.as_bytes());
            line.add_key(key, 7, slot);
        }
        for (slot, key) in (0..).zip(keys) {
            assert_eq!(line.join_key(key, 7, slot + 10, &output), Some(slot));
            assert_eq!(line.join_key(key, 7, slot + 20, &output), Some(slot + 10));
        }
    }

    #[test]
    fn every_key_of_a_long_line_is_found_again() {
        let mut output = Output::default();
        let mut line = OpenLine::default();
        output.put(b"get");
        line.open(ReadKind::Get, "get".len());
        let names: Vec<_> = (0..500).map(|number| format!("key:{number}")).collect();
        let keys = || (0..).zip(names.iter().map(|name| Key::new(name.as_bytes()).unwrap()));
        for (slot, key) in keys() {
            assert_eq!(line.join_key(key, hash(key), slot, &output), None);
            output.put(b" ");
            output.put(key.as_bytes());
            line.add_key(key, hash(key), slot);
        }
        for (slot, key) in keys() {
            let joined = line.join_key(key, hash(key), slot + 1_000, &output);
            assert_eq!(joined, Some(slot));
        }
    }

    #[test]
    fn hashes_depend_on_every_byte() {
        let of = |bytes: &[u8]| hash(Key::new(bytes).unwrap());
        for len in 1..40 {
            let bytes = vec![b'k'; len];
            assert_ne!(of(&bytes), of(&[&bytes[..], b"k"].concat()));
            for place in 0..len {
                let mut other = bytes.clone();
                other[place] = b'l';
                assert_ne!(of(&bytes), of(&other), "byte {place} of {len}");
            }
        }
    }
}
