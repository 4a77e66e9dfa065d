//! pymemcache 4.0.0, a client for Python: the highest murmur3 of `NODE-KEY`.
//!
//! It hashes Python's text, and of each character the low byte alone. A key that is `str` there is its
//! characters; one that is `bytes` is what Python writes for it, `b'key'`. Of equal scores the
//! name that sorts last wins.

use std::sync::Arc;

use super::scores::Scores;
use super::{Node, active};
use crate::hash::murmur3_32::Murmur3;
use crate::hash::text::code_points;
use crate::{NodeIndex, PymemcacheKeys};

pub(super) fn scores(keys: PymemcacheKeys, nodes: &[Node]) -> Scores {
    let mut nodes: Vec<_> = active(nodes).collect();
    nodes.sort_by_key(|node| &node.text);
    let nodes = nodes.into_iter().map(|node| {
        let mut state = Murmur3::new(0);
        code_points(node.text.as_bytes()).for_each(|point| state.update(&[low_byte(point)]));
        state.update(b"-");
        (state, node.index)
    });
    Scores::Pymemcache(Pymemcache {
        keys,
        nodes: nodes.collect(),
    })
}

/// The states of the hash after each node's name.
#[derive(Debug, Clone)]
pub(super) struct Pymemcache {
    keys: PymemcacheKeys,
    nodes: Arc<[(Murmur3, NodeIndex)]>,
}

impl Pymemcache {
    #[inline]
    pub(super) fn each(&self, key: &[u8], mut visit: impl FnMut(u128, NodeIndex)) {
        let mut short = [0; SHORT];
        let mut long = Vec::new();
        let text = match self.keys {
            PymemcacheKeys::Str if key.is_ascii() => key,
            PymemcacheKeys::Str => {
                let bytes = code_points(key).map(low_byte);
                collect(bytes, key.len(), &mut short, &mut long)
            }
            PymemcacheKeys::Bytes => collect(
                representation(key),
                4 * key.len() + 3,
                &mut short,
                &mut long,
            ),
        };
        for (state, index) in self.nodes.iter() {
            let mut state = state.clone();
            state.update(text);
            visit(state.finish().into(), *index);
        }
    }
}

/// Room for the text of any key that memcached takes, 250 bytes that are `\x00` each.
const SHORT: usize = 1024;

/// Writes `most` bytes at most where there is room for them.
fn collect<'a>(
    bytes: impl Iterator<Item = u8>,
    most: usize,
    short: &'a mut [u8; SHORT],
    long: &'a mut Vec<u8>,
) -> &'a [u8] {
    if most > SHORT {
        long.extend(bytes);
        return long;
    }
    let mut length = 0;
    for (slot, byte) in short.iter_mut().zip(bytes) {
        *slot = byte;
        length += 1;
    }
    &short[..length]
}

#[expect(clippy::cast_possible_truncation, reason = "the low byte is meant")]
fn low_byte(point: u32) -> u8 {
    point as u8
}

/// What Python writes for bytes: in single quotes, in double ones if they have single ones alone.
fn representation(key: &[u8]) -> impl Iterator<Item = u8> + '_ {
    let quote = if key.contains(&b'\'') && !key.contains(&b'"') {
        b'"'
    } else {
        b'\''
    };
    let escaped = key.iter().flat_map(move |&byte| {
        let hex = |digit: u8| b"0123456789abcdef"[usize::from(digit)];
        let (text, count) = match byte {
            b'\\' => (*b"\\\\  ", 2),
            b'\t' => (*b"\\t  ", 2),
            b'\n' => (*b"\\n  ", 2),
            b'\r' => (*b"\\r  ", 2),
            _ if byte == quote => ([b'\\', byte, 0, 0], 2),
            b' '..=b'~' => ([byte, 0, 0, 0], 1),
            _ => ([b'\\', b'x', hex(byte >> 4), hex(byte & 15)], 4),
        };
        text.into_iter().take(count)
    });
    [b'b', quote].into_iter().chain(escaped).chain([quote])
}

#[cfg(test)]
mod tests {
    use super::representation;

    /// Written by Python 3.11.
    #[test]
    fn bytes_as_python_writes_them() {
        for (key, text) in [
            (&b"key"[..], "b'key'"),
            (b"", "b''"),
            (b"it's", "b\"it's\""),
            (b"a\"b", "b'a\"b'"),
            (b"a\"b'c", "b'a\"b\\'c'"),
            (b"\\\t\n\r\0\x7f\xe9~ ", "b'\\\\\\t\\n\\r\\x00\\x7f\\xe9~ '"),
        ] {
            assert!(representation(key).eq(text.bytes()), "{text}");
        }
    }
}
