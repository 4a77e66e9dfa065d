//! The server's idea of the time, so that a test can decide when items expire.

use std::fmt;
use std::sync::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::Instant;

/// Tells the server the time. Like memcached, the server counts whole seconds.
pub trait Clock: fmt::Debug + Send + Sync + 'static {
    /// The time since the Unix epoch.
    fn now(&self) -> Duration;
}

/// The time of day at the start, then Tokio's clock: in a test whose time is paused, expiry
/// follows the paused time. The default.
#[derive(Debug)]
pub struct SystemClock {
    origin: Duration,
    started: Instant,
}

impl SystemClock {
    /// A clock that agrees with the machine's.
    pub fn new() -> Self {
        let origin = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Self {
            origin,
            started: Instant::now(),
        }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.origin + self.started.elapsed()
    }
}

/// A clock that stands still until it is told otherwise.
///
/// ```
/// use std::sync::Arc;
/// use std::time::Duration;
/// use steersman_testkit::{Clock, ManualClock, Server};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> std::io::Result<()> {
/// let clock = Arc::new(ManualClock::new(Duration::from_secs(1_800_000_000)));
/// let server = Server::builder().clock(clock.clone()).start().await?;
/// // An item stored for a minute ...
/// clock.advance(Duration::from_secs(60));
/// // ... is gone now, at once.
/// assert_eq!(clock.now(), Duration::from_secs(1_800_000_060));
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct ManualClock {
    now: Mutex<Duration>,
}

impl ManualClock {
    /// A clock that shows this time since the Unix epoch.
    pub fn new(now: Duration) -> Self {
        Self {
            now: Mutex::new(now),
        }
    }

    /// Moves the time forward.
    pub fn advance(&self, by: Duration) {
        let mut now = crate::lock(&self.now);
        *now = now.saturating_add(by);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Duration {
        *crate::lock(&self.now)
    }
}
