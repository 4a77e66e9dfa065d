//! JSON with bytes in it: text where they are UTF-8, base64 under another name where not.

use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

/// An object whose fields keep the order in which they were added.
#[derive(Debug, Default, Clone)]
pub(crate) struct Object(Map<String, Value>);

impl Object {
    /// An object with one field of bytes.
    pub(crate) fn bytes_of(name: &str, bytes: &[u8]) -> Self {
        Self::default().bytes(name, bytes)
    }

    /// Adds a field.
    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    /// Adds bytes: as text, or as base64 in `NAME_base64` if they are not UTF-8.
    pub(crate) fn bytes(self, name: &str, bytes: &[u8]) -> Self {
        match str::from_utf8(bytes) {
            Ok(text) => self.with(name, text),
            Err(_) => self.with(&format!("{name}_base64"), STANDARD.encode(bytes)),
        }
    }

    /// Writes the object on a line of its own.
    pub(crate) fn write_line(self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}", Value::from(self))
    }
}

impl From<Object> for Value {
    fn from(object: Object) -> Self {
        Self::Object(object.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_text_or_base64_and_fields_keep_their_order() {
        let object = Object::bytes_of("key", "größe".as_bytes())
            .bytes("value", b"\xff\0")
            .with("flags", 1)
            .with("b", Value::Null)
            .with("a", vec!["x"]);
        let mut out = Vec::new();
        object.write_line(&mut out).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "{\"key\":\"größe\",\"value_base64\":\"/wA=\",\"flags\":1,\"b\":null,\"a\":[\"x\"]}\n"
        );
    }
}
