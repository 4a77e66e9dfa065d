//! How a command ends: with an answer, or with a failure that says what and where.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use crate::printable::printable;

/// What a command that did its work has to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Done. Exit code 0.
    Yes,
    /// The cluster said no: a miss, not stored, not found. Exit code 1.
    No,
}

impl Answer {
    /// `Yes` if it holds.
    pub(crate) fn of(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }

    pub(crate) fn exit_code(self) -> ExitCode {
        match self {
            Self::Yes => ExitCode::SUCCESS,
            Self::No => ExitCode::from(1),
        }
    }
}

/// Why a command could not do its work. Exit code 2, unless nobody is listening any more.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Whoever read our output has gone, as `head` does: nothing is left to do.
    OutputClosed,
    /// Lines that say what was asked, what went wrong and what to do: one, or one for each node
    /// that failed.
    Told(Vec<String>),
}

impl Failure {
    pub(crate) fn told(message: impl fmt::Display) -> Self {
        Self::Told(vec![message.to_string()])
    }
}

/// An error of writing the output; other I/O is described where it happens.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::OutputClosed,
            _ => Self::told(format!("cannot write the output: {error}")),
        }
    }
}

impl From<steersman_selection::Error> for Failure {
    fn from(error: steersman_selection::Error) -> Self {
        Self::told(error)
    }
}

/// Tells a person at a terminal why there is no output; scripts have the exit code.
pub(crate) fn note(key: &[u8], what: &str) {
    let mut stderr = io::stderr();
    if stderr.is_terminal() {
        let _ = writeln!(
            stderr,
            "{}: {what}",
            printable(&String::from_utf8_lossy(key))
        );
    }
}
