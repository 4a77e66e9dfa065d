//! The clock of a host, which can be set to another time of day.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use steersman_testkit::Clock;
use tokio::time::Instant;

/// The time of day when a run begins, in seconds since the Unix epoch.
const ORIGIN: i64 = 1_800_000_000;

#[derive(Debug)]
pub(super) struct HostClock {
    begun: Instant,
    /// In seconds.
    set_by: AtomicI64,
}

impl HostClock {
    pub(super) fn new() -> Self {
        Self {
            begun: Instant::now(),
            set_by: AtomicI64::new(0),
        }
    }

    /// Sets the clock forward, or back.
    pub(super) fn set(&self, seconds: i64) {
        self.set_by.fetch_add(seconds, Ordering::Relaxed);
    }
}

impl Clock for HostClock {
    fn now(&self) -> Duration {
        let seconds = ORIGIN + self.set_by.load(Ordering::Relaxed);
        Duration::from_secs(seconds.try_into().unwrap_or(0)) + self.begun.elapsed()
    }
}
