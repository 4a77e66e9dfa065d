//! How a call ended, in a word.

use steersman_memcached_protocol::Reply;
use steersman_memcached_protocol::meta::Status;

use crate::error::ErrorKind;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Hit,
    Miss,
    Done,
    NotStored,
    Exists,
    NotFound,
    Queued,
    Cancelled,
    Failed(ErrorKind),
}

impl Outcome {
    /// What a reply comes to. That of an error line is known from the error.
    pub(super) fn of(reply: &Reply) -> Self {
        match reply {
            Reply::Value(_) => Self::Hit,
            Reply::Miss => Self::Miss,
            Reply::NotStored => Self::NotStored,
            Reply::Exists => Self::Exists,
            Reply::NotFound => Self::NotFound,
            Reply::Meta(reply) => Self::of_status(reply.status),
            _ => Self::Done,
        }
    }

    fn of_status(status: Status) -> Self {
        match status {
            Status::Value => Self::Hit,
            Status::Miss => Self::Miss,
            Status::NotStored => Self::NotStored,
            Status::Exists => Self::Exists,
            Status::NotFound => Self::NotFound,
            _ => Self::Done,
        }
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Hit => "hit",
            Self::Miss => "miss",
            Self::Done => "done",
            Self::NotStored => "not_stored",
            Self::Exists => "exists",
            Self::NotFound => "not_found",
            Self::Queued => "queued",
            Self::Cancelled => "cancelled",
            Self::Failed(_) => "error",
        }
    }

    /// What went wrong, if anything did.
    pub(super) fn error_type(self) -> Option<&'static str> {
        match self {
            Self::Failed(kind) => Some(kind.as_str()),
            _ => None,
        }
    }
}

#[cfg(feature = "metrics")]
impl Outcome {
    /// How many there are.
    pub(super) const COUNT: usize = 8 + ErrorKind::COUNT;

    pub(super) fn index(self) -> usize {
        match self {
            Self::Hit => 0,
            Self::Miss => 1,
            Self::Done => 2,
            Self::NotStored => 3,
            Self::Exists => 4,
            Self::NotFound => 5,
            Self::Queued => 6,
            Self::Cancelled => 7,
            Self::Failed(kind) => 8 + kind as usize,
        }
    }
}
