//! What came of the operations, counted by each thread for itself and added up when it is asked for.
//!
//! Were there a tally for each task, its counts would have left the processor's caches whenever the task
//! comes back to them: with 512 tasks that took a fifth of the time that is measured.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::histogram::Histogram;

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Get,
    Set,
}

impl Operation {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Set => "set",
        }
    }
}

/// What came of operations of one kind, or of all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Count {
    /// How long those took that were answered.
    pub(super) latency: Histogram,
    pub(super) errors: u64,
}

impl Count {
    fn add(&mut self, other: &Self) {
        self.latency.add(&other.latency);
        self.errors += other.errors;
    }
}

/// What came of operations.
///
/// The alignment keeps threads out of each other's cache lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[repr(align(128))]
pub(super) struct Tally {
    pub(super) gets: Count,
    pub(super) sets: Count,
    /// Gets that found no value.
    pub(super) misses: u64,
}

impl Tally {
    /// Takes in how an operation ended: whether there was a value, or that it failed.
    pub(super) fn record(&mut self, operation: Operation, latency: Duration, found: Option<bool>) {
        let count = match operation {
            Operation::Get => &mut self.gets,
            Operation::Set => &mut self.sets,
        };
        match found {
            Some(found) => {
                count.latency.record(latency);
                self.misses += u64::from(!found);
            }
            None => count.errors += 1,
        }
    }

    fn add(&mut self, other: &Self) {
        self.gets.add(&other.gets);
        self.sets.add(&other.sets);
        self.misses += other.misses;
    }

    /// Gets and sets together.
    pub(super) fn all(&self) -> Count {
        let mut all = self.gets.clone();
        all.add(&self.sets);
        all
    }

    pub(super) fn answers(&self) -> u64 {
        self.gets.latency.total() + self.sets.latency.total()
    }

    pub(super) fn errors(&self) -> u64 {
        self.gets.errors + self.sets.errors
    }
}

/// Tallies of threads.
pub(super) struct Tallies(Vec<Mutex<Tally>>);

impl Tallies {
    /// So many threads have one each; more share them.
    pub(super) fn new(threads: usize) -> Self {
        Self((0..threads.max(1)).map(|_| Mutex::default()).collect())
    }

    /// That of this thread.
    pub(super) fn own(&self) -> MutexGuard<'_, Tally> {
        static THREADS: AtomicUsize = AtomicUsize::new(0);
        thread_local! {
            static NUMBER: usize = THREADS.fetch_add(1, Ordering::Relaxed);
        }
        lock(&self.0[NUMBER.with(|number| number % self.0.len())])
    }

    /// All together.
    pub(super) fn sum(&self) -> Tally {
        let mut sum = Tally::default();
        for tally in &self.0 {
            sum.add(&lock(tally));
        }
        sum
    }
}

fn lock(tally: &Mutex<Tally>) -> MutexGuard<'_, Tally> {
    tally.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_threads_count_adds_up() {
        const THREADS: u64 = 5;
        for own in [1, 2, 5, 9] {
            let tallies = Tallies::new(own);
            std::thread::scope(|scope| {
                for _ in 0..THREADS {
                    scope.spawn(|| {
                        for _ in 0..100 {
                            let mut tally = tallies.own();
                            tally.record(Operation::Set, Duration::ZERO, Some(true));
                        }
                    });
                }
            });
            assert_eq!(tallies.sum().answers(), THREADS * 100);
        }
    }

    #[test]
    fn operations_are_counted_by_kind_and_add_up() {
        let us = Duration::from_micros;
        let mut tally = Tally::default();
        tally.record(Operation::Get, us(10), Some(true));
        tally.record(Operation::Get, us(20), Some(false));
        tally.record(Operation::Set, us(30), Some(true));
        tally.record(Operation::Set, us(40), None);
        let mut twice = tally.clone();
        twice.add(&tally);
        for (tally, times) in [(tally, 1), (twice, 2)] {
            assert_eq!(tally.gets.latency.total(), 2 * times);
            assert_eq!(tally.sets.latency.total(), times);
            assert_eq!((tally.gets.errors, tally.sets.errors), (0, times));
            assert_eq!((tally.misses, tally.answers()), (times, 3 * times));
            let all = tally.all();
            assert_eq!((all.latency.total(), all.errors), (3 * times, times));
            assert_eq!(all.latency.quantile(0.5), Some(us(20)));
            assert_eq!(all.latency.quantile(1.0), Some(us(30)));
        }
    }
}
