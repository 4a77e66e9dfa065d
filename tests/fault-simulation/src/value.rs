//! Values that say what they are: their key, who wrote them, which version they are, and a checksum of it
//! all. Whatever is cut, mixed up or repeated shows.

use std::fmt;

use bytes::Bytes;
use xxhash_rust::xxh3::xxh3_64;

/// Which write a value is of; no two writes have the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stamp {
    /// The task that wrote it.
    pub writer: u32,
    /// Counted up by that task.
    pub version: u64,
}

/// What was wrong with a value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Garbage {
    /// It is no value of this program, or not the whole of one.
    Broken,
    /// It is one of another key.
    OfKey(String),
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "version {} of task {}", self.version, self.writer)
    }
}

/// The value of a key with this stamp, and with so many bytes of filling that looks like replies.
pub(crate) fn write(key: &str, stamp: Stamp, filling: usize) -> Bytes {
    const LINES: &[u8] = b"END\r\nVALUE k 0 3\r\nSTORED\r\n";
    let Stamp { writer, version } = stamp;
    let mut value = format!("{key} {writer} {version} ").into_bytes();
    value.extend(LINES.iter().cycle().take(filling));
    let sum = xxh3_64(&value);
    value.extend_from_slice(format!(" {sum:016x}").as_bytes());
    value.into()
}

/// The stamp of what was found under a key.
pub(crate) fn read(key: &str, value: &[u8]) -> Result<Stamp, Garbage> {
    let parsed = || {
        let (content, sum) = value.split_last_chunk::<16>()?;
        let content = content.strip_suffix(b" ")?;
        let sum = u64::from_str_radix(std::str::from_utf8(sum).ok()?, 16).ok()?;
        if sum != xxh3_64(content) {
            return None;
        }
        let mut words = content.splitn(4, |byte| *byte == b' ');
        let mut word = || std::str::from_utf8(words.next()?).ok();
        let (own_key, writer, version) = (word()?, word()?, word()?);
        let stamp = Stamp {
            writer: writer.parse().ok()?,
            version: version.parse().ok()?,
        };
        Some((own_key, stamp))
    };
    match parsed() {
        None => Err(Garbage::Broken),
        Some((own_key, stamp)) if own_key == key => Ok(stamp),
        Some((other, _)) => Err(Garbage::OfKey(other.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_was_touched_shows() {
        let stamp = Stamp {
            writer: 3,
            version: 77,
        };
        for filling in [0, 1, 100, 5_000] {
            let value = write("key", stamp, filling);
            assert_eq!(read("key", &value), Ok(stamp));
            assert_eq!(read("other", &value), Err(Garbage::OfKey("key".into())));
            assert_eq!(read("key", &value[..value.len() - 1]), Err(Garbage::Broken));
            assert_eq!(read("key", &value[1..]), Err(Garbage::Broken));
            let mut touched = value.to_vec();
            touched[5] ^= 1;
            assert_eq!(read("key", &touched), Err(Garbage::Broken));
        }
        assert_eq!(read("key", b""), Err(Garbage::Broken));
    }
}
