//! Words and numbers of a request line, by the rules of the C functions memcached reads them with.
//!
//! Only the space separates words: a tab is part of one. Numbers are read as `strtol` does: white
//! space (a tab, say) and a sign may come first, and reading stops at white space; a number too
//! wide for its field but not for 64 bits wraps.

/// Splits at runs of spaces.
pub(super) fn words(text: &[u8]) -> Words<'_> {
    Words { rest: text }
}

/// The words of a line.
#[derive(Debug, Clone)]
pub(super) struct Words<'a> {
    rest: &'a [u8],
}

impl<'a> Words<'a> {
    /// What has not been walked yet.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let start = self.rest.iter().position(|&byte| byte != b' ')?;
        let from_start = &self.rest[start..];
        let end = memchr::memchr(b' ', from_start).unwrap_or(from_start.len());
        let (word, rest) = from_start.split_at(end);
        self.rest = rest;
        Some(word)
    }
}

/// An unsigned 64-bit number (`strtoull`).
pub(super) fn parse_u64(text: &[u8]) -> Option<u64> {
    let number = Number::scan(text)?;
    let value = if number.negative {
        number.magnitude.wrapping_neg()
    } else {
        number.magnitude
    };
    // The C code takes the top bit as the sign and then looks for a minus anywhere in the text.
    let refused = value > i64::MAX as u64 && text.contains(&b'-');
    (!refused).then_some(value)
}

/// An unsigned 32-bit number, as the arguments of a command are read: with 64 bits, then cut
/// (`strtoul`).
///
/// ```
/// use steersman_memcached_protocol::server::parse_u32;
///
/// assert_eq!(parse_u32(b"4294967297"), Some(1));
/// assert_eq!(parse_u32(b"-1"), None);
/// ```
#[allow(clippy::cast_possible_truncation, reason = "memcached cuts it just so")]
pub fn parse_u32(text: &[u8]) -> Option<u32> {
    parse_u64(text).map(|value| value as u32)
}

/// A signed 32-bit number: read with 64 bits, then cut (`strtol`).
#[allow(clippy::cast_possible_truncation, reason = "memcached cuts it just so")]
pub(super) fn parse_i32(text: &[u8]) -> Option<i32> {
    let number = Number::scan(text)?;
    let value = i128::from(number.magnitude) * if number.negative { -1 } else { 1 };
    i64::try_from(value).ok().map(|value| value as i32)
}

/// The number a stored value counts as for `incr` and `decr`, or `None` if it is not one.
///
/// `"12 apples"` is 12, and so is `" 12"`; `"12apples"`, `"-1"`, the empty value and what does
/// not fit 64 bits are no numbers.
///
/// ```
/// use steersman_memcached_protocol::server::parse_counter;
///
/// assert_eq!(parse_counter(b"9   "), Some(9));
/// assert_eq!(parse_counter(b"9x"), None);
/// ```
pub fn parse_counter(value: &[u8]) -> Option<u64> {
    parse_u64(value)
}

struct Number {
    negative: bool,
    magnitude: u64,
}

impl Number {
    fn scan(text: &[u8]) -> Option<Self> {
        let text = &text[text.iter().position(|&byte| !is_space(byte))?..];
        let (negative, digits) = match text {
            [b'-', digits @ ..] => (true, digits),
            [b'+', digits @ ..] | digits => (false, digits),
        };
        let len = digits
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let ends_well = digits
            .get(len)
            .is_none_or(|&byte| is_space(byte) || byte == 0);
        if len == 0 || !ends_well {
            return None;
        }
        let mut magnitude = 0u64;
        for digit in &digits[..len] {
            magnitude = magnitude
                .checked_mul(10)?
                .checked_add(u64::from(digit - b'0'))?;
        }
        Some(Self {
            negative,
            magnitude,
        })
    }
}

/// `isspace` of the C locale.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_spaces_separate_words() {
        let found: Vec<&[u8]> = words(b"  get\ta  b ").collect();
        assert_eq!(found, [b"get\ta".as_slice(), b"b"]);
        assert_eq!(words(b"   ").count(), 0);
    }

    #[test]
    fn numbers_are_read_as_strtol_reads_them() {
        for (text, expected) in [
            ("0", Some(0)),
            ("+5", Some(5)),
            ("\t5", Some(5)),
            ("5\tx", Some(5)),
            ("-1", Some(-1)),
            ("-0", Some(0)),
            ("2147483648", Some(i32::MIN)),
            ("4294967297", Some(1)),
            ("-9223372036854775808", Some(0)),
            ("9223372036854775808", None),
            ("-9223372036854775809", None),
            ("99999999999999999999", None),
            ("5x", None),
            ("0x5", None),
            ("-", None),
            ("", None),
            ("\t", None),
        ] {
            assert_eq!(parse_i32(text.as_bytes()), expected, "{text:?}");
        }
    }

    #[test]
    fn unsigned_numbers_refuse_what_looks_negative() {
        for (text, expected) in [
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("-1", None),
            ("-0", Some(0)),
            ("-18446744073709551615", Some(1)),
            ("18446744073709551615\t-", None),
        ] {
            assert_eq!(parse_u64(text.as_bytes()), expected, "{text:?}");
        }
        assert_eq!(parse_u32(b"4294967296"), Some(0));
        assert_eq!(parse_u32(b"-1"), None);
    }

    #[test]
    fn counters_may_be_padded() {
        assert_eq!(parse_counter(b"9  "), Some(9));
        assert_eq!(parse_counter(b"5\0"), Some(5));
        assert_eq!(parse_counter(b"5\r\n"), Some(5));
        assert_eq!(parse_counter(b"1.5"), None);
        assert_eq!(parse_counter(b""), None);
    }
}
