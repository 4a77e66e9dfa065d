//! Percent-encoding (RFC 3986, section 2).

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a byte stands for itself everywhere.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

/// Appends a text in which nothing is a delimiter, but for those in `also_plain`.
pub(super) fn encode(text: &str, also_plain: &str, out: &mut String) {
    for byte in text.bytes() {
        if is_plain(byte) || also_plain.as_bytes().contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
}

/// The text that is meant, or nothing if a `%` is not followed by two digits or it is no UTF-8.
pub(super) fn decode(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('%') {
        return Some(Cow::Borrowed(text));
    }
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let (high, low) = (digit(rest.next()?)?, digit(rest.next()?)?);
                u8::try_from(high * 16 + low).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_no_encoding_is_refused() {
        for text in ["%", "%4", "%4g", "a%", "%%41", "%ff", "%+1", "%c3%28"] {
            assert_eq!(decode(text), None, "{text}");
        }
        assert_eq!(decode("%41%c3%9f+").as_deref(), Some("Aß+"));
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(text: String, also_plain in "[,=/:*]{0,3}") {
            let mut encoded = String::new();
            encode(&text, &also_plain, &mut encoded);
            prop_assert!(encoded.is_ascii() && !encoded.contains(['@', '?', '#', '&', ' ']));
            let decoded = decode(&encoded);
            prop_assert_eq!(decoded.as_deref(), Some(&*text));
        }
    }
}
