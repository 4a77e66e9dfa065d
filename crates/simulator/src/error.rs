//! What is wrong with a scenario, a log or the name of a policy.

use std::fmt;

/// A scenario, a policy or a log that cannot be used as asked.
///
/// A simulation itself never fails; only what it is made of does. The same input fails in the same way
/// every time, so there is nothing to retry.
///
/// # Examples
///
/// ```
/// use steersman_simulator::{ErrorKind, Scenario};
///
/// let error = Scenario::parse("name = 'tiny'").unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::InvalidScenario);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    message: Box<str>,
}

/// What kind of mistake an [`Error`] reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A scenario that is not written as scenarios are, or says what cannot be; the message names the
    /// option.
    InvalidScenario,
    /// A name that is none of the scenarios that come with the crate.
    UnknownScenario,
    /// A name that is none of [`PolicyKind::NAMES`](crate::PolicyKind::NAMES).
    UnknownPolicy,
    /// A log of measurements with a line that is none, or with none at all.
    InvalidLog,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into().into_boxed_str(),
        }
    }

    /// A scenario's option that is out of range.
    pub(crate) fn option(option: &str, value: impl fmt::Display, allowed: &str) -> Self {
        Self::new(
            ErrorKind::InvalidScenario,
            format!("{option} of {value} is out of range; {allowed}"),
        )
    }

    /// The same error, of the scenario or file of that name.
    pub(crate) fn of(self, name: &str) -> Self {
        Self::new(self.kind, format!("{name}: {}", self.message))
    }

    /// What kind of mistake it is.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Whether the same call may do later what it did not do now: never.
    pub fn is_retryable(&self) -> bool {
        false
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
