//! What can be wrong with a log.

use std::fmt;
use std::io;

/// A log that cannot be begun or was not written to its end.
///
/// Requests never see it: what cannot be written is dropped and counted.
///
/// # Examples
///
/// ```
/// use steersman_recorder::{AttemptLog, ErrorKind};
///
/// let error = AttemptLog::create("/no/such/folder/attempts.jsonl").unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Open);
/// ```
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    source: io::Error,
}

/// What kind of failure an [`Error`] reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The file cannot be made.
    Open,
    /// The thread that writes cannot be started.
    Thread,
    /// Writing failed. Lines before that are in the log, the others are counted as dropped.
    Write,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>, source: io::Error) -> Self {
        Self {
            kind,
            message: message.into(),
            source,
        }
    }

    /// What kind of failure it is.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Whether the same may work later: a disk may have room again, a process threads; what a log has
    /// lost stays lost.
    pub fn is_retryable(&self) -> bool {
        match self.kind {
            ErrorKind::Open => self.source.kind() == io::ErrorKind::Interrupted,
            ErrorKind::Thread => true,
            ErrorKind::Write => false,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.message, self.source)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}
