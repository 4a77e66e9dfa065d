//! What the callers have come to, and what they must never come to.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use steersman_memcached::Error;

/// The results of some calls.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// How often an operation ended so.
    pub results: BTreeMap<(&'static str, &'static str), u64>,
    /// Answers that a confirmed write could have contradicted.
    pub held: u64,
    /// Answers that nothing known could have contradicted.
    pub unheld: u64,
    /// Answers about keys on several nodes, of which only the key and the checksum are looked at.
    pub replicated: u64,
    /// Requests of each node that have to be in the client's counters.
    pub sent: Vec<u64>,
    /// Requests of each node that may be in them: their calls were dropped, perhaps before they were made.
    pub dropped: Vec<u64>,
    /// The longest time that a call took beyond its time-out.
    pub longest_overrun: Duration,
}

impl Tally {
    /// One for so many nodes.
    pub fn new(nodes: usize) -> Self {
        Self {
            sent: vec![0; nodes],
            dropped: vec![0; nodes],
            ..Self::default()
        }
    }

    /// An operation ended so.
    pub fn count(&mut self, operation: &'static str, result: &'static str) {
        *self.results.entry((operation, result)).or_default() += 1;
    }

    /// An operation failed.
    pub fn count_error(&mut self, operation: &'static str, error: &Error) {
        self.count(operation, error.kind().as_str());
    }

    /// Adds the results of others, of the same number of nodes.
    pub fn add(&mut self, other: &Self) {
        for (result, count) in &other.results {
            *self.results.entry(*result).or_default() += count;
        }
        self.held += other.held;
        self.unheld += other.unheld;
        self.replicated += other.replicated;
        for (ours, theirs) in [
            (&mut self.sent, &other.sent),
            (&mut self.dropped, &other.dropped),
        ] {
            ours.iter_mut()
                .zip(theirs)
                .for_each(|(ours, theirs)| *ours += theirs);
        }
        self.longest_overrun = self.longest_overrun.max(other.longest_overrun);
    }

    /// How many operations ended.
    pub fn calls(&self) -> u64 {
        self.results.values().sum()
    }
}

/// How many broken promises are told; all are counted.
const TOLD: usize = 20;

/// The promises that were broken.
#[derive(Debug, Default)]
pub struct Broken {
    count: AtomicU64,
    told: Mutex<Vec<String>>,
}

impl Broken {
    /// Another one.
    pub fn report(&self, what: impl Display) {
        self.count.fetch_add(1, Ordering::Relaxed);
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.len() < TOLD {
            eprintln!("broken: {what}");
            told.push(what.to_string());
        }
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// The first of them.
    pub fn told(&self) -> Vec<String> {
        self.told
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}
