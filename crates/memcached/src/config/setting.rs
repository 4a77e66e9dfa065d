//! The value of one option, between a source of options and what it means.

use std::fmt;

/// A value as a source has it. A URL has texts only; formats with types have the others too.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Setting {
    Text(String),
    Number(u64),
    Decimal(f64),
    Switch(bool),
    List(Vec<String>),
}

/// As it is written in a URL, before percent-encoding.
impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Number(number) => number.fmt(f),
            Self::Decimal(number) => number.fmt(f),
            Self::Switch(on) => f.write_str(if *on { "on" } else { "off" }),
            Self::List(texts) => f.write_str(&texts.join(",")),
        }
    }
}
