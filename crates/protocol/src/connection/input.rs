//! The bytes that came, and how many of them have been read.

use std::mem;

use bytes::{Buf, Bytes, BytesMut};

/// A reading position in the caller's buffer. What has been read is dropped from it all at once,
/// when this is dropped, because a step forward in the buffer itself costs more.
pub(super) struct Input<'a> {
    bytes: &'a mut BytesMut,
    read: usize,
}

impl<'a> Input<'a> {
    pub(super) fn new(bytes: &'a mut BytesMut) -> Self {
        Self { bytes, read: 0 }
    }

    /// What has not been read.
    pub(super) fn rest(&self) -> &[u8] {
        &self.bytes[self.read..]
    }

    pub(super) fn skip(&mut self, count: usize) {
        self.read += count;
    }

    /// Reads `count` bytes without a copy.
    pub(super) fn split(&mut self, count: usize) -> Bytes {
        self.drop_read();
        self.bytes.split_to(count).freeze()
    }

    /// Makes room for a rest of `count` bytes in all.
    pub(super) fn reserve(&mut self, count: usize) {
        self.drop_read();
        self.bytes.reserve(count.saturating_sub(self.bytes.len()));
    }

    fn drop_read(&mut self) {
        self.bytes.advance(mem::take(&mut self.read));
    }
}

impl Drop for Input<'_> {
    fn drop(&mut self) {
        self.drop_read();
    }
}
