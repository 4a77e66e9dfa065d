//! A line on stderr that tells a person at a terminal what is going on.

use std::io::{self, IsTerminal, Write};

use crate::printable::printable;

/// The line, which each new text replaces. Without a terminal there is none.
#[derive(Debug)]
pub(crate) struct StatusLine {
    is_shown: bool,
}

impl StatusLine {
    pub(crate) fn new() -> Self {
        let is_dumb = std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
        Self {
            is_shown: io::stderr().is_terminal() && !is_dumb,
        }
    }

    pub(crate) fn show(&self, text: &str) {
        if self.is_shown {
            let _ = write!(io::stderr(), "\r\x1b[K{}", printable(text));
        }
    }

    /// Takes the line away.
    pub(crate) fn clear(&self) {
        self.show("");
    }
}
