//! The keys of reads that wait for their answers.

use crate::Key;

/// So much of the buffer may lie before the first key until the rest is moved to the front.
const MIN_COMPACTED: usize = 4 * 1024;

/// A queue of keys in one buffer, each behind its length in one byte.
#[derive(Debug, Default)]
pub(super) struct Keys {
    bytes: Vec<u8>,
    /// Where the first key is; what lies before is done with.
    head: usize,
}

impl Keys {
    pub(super) fn push(&mut self, key: Key<'_>) {
        let key = key.as_bytes();
        self.bytes
            .push(u8::try_from(key.len()).expect("a key has at most 250 bytes"));
        self.bytes.extend_from_slice(key);
    }

    /// Adds a key or another word of no more bytes, marked with a letter before it.
    pub(super) fn push_marked(&mut self, letter: u8, word: &[u8]) {
        let len = word.len() + 1;
        self.bytes
            .push(u8::try_from(len).expect("a key has at most 250 bytes"));
        self.bytes.push(letter);
        self.bytes.extend_from_slice(word);
    }

    /// Every key, first to last.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = &self.bytes[self.head..];
        std::iter::from_fn(move || {
            let (&len, behind) = rest.split_first()?;
            let (key, behind) = behind.split_at(usize::from(len));
            rest = behind;
            Some(key)
        })
    }

    pub(super) fn pop(&mut self) {
        let Some(&len) = self.bytes.get(self.head) else {
            return;
        };
        self.head += 1 + usize::from(len);
        if self.head == self.bytes.len() {
            self.clear();
        } else if self.head >= MIN_COMPACTED && self.head >= self.bytes.len() / 2 {
            // What is moved is not more than what has been popped since the last move.
            self.bytes.drain(..self.head);
            self.head = 0;
        }
    }

    /// Moves the keys of `other` behind those that are here.
    pub(super) fn append(&mut self, other: &mut Self) {
        self.bytes.extend_from_slice(&other.bytes[other.head..]);
        other.clear();
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.head = 0;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    fn key() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(b'!'..=b'~', 1..=250)
    }

    proptest! {
        #[test]
        fn a_queue_of_keys(steps in prop::collection::vec((any::<u8>(), key()), 0..120)) {
            let mut keys = Keys::default();
            let mut other = Keys::default();
            let mut expected = VecDeque::new();
            let mut expected_other = VecDeque::new();
            for (step, bytes) in steps {
                match step % 8 {
                    0..4 => {
                        keys.push(Key::new(&bytes).unwrap());
                        expected.push_back(bytes);
                    }
                    4 => {
                        other.push(Key::new(&bytes).unwrap());
                        expected_other.push_back(bytes);
                    }
                    5 => {
                        keys.append(&mut other);
                        expected.append(&mut expected_other);
                    }
                    _ => {
                        keys.pop();
                        expected.pop_front();
                    }
                }
                prop_assert!(keys.iter().eq(&expected));
                prop_assert!(other.iter().eq(&expected_other));
            }
        }
    }

    #[test]
    fn memory_does_not_grow_with_what_has_passed() {
        let mut keys = Keys::default();
        let key = Key::new(&[b'k'; 250]).unwrap();
        keys.push(key);
        for _ in 0..10_000 {
            keys.push(key);
            keys.pop();
        }
        assert_eq!(keys.iter().count(), 1);
        assert!(keys.bytes.capacity() < 4 * MIN_COMPACTED);
    }
}
