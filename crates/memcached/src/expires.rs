//! How long a value lives, as callers say it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use steersman_memcached_protocol::Expiry;

/// When a value expires.
///
/// memcached counts in whole seconds, and takes numbers above 30 days as a point in time; both
/// are taken care of here: a duration is rounded up to the next second and converted to a point
/// in time where it has to be, by this machine's clock.
///
/// ```
/// use std::time::Duration;
/// use steersman_memcached::Expires;
///
/// assert_eq!(Expires::from(Duration::from_secs(60)), Expires::In(Duration::from_secs(60)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Expires {
    /// Not at all; the server may still evict it.
    #[default]
    Never,
    /// After this time; a zero duration expires at once.
    In(Duration),
    /// At this moment; one in the past expires at once.
    At(SystemTime),
}

impl From<Duration> for Expires {
    fn from(after: Duration) -> Self {
        Self::In(after)
    }
}

impl From<Option<Duration>> for Expires {
    fn from(after: Option<Duration>) -> Self {
        after.map_or(Self::Never, Self::In)
    }
}

impl From<SystemTime> for Expires {
    fn from(moment: SystemTime) -> Self {
        Self::At(moment)
    }
}

/// As it goes on the wire when sent now.
impl From<Expires> for Expiry {
    fn from(expires: Expires) -> Self {
        expires.to_wire()
    }
}

impl Expires {
    /// As it goes on the wire when sent now.
    pub(crate) fn to_wire(self) -> Expiry {
        let seconds = |time: SystemTime| {
            time.duration_since(UNIX_EPOCH)
                .map_or(0, |since| since.as_secs())
        };
        match self {
            Self::Never => Expiry::NEVER,
            Self::In(after) => Expiry::after(after, seconds(SystemTime::now())),
            Self::At(moment) => Expiry::at(seconds(moment)),
        }
    }
}
