//! Values that say whose they are: key, writer, version, and a checksum over all of it.

use std::fmt;

use bytes::Bytes;
use crc32fast::Hasher;

/// What values are filled up with: whoever loses count of bytes takes some of it for a reply.
const FILLER: &[u8] = b"END\r\nVALUE key 0 2\r\nSTORED\r\n\0\xff\xfe";

/// What a value says of itself.
///
/// ```
/// use steersman_testkit::ledger::Stamp;
///
/// let stamp = Stamp { key: "user:7", writer: 2, version: 41 };
/// let value = stamp.value(1_000);
/// assert_eq!(Stamp::read(&value), Ok(stamp));
/// assert!(Stamp::read(&value[..900]).is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp<'a> {
    /// The key that the value was stored under; it may hold no `|`.
    pub key: &'a str,
    /// Who wrote it.
    pub writer: u32,
    /// Which of all writes it is.
    pub version: u64,
}

/// Why a value is none that [`Stamp::value`] has made: what is wrong with it, and how it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    what: &'static str,
    length: usize,
    beginning: String,
}

/// How much of a damaged value is shown.
const SHOWN: usize = 96;

impl Damage {
    fn new(what: &'static str, value: &[u8]) -> Self {
        let shown = &value[..value.len().min(SHOWN)];
        Self {
            what,
            length: value.len(),
            beginning: shown.escape_ascii().to_string(),
        }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            what,
            length,
            beginning,
        } = self;
        write!(f, "{what}, in {length} bytes that begin {beginning:?}")
    }
}

impl<'a> Stamp<'a> {
    /// A value with this stamp and so many bytes more.
    ///
    /// # Panics
    ///
    /// If the key holds a `|`.
    pub fn value(&self, filler: usize) -> Bytes {
        let Self {
            key,
            writer,
            version,
        } = self;
        assert!(!key.contains('|'), "{key:?} holds the mark between fields");
        let mut value = format!("{key}|{writer}|{version}|{filler}|").into_bytes();
        let head = value.len();
        let turn = usize::try_from(version % FILLER.len() as u64).unwrap_or(0);
        let endless = FILLER.iter().cycle().skip(turn);
        value.extend(endless.take(filler));
        let mut hasher = Hasher::new();
        hasher.update(&value);
        let sum = format!("{:08x}|", hasher.finalize());
        value.splice(head..head, sum.into_bytes());
        value.into()
    }

    /// The stamp of a value that is whole.
    ///
    /// # Errors
    ///
    /// What is wrong with the value.
    pub fn read(value: &'a [u8]) -> Result<Self, Damage> {
        let damage = |what| Damage::new(what, value);
        let mut fields = value.splitn(6, |byte| *byte == b'|');
        let mut field = || {
            let field = fields.next().ok_or_else(|| damage("a field is missing"))?;
            Ok::<_, Damage>((field, str::from_utf8(field).unwrap_or_default()))
        };
        let (key, writer, version, length) = (field()?, field()?, field()?, field()?);
        let (sum, filler) = (field()?, field()?.0);
        if length.1.parse() != Ok(filler.len()) {
            return Err(damage("another length than it had"));
        }
        let head = value.len() - filler.len() - sum.0.len() - 1;
        let mut hasher = Hasher::new();
        hasher.update(&value[..head]);
        hasher.update(filler);
        if sum.1 != format!("{:08x}", hasher.finalize()) {
            return Err(damage("another checksum than it had"));
        }
        let number = |_| damage("a number cannot be read");
        Ok(Self {
            key: key.1,
            writer: writer.1.parse().map_err(number)?,
            version: version.1.parse().map_err(number)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_value_tells_its_stamp(key in "[a-z:0-9]{1,250}", writer: u32, version: u64, filler in 0usize..3_000) {
            let stamp = Stamp { key: &key, writer, version };
            let value = stamp.value(filler);
            prop_assert_eq!(Stamp::read(&value), Ok(stamp));
        }

        #[test]
        fn no_byte_can_change_unnoticed(filler in 0usize..200, at: prop::sample::Index, flip in 1u8..) {
            let stamp = Stamp { key: "k", writer: 1, version: 77 };
            let mut value = stamp.value(filler).to_vec();
            let at = at.index(value.len());
            value[at] ^= flip;
            prop_assert!(Stamp::read(&value).is_err());
        }

        #[test]
        fn bytes_may_be_anything(value: Vec<u8>) {
            prop_assert!(Stamp::read(&value).is_err());
        }

        #[test]
        fn no_part_is_whole(filler in 0usize..200, end: prop::sample::Index) {
            let value = Stamp { key: "k", writer: 1, version: 77 }.value(filler);
            prop_assert!(Stamp::read(&value[..end.index(value.len())]).is_err());
        }
    }
}
