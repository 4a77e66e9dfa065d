//! Text from outside on its way to a terminal.

use std::borrow::Cow;

/// The text on one line, with control characters, which could steer a terminal, escaped.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(char::is_control) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() {
            escaped.extend(c.escape_default());
        } else {
            escaped.push(c);
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn control_characters_are_escaped_and_nothing_else() {
        assert_eq!(printable("größe 'x'"), "größe 'x'");
        assert_eq!(
            printable("ü\x1b[2J\r\n\t\x7f"),
            "ü\\u{1b}[2J\\r\\n\\t\\u{7f}"
        );
    }
}
