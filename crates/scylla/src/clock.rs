//! The clock that policies are given the time of.

use std::time::Instant;

use steersman_selection::Timestamp;

/// Time since the balancer was made.
#[derive(Debug)]
pub(crate) struct Clock {
    origin: Instant,
}

impl Clock {
    pub(crate) fn new() -> Self {
        Self {
            origin: Instant::now(),
        }
    }

    #[inline]
    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::from_nanos(0) + self.origin.elapsed()
    }
}
