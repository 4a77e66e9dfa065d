//! Counters that are kept elsewhere and exported now and then.

use std::sync::atomic::{AtomicU64, Ordering};

use ::metrics::{Counter, Label, counter};

/// The labels of one thing and a further one.
pub(super) fn with(labels: &[Label], name: &'static str, value: &'static str) -> Vec<Label> {
    let mut labels = labels.to_vec();
    labels.push(Label::from_static_parts(name, value));
    labels
}

/// What is counted here is far below where a float leaves out numbers.
pub(super) fn number(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::from(u32::MAX), f64::from)
}

/// Follows a count that never falls. What is exported is by how much it rose, since others may count
/// under the same name.
pub(super) struct Observed {
    counter: Counter,
    exported: AtomicU64,
}

impl Observed {
    pub(super) fn new(name: &'static str, labels: Vec<Label>) -> Self {
        Self {
            counter: counter!(name, labels),
            exported: AtomicU64::new(0),
        }
    }

    pub(super) fn export(&self, count: u64) {
        let before = self.exported.swap(count, Ordering::Relaxed);
        self.counter.increment(count.saturating_sub(before));
    }
}
