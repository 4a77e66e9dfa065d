//! A fixed rate that tasks share: each takes the next operation, once that is due.
//!
//! A latency counts from when an operation was due and not from when a task came to begin it, as Gil
//! Tene asks for: else a stall would hide the operations that it holds up (coordinated omission).

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

use crate::pace::{due_after, due_by, wake_in_time};

/// How long the pacer sleeps at a time, at most, before it looks whether it is to stop.
const NAP: Duration = Duration::from_millis(50);

pub(super) struct Schedule {
    began: Instant,
    /// Operations a second.
    rate: u32,
    /// A permit for each operation that is due and not yet taken.
    due: Semaphore,
    /// The number of the next operation to be taken.
    next: AtomicU64,
}

impl Schedule {
    /// Of which the first operation is due now.
    pub(super) fn new(rate: u32) -> Self {
        Self {
            began: Instant::now(),
            rate,
            due: Semaphore::new(0),
            next: AtomicU64::new(0),
        }
    }

    /// Waits until another operation is due, and tells since when; `None` once the schedule has ended.
    pub(super) async fn take(&self) -> Option<Instant> {
        self.due.acquire().await.ok()?.forget();
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        Some(self.began + due_after(number, self.rate))
    }

    /// Gives out operations as they become due, until the schedule ends.
    ///
    /// For a thread of its own, as timers of the runtime are late by up to a millisecond.
    pub(super) fn keep(&self) {
        wake_in_time();
        let mut given = 0;
        while !self.due.is_closed() {
            let elapsed = self.began.elapsed();
            let due = due_by(elapsed, self.rate);
            self.due
                .add_permits(usize::try_from(due - given).unwrap_or(0));
            given = due;
            let left = due_after(given, self.rate).saturating_sub(elapsed);
            thread::sleep(left.min(NAP));
        }
    }

    /// Nothing more is taken from now on.
    pub(super) fn end(&self) {
        self.due.close();
    }

    /// How many operations were due so far and not taken.
    pub(super) fn left(&self) -> u64 {
        self.due.available_permits() as u64
    }
}
