//! The bytes that came, and how many of them have been read.

use std::mem;

use bytes::{Buf, Bytes, BytesMut};

/// What ends every line and every value.
pub(super) const LINE_END: &[u8] = b"\r\n";

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

    /// Reads a line of `len` bytes before its line end.
    pub(super) fn line(&mut self, len: usize) -> &[u8] {
        let start = self.read;
        self.read += len + LINE_END.len();
        &self.bytes[start..][..len]
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
