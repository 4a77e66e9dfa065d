//! The bytes that wait to be written to a connection.

use std::collections::VecDeque;
use std::io::IoSlice;
use std::mem;

use bytes::{Buf, Bytes, BytesMut};

/// Values of at least this many bytes are shared with the caller instead of copied: below, the
/// copy costs less than a further piece in a vectored write.
const SHARE_FROM: usize = 8 * 1024;

/// A drained buffer larger than this is given back, so that one burst does not hold its memory
/// for ever.
const KEPT_CAPACITY: usize = 256 * 1024;

/// A stream of bytes: small pieces lie one after the other in one buffer, and each large value
/// is kept with the number of buffered bytes that come before it.
///
/// Positions in the stream count from the first byte ever written, so that a request can tell
/// from where it starts whether any of it has been taken.
#[derive(Debug, Default)]
pub(crate) struct Output {
    encoded: BytesMut,
    shared: VecDeque<Shared>,
    /// How many bytes of `encoded` lie before the last shared value.
    encoded_before_last: usize,
    shared_len: usize,
    taken: u64,
}

#[derive(Debug)]
struct Shared {
    /// How many bytes of `encoded` lie between the value before and this one.
    gap: usize,
    data: Bytes,
}

impl Output {
    /// Appends a few bytes.
    #[inline]
    pub(crate) fn put(&mut self, bytes: &[u8]) {
        self.encoded.extend_from_slice(bytes);
    }

    /// Appends a value.
    pub(crate) fn put_value(&mut self, data: &Bytes) {
        if data.len() < SHARE_FROM {
            self.put(data);
            return;
        }
        let gap = self.encoded.len() - self.encoded_before_last;
        self.encoded_before_last = self.encoded.len();
        self.shared_len += data.len();
        self.shared.push_back(Shared {
            gap,
            data: data.clone(),
        });
    }

    /// Moves everything from `other` behind what is here.
    pub(crate) fn append(&mut self, other: &mut Self) {
        if !self.has_remaining() {
            // Nothing to keep in order, so the buffers change places instead of being copied.
            mem::swap(&mut self.encoded, &mut other.encoded);
            mem::swap(&mut self.shared, &mut other.shared);
            self.encoded_before_last = mem::take(&mut other.encoded_before_last);
            self.shared_len = mem::take(&mut other.shared_len);
            other.clear();
            return;
        }
        if let Some(first) = other.shared.front_mut() {
            first.gap += self.encoded.len() - self.encoded_before_last;
            self.encoded_before_last = self.encoded.len() + other.encoded_before_last;
        }
        self.encoded.extend_from_slice(&other.encoded);
        self.shared.append(&mut other.shared);
        self.shared_len += other.shared_len;
        other.clear();
    }

    /// Drops what has not been taken.
    pub(crate) fn clear(&mut self) {
        self.encoded.clear();
        self.shared.clear();
        self.encoded_before_last = 0;
        self.shared_len = 0;
        self.release_if_large();
    }

    /// The last `len` bytes that were put, none of which may be of a shared value.
    pub(crate) fn last(&self, len: usize) -> &[u8] {
        &self.encoded[self.encoded.len() - len..]
    }

    /// How many bytes have been taken since the beginning.
    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }

    /// The position behind the last byte.
    pub(crate) fn end(&self) -> u64 {
        self.taken + self.remaining() as u64
    }

    fn release_if_large(&mut self) {
        if self.encoded.capacity() > KEPT_CAPACITY {
            self.encoded = BytesMut::new();
        }
    }
}

impl Buf for Output {
    fn remaining(&self) -> usize {
        self.encoded.len() + self.shared_len
    }

    fn chunk(&self) -> &[u8] {
        match self.shared.front() {
            Some(Shared { gap: 0, data }) => data,
            Some(Shared { gap, .. }) => &self.encoded[..*gap],
            None => &self.encoded,
        }
    }

    fn chunks_vectored<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let mut pieces = Pieces {
            encoded: &self.encoded,
            shared: self.shared.iter(),
            held: None,
        };
        let mut filled = 0;
        for slice in slices {
            let Some(piece) = pieces.next() else { break };
            *slice = IoSlice::new(piece);
            filled += 1;
        }
        filled
    }

    fn advance(&mut self, count: usize) {
        assert!(
            count <= self.remaining(),
            "advanced by {count} of {} bytes",
            self.remaining()
        );
        self.taken += count as u64;
        let mut left = count;
        while let Some(first) = self.shared.front_mut() {
            let encoded = left.min(first.gap);
            first.gap -= encoded;
            self.encoded_before_last -= encoded;
            self.encoded.advance(encoded);
            left -= encoded;

            let shared = left.min(first.data.len());
            first.data.advance(shared);
            self.shared_len -= shared;
            left -= shared;
            if !first.data.is_empty() {
                return;
            }
            self.shared.pop_front();
        }
        self.encoded.advance(left);
        if self.encoded.is_empty() {
            self.release_if_large();
        }
    }
}

/// The pieces of an [`Output`] in order, none of them empty.
struct Pieces<'a, I> {
    encoded: &'a [u8],
    shared: I,
    /// A shared value whose bytes before it were the piece given out last.
    held: Option<&'a [u8]>,
}

impl<'a, I: Iterator<Item = &'a Shared>> Iterator for Pieces<'a, I> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if let Some(data) = self.held.take() {
            return Some(data);
        }
        let Some(Shared { gap, data }) = self.shared.next() else {
            let rest = mem::take(&mut self.encoded);
            return (!rest.is_empty()).then_some(rest);
        };
        if *gap == 0 {
            return Some(data);
        }
        let (before, behind) = self.encoded.split_at(*gap);
        self.encoded = behind;
        self.held = Some(data);
        Some(before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What is done to two outputs, the second of which is appended to the first now and then.
    #[derive(Clone, Debug)]
    enum Step {
        Put { second: bool, len: usize },
        Append,
        Take(usize),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let len = prop_oneof![0..60_usize, SHARE_FROM - 2..SHARE_FROM + 20];
        let step = prop_oneof![
            4 => (any::<bool>(), len).prop_map(|(second, len)| Step::Put { second, len }),
            1 => Just(Step::Append),
            2 => (0..3 * SHARE_FROM).prop_map(Step::Take),
        ];
        prop::collection::vec(step, 0..40)
    }

    fn vectored(output: &Output, pieces: usize) -> Vec<u8> {
        let mut slices = vec![IoSlice::new(&[]); pieces];
        let filled = output.chunks_vectored(&mut slices);
        slices.truncate(filled);
        assert!(slices.iter().all(|slice| !slice.is_empty()));
        slices.iter().flat_map(|slice| slice.to_vec()).collect()
    }

    proptest! {
        #[test]
        fn bytes_come_out_as_they_were_put(steps in steps()) {
            let mut outputs = [Output::default(), Output::default()];
            let mut expected = [Vec::new(), Vec::new()];
            let mut taken = 0;
            for (number, step) in steps.into_iter().enumerate() {
                match step {
                    Step::Put { second, len } => {
                        let data = Bytes::from(vec![u8::try_from(number).unwrap(); len]);
                        outputs[usize::from(second)].put_value(&data);
                        expected[usize::from(second)].extend_from_slice(&data);
                    }
                    Step::Append => {
                        let [first, second] = &mut outputs;
                        first.append(second);
                        let moved = mem::take(&mut expected[1]);
                        expected[0].extend(moved);
                        prop_assert!(!outputs[1].has_remaining());
                    }
                    Step::Take(count) => {
                        let count = count.min(outputs[0].remaining());
                        outputs[0].advance(count);
                        expected[0].drain(..count);
                        taken += count as u64;
                    }
                }
                let [first, _] = &outputs;
                prop_assert_eq!(first.remaining(), expected[0].len());
                prop_assert_eq!(first.taken(), taken);
                prop_assert_eq!(first.end(), taken + expected[0].len() as u64);
                prop_assert!(expected[0].starts_with(first.chunk()));
                prop_assert_eq!(first.chunk().is_empty(), expected[0].is_empty());
                prop_assert_eq!(vectored(first, 100), &expected[0][..]);
                prop_assert!(expected[0].starts_with(&vectored(first, 2)));
            }
        }
    }

    #[test]
    fn a_large_value_is_shared_and_a_small_one_copied() {
        let mut output = Output::default();
        let small = Bytes::from(vec![b's'; SHARE_FROM - 1]);
        let large = Bytes::from(vec![b'l'; SHARE_FROM]);
        output.put_value(&small);
        output.put_value(&large);
        output.advance(small.len());
        assert_eq!(output.chunk().as_ptr(), large.as_ptr());
    }

    #[test]
    fn a_large_buffer_is_given_back_when_drained() {
        let mut output = Output::default();
        output.put(&vec![0; KEPT_CAPACITY + 1]);
        output.advance(KEPT_CAPACITY);
        assert!(output.encoded.capacity() > 0);
        output.advance(1);
        assert_eq!(output.encoded.capacity(), 0);
    }
}
