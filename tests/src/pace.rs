//! Time as the runtime has lived it: what a machine that was busy elsewhere took from it does not count.
//!
//! Whether a call ended in time cannot be told by the clock alone where other work shares the processors,
//! or where the whole machine may be paused. A task that wakes every few milliseconds sees how late it
//! is; when that is more than scheduling explains, nothing in this process could have run in time, and the
//! time is counted as lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

/// How often the runtime is looked at.
const BEAT: Duration = Duration::from_millis(5);
/// Being late by less is scheduling, and no excuse.
const TOLERATED: Duration = Duration::from_millis(20);

/// Watches how late the runtime is; ends when it is dropped.
#[derive(Debug)]
pub struct Pace {
    lost: Arc<Lost>,
    task: JoinHandle<()>,
}

#[derive(Debug)]
struct Lost {
    origin: Instant,
    /// Nanoseconds that were lost up to the last beat.
    nanoseconds: AtomicU64,
    /// When the next beat is due, in nanoseconds after the origin.
    due: AtomicU64,
}

impl Lost {
    /// What was lost up to now.
    fn up_to(&self, now: Instant) -> Duration {
        let since = now.duration_since(self.origin);
        let due = Duration::from_nanos(self.due.load(Ordering::Acquire));
        Duration::from_nanos(self.nanoseconds.load(Ordering::Acquire))
            + excess(since.saturating_sub(due))
    }
}

/// The part of a delay that counts as lost.
fn excess(late: Duration) -> Duration {
    if late > TOLERATED {
        late
    } else {
        Duration::ZERO
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    duration.as_nanos().try_into().unwrap_or(u64::MAX)
}

impl Pace {
    /// Begins to watch the current runtime.
    ///
    /// # Panics
    ///
    /// Outside of a Tokio runtime.
    pub fn watch() -> Self {
        let lost = Arc::new(Lost {
            origin: Instant::now(),
            nanoseconds: AtomicU64::new(0),
            due: AtomicU64::new(nanoseconds(BEAT)),
        });
        let task = tokio::spawn(beat(Arc::clone(&lost)));
        Self { lost, task }
    }

    /// Begins to measure.
    pub fn start(&self) -> Measured<'_> {
        let start = Instant::now();
        Measured {
            pace: self,
            start,
            lost: self.lost.up_to(start),
        }
    }

    /// All that was lost since the beginning.
    pub fn lost(&self) -> Duration {
        self.lost.up_to(Instant::now())
    }
}

impl Drop for Pace {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn beat(lost: Arc<Lost>) {
    let mut due = lost.origin + BEAT;
    loop {
        sleep_until(due).await;
        let now = Instant::now();
        let late = excess(now.duration_since(due));
        // What was lost is raised first: whoever reads in between excuses too much rather than too little.
        lost.nanoseconds
            .fetch_add(nanoseconds(late), Ordering::AcqRel);
        due = now + BEAT;
        lost.due
            .store(nanoseconds(due - lost.origin), Ordering::Release);
    }
}

/// A time that is being measured; from [`Pace::start`].
#[derive(Debug, Clone, Copy)]
pub struct Measured<'a> {
    pace: &'a Pace,
    start: Instant,
    lost: Duration,
}

impl Measured<'_> {
    /// How long the runtime has run since.
    pub fn lived(&self) -> Duration {
        let now = Instant::now();
        let lost = self.pace.lost.up_to(now).saturating_sub(self.lost);
        now.duration_since(self.start).saturating_sub(lost)
    }

    /// How long it is by the clock.
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn time_that_passes_while_nothing_runs_is_lost() {
        let pace = Pace::watch();
        // The first beat sets itself up.
        tokio::time::sleep(Duration::from_millis(100)).await;
        let measured = pace.start();
        // Nothing runs until this task waits.
        tokio::time::advance(Duration::from_secs(60)).await;
        assert_eq!(measured.elapsed(), Duration::from_secs(60));
        assert!(measured.lived() < Duration::from_millis(50), "{measured:?}");
        tokio::time::sleep(Duration::from_secs(2)).await;
        let lived = measured.lived();
        let expected = Duration::from_secs(2)..Duration::from_millis(2_100);
        assert!(expected.contains(&lived), "{lived:?}");
    }
}
