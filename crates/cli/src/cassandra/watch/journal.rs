//! The journal: what changed, for those who come to look.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use steersman_selection::{Event, Listener};

/// More than this many changes between two looks are a cluster at odds with itself; the last ones
/// are kept.
const MAX: usize = 1_000;

pub(super) struct Journal {
    began: Instant,
    entries: Mutex<Vec<(Duration, Event)>>,
}

impl Journal {
    pub(super) fn new() -> Self {
        Self {
            began: Instant::now(),
            entries: Mutex::default(),
        }
    }

    /// How long it has been kept.
    pub(super) fn age(&self) -> Duration {
        self.began.elapsed()
    }

    /// Writes down each change, and when it came.
    pub(super) fn listener(self: Arc<Self>) -> impl Listener + 'static {
        move |event: &Event| {
            let at = self.age();
            let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
            if entries.len() == MAX {
                entries.remove(0);
            }
            entries.push((at, *event));
        }
    }

    /// What has changed since this was asked the last time.
    pub(super) fn take(&self) -> Vec<(Duration, Event)> {
        std::mem::take(&mut *self.entries.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
