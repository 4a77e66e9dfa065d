//! The lines that answer meta commands.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::{BufMut, BytesMut};

/// One line that answers a meta command, written flag by flag.
///
/// ```
/// use bytes::BytesMut;
/// use steersman_memcached_protocol::server::MetaLine;
///
/// let mut out = BytesMut::new();
/// MetaLine::begin(&mut out, "HD").key(b"foo", true).number(b'c', 7).letter(b'W').end();
/// assert_eq!(out, "HD kZm9v b c7 W\r\n");
/// ```
#[derive(Debug)]
pub struct MetaLine<'o> {
    out: &'o mut BytesMut,
}

impl<'o> MetaLine<'o> {
    /// Begins with a word of two letters.
    pub fn begin(out: &'o mut BytesMut, word: &str) -> Self {
        out.put_slice(word.as_bytes());
        Self { out }
    }

    /// Adds a word as it is.
    pub fn word(self, word: &[u8]) -> Self {
        self.out.put_u8(b' ');
        self.out.put_slice(word);
        self
    }

    /// Adds a letter alone.
    pub fn letter(self, letter: u8) -> Self {
        self.word(&[letter])
    }

    /// Adds a letter and a number.
    pub fn number(self, letter: u8, number: impl itoa::Integer) -> Self {
        self.out.put_slice(&[b' ', letter]);
        self.out
            .put_slice(itoa::Buffer::new().format(number).as_bytes());
        self
    }

    /// Adds the length of the value that follows.
    pub fn length(self, length: usize) -> Self {
        self.word(itoa::Buffer::new().format(length).as_bytes())
    }

    /// Adds the key, in base64 and marked with `b` if it is binary.
    pub fn key(self, key: &[u8], is_binary: bool) -> Self {
        if !is_binary {
            return self.word(&[b"k", key].concat());
        }
        let encoded = STANDARD.encode(key);
        self.word(&[b"k", encoded.as_bytes()].concat()).letter(b'b')
    }

    /// Ends the line.
    pub fn end(self) {
        self.out.put_slice(b"\r\n");
    }

    /// Ends the line and adds a value.
    pub fn value(self, value: &[u8]) {
        self.out.put_slice(b"\r\n");
        self.out.put_slice(value);
        self.out.put_slice(b"\r\n");
    }
}
