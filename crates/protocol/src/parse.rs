//! Reading reply lines: what each request may be answered with, and the fields of a line.
//!
//! Everything here works on one complete line without its line end and says `None` to whatever
//! is not exactly what the protocol allows at that place.

use bytes::Bytes;
use memchr::memchr;

use crate::meta::Kind;
use crate::{Reply, ServerError};

/// What may answer a request, besides an error line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// Values and an end line.
    Values {
        /// Whether values come with their cas number.
        cas: bool,
    },
    Stored,
    Swapped,
    Number,
    Touched,
    Deleted,
    /// Administrative requests, which have refusals of their own besides.
    Done,
    Version,
    /// Statistics and an end line, or one line of success.
    Stats,
    /// The configuration of a cluster and an end line.
    Config,
    /// What a meta command may get.
    Meta(Kind),
}

impl Expected {
    /// Whether the request does something besides getting its reply.
    pub(crate) fn reports_an_effect(self) -> bool {
        match self {
            Self::Values { .. } | Self::Version | Self::Stats | Self::Config => false,
            Self::Meta(kind) => kind.reports_an_effect(),
            _ => true,
        }
    }

    /// For messages: which request, and the replies it may get.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::Values { cas: false } => "VALUE key flags bytes, or END, in reply to get or gat",
            Self::Values { cas: true } => {
                "VALUE key flags bytes cas, or END, in reply to gets or gats"
            }
            Self::Stored => "STORED or NOT_STORED in reply to a store",
            Self::Swapped => "STORED, NOT_STORED, EXISTS or NOT_FOUND in reply to cas",
            Self::Number => "a number or NOT_FOUND in reply to incr or decr",
            Self::Touched => "TOUCHED or NOT_FOUND in reply to touch",
            Self::Deleted => "DELETED or NOT_FOUND in reply to delete",
            Self::Done => "OK in reply to an administrative command",
            Self::Version => "VERSION in reply to version",
            Self::Stats => "STAT name value, or END, in reply to stats",
            Self::Config => "CONFIG cluster flags bytes and END in reply to config get cluster",
            Self::Meta(kind) => kind.describe(),
        }
    }
}

/// Parses the reply to a request that is answered by one line.
pub(crate) fn parse_reply(expected: Expected, line: &[u8]) -> Option<Reply> {
    let reply = match (expected, line) {
        (Expected::Stored | Expected::Swapped, b"STORED") => Reply::Stored,
        (Expected::Stored | Expected::Swapped, b"NOT_STORED") => Reply::NotStored,
        (Expected::Swapped, b"EXISTS") => Reply::Exists,
        (
            Expected::Swapped | Expected::Number | Expected::Touched | Expected::Deleted,
            b"NOT_FOUND",
        ) => Reply::NotFound,
        (Expected::Number, _) => Reply::Number(parse_padded_number(line)?),
        (Expected::Touched, b"TOUCHED") => Reply::Touched,
        (Expected::Deleted, b"DELETED") => Reply::Deleted,
        (Expected::Done, b"OK") | (Expected::Stats, b"OK" | b"RESET") => Reply::Ok,
        (Expected::Done, _) => Reply::Error(ServerError::parse_refusal(line)?),
        (Expected::Version, _) => {
            let text = line.strip_prefix(b"VERSION ")?;
            Reply::Version(String::from_utf8_lossy(text).into_owned())
        }
        _ => return None,
    };
    Some(reply)
}

/// The fields of the line before a value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ValueLine<'a> {
    pub(crate) key: &'a [u8],
    pub(crate) numbers: ValueNumbers,
}

impl<'a> ValueLine<'a> {
    /// Parses the line, which begins with `word` and a space.
    pub(crate) fn parse(word: &[u8], line: &'a [u8], has_cas: bool) -> Option<Self> {
        let fields = line.strip_prefix(word)?.strip_prefix(b" ")?;
        let (key, fields) = fields.split_at(memchr(b' ', fields)?);
        let (numbers, rest) = ValueNumbers::split(fields, has_cas)?;
        rest.is_empty().then_some(Self { key, numbers })
    }
}

/// What the line before a value says about it behind its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ValueNumbers {
    pub(crate) flags: u32,
    pub(crate) length: u64,
    pub(crate) cas: Option<u64>,
}

impl ValueNumbers {
    /// Splits the numbers off the front, each with the space before it.
    #[inline]
    pub(crate) fn split(fields: &[u8], has_cas: bool) -> Option<(Self, &[u8])> {
        let (flags, fields) = split_number(fields.strip_prefix(b" ")?)?;
        let (length, mut fields) = split_number(fields.strip_prefix(b" ")?)?;
        let mut cas = None;
        if has_cas {
            let (number, rest) = split_number(fields.strip_prefix(b" ")?)?;
            cas = Some(number);
            fields = rest;
        }
        let flags = u32::try_from(flags).ok()?;
        Some((Self { flags, length, cas }, fields))
    }
}

/// Parses one line of statistics: a name, and a value that may be empty or hold spaces.
///
/// Besides `STAT` there are `ITEM` (of `stats cachedump`) and `PREFIX` (of `stats detail dump`).
pub(crate) fn parse_stat(line: &[u8]) -> Option<(Bytes, Bytes)> {
    let fields = line
        .strip_prefix(b"STAT ")
        .or_else(|| line.strip_prefix(b"ITEM "))
        .or_else(|| line.strip_prefix(b"PREFIX "))?;
    let name = memchr(b' ', fields).unwrap_or(fields.len());
    let value = fields.get(name + 1..).unwrap_or_default();
    Some((
        Bytes::copy_from_slice(&fields[..name]),
        Bytes::copy_from_slice(value),
    ))
}

/// A number that may have spaces behind it: memcached keeps the width of a counter that shrinks.
pub(crate) fn parse_padded_number(line: &[u8]) -> Option<u64> {
    let (number, rest) = split_number(line)?;
    rest.iter().all(|&byte| byte == b' ').then_some(number)
}

/// Splits the decimal digits off the front, one at least.
pub(crate) fn split_number(field: &[u8]) -> Option<(u64, &[u8])> {
    let mut number = 0_u64;
    let mut rest = field;
    while let Some((&byte, behind)) = rest.split_first()
        && byte.is_ascii_digit()
    {
        let digit = u64::from(byte - b'0');
        number = number.checked_mul(10)?.checked_add(digit)?;
        rest = behind;
    }
    (rest.len() < field.len()).then_some((number, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: [Expected; 11] = [
        Expected::Values { cas: false },
        Expected::Values { cas: true },
        Expected::Stored,
        Expected::Swapped,
        Expected::Number,
        Expected::Touched,
        Expected::Deleted,
        Expected::Done,
        Expected::Version,
        Expected::Stats,
        Expected::Config,
    ];

    fn accepting(line: &[u8]) -> Vec<Expected> {
        ALL.iter()
            .copied()
            .filter(|&e| parse_reply(e, line).is_some())
            .collect()
    }

    #[test]
    fn each_word_answers_its_requests_only() {
        use Expected::{Deleted, Done, Number, Stats, Stored, Swapped, Touched, Version};
        assert_eq!(accepting(b"STORED"), [Stored, Swapped]);
        assert_eq!(accepting(b"NOT_STORED"), [Stored, Swapped]);
        assert_eq!(accepting(b"EXISTS"), [Swapped]);
        assert_eq!(accepting(b"NOT_FOUND"), [Swapped, Number, Touched, Deleted]);
        assert_eq!(accepting(b"TOUCHED"), [Touched]);
        assert_eq!(accepting(b"DELETED"), [Deleted]);
        assert_eq!(accepting(b"OK"), [Done, Stats]);
        assert_eq!(accepting(b"RESET"), [Stats]);
        assert_eq!(accepting(b"12"), [Number]);
        assert_eq!(accepting(b"VERSION 1.6.18"), [Version]);
        assert_eq!(accepting(b"BUSY currently processing"), [Done]);
        for nobody in [
            "", " ", "END", "STORED ", "stored", "HD", "EN", "VERSION", "ERROR",
        ] {
            assert_eq!(accepting(nobody.as_bytes()), [], "{nobody}");
        }
    }

    #[test]
    fn numbers() {
        let parse = |line: &str| parse_padded_number(line.as_bytes());
        assert_eq!(parse("0"), Some(0));
        assert_eq!(parse("9  "), Some(9));
        assert_eq!(parse("18446744073709551615"), Some(u64::MAX));
        for no in [
            "",
            " 9",
            "9 x",
            "-1",
            "+1",
            "1.0",
            "18446744073709551616",
            "9\t",
        ] {
            assert_eq!(parse(no), None, "{no}");
        }
    }

    /// Flags, length and cas number.
    fn numbers_of(line: &ValueLine<'_>) -> (u32, u64, Option<u64>) {
        let ValueNumbers { flags, length, cas } = line.numbers;
        (flags, length, cas)
    }

    #[test]
    fn value_lines() {
        let parse = |line: &'static str, has_cas| {
            ValueLine::parse(b"VALUE", line.as_bytes(), has_cas)
                .map(|line| (line.key, numbers_of(&line)))
        };
        assert_eq!(
            parse("VALUE k 4294967295 3", false),
            Some((&b"k"[..], (u32::MAX, 3, None)))
        );
        assert_eq!(
            parse("VALUE k 0 0 18446744073709551615", true),
            Some((&b"k"[..], (0, 0, Some(u64::MAX))))
        );

        for no in [
            "VALUE",
            "VALUE ",
            "VALUE k",
            "VALUE k 0",
            "VALUE k 0 ",
            "VALUE k 0 3 7",
            "VALUE k 0 3 ",
            "VALUE k  0 3",
            "VALUE k 0  3",
            "VALUE k 4294967296 3",
            "VALUE k -1 3",
            "VALUE k 0 -3",
            "VALUE k 0 18446744073709551616",
            "value k 0 3",
        ] {
            assert_eq!(parse(no, false), None, "{no}");
        }
        for no in [
            "VALUE k 0 3",
            "VALUE k 0 3 ",
            "VALUE k 0 3 x",
            "VALUE k 0 3 1 2",
        ] {
            assert_eq!(parse(no, true), None, "{no}");
        }
    }

    #[test]
    fn statistics() {
        let parse = |line: &str| {
            parse_stat(line.as_bytes()).map(|(name, value)| {
                (
                    String::from_utf8(name.into()).unwrap(),
                    String::from_utf8(value.into()).unwrap(),
                )
            })
        };
        let some = |name: &str, value: &str| Some((name.to_owned(), value.to_owned()));
        assert_eq!(
            parse("STAT version 1.6.18 beta"),
            some("version", "1.6.18 beta")
        );
        assert_eq!(parse("STAT domain_socket "), some("domain_socket", ""));
        assert_eq!(parse("STAT inter"), some("inter", ""));
        assert_eq!(parse("ITEM q [1 b; 0 s]"), some("q", "[1 b; 0 s]"));
        assert_eq!(parse("PREFIX q get 1 hit 0"), some("q", "get 1 hit 0"));
        for no in ["STAT", "END", "STATS a b", ""] {
            assert_eq!(parse(no), None, "{no}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(key in "[!-~]{1,250}", flags: u32, length: u64, cas: u64) {
            for cas in [None, Some(cas)] {
                let end = cas.map(|cas| format!(" {cas}")).unwrap_or_default();
                let line = format!("VALUE {key} {flags} {length}{end}");
                let numbers = ValueNumbers { flags, length, cas };
                let expected = ValueLine { key: key.as_bytes(), numbers };
                let parsed = ValueLine::parse(b"VALUE", line.as_bytes(), cas.is_some());
                prop_assert_eq!(parsed, Some(expected));
            }
        }

        #[test]
        fn any_bytes_are_refused_or_read_whole(line: Vec<u8>) {
            for expected in ALL {
                if let Some(Reply::Number(number)) = parse_reply(expected, &line) {
                    let text = String::from_utf8(line.clone()).unwrap();
                    let digits = text.trim_end().trim_start_matches('0');
                    let digits = if digits.is_empty() { "0" } else { digits };
                    prop_assert_eq!(number.to_string(), digits);
                }
            }
        }
    }
}
