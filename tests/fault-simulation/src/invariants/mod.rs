//! What must never happen, whatever the faults: each invariant is a small checker of its own, which looks at
//! a [`History`] and says what is wrong with it.

mod attribution;
mod clock;
mod counters;
mod evidence;
mod execution;
mod freshness;
mod healing;
mod memory;
mod outage;
mod remains;
#[cfg(test)]
mod testing;

use std::fmt;

use self::evidence::Evidence;
pub(crate) use self::memory::footprint;
use crate::history::History;

/// An invariant that did not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Which one.
    pub invariant: &'static str,
    /// What happened.
    pub what: String,
}

impl Violation {
    fn new(invariant: &'static str, what: impl Into<String>) -> Self {
        Self {
            invariant,
            what: what.into(),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.invariant, self.what)
    }
}

/// All that is wrong with a run.
pub fn check(history: &History) -> Vec<Violation> {
    let evidence = Evidence::new(history);
    let mut found = Vec::new();
    attribution::check(history, &mut found);
    freshness::check(history, &evidence, &mut found);
    clock::check(history, &mut found);
    outage::check(history, &evidence, &mut found);
    execution::check(history, &evidence, &mut found);
    counters::check(history, &mut found);
    healing::check(history, &mut found);
    memory::check(history, &mut found);
    remains::check(history, &mut found);
    found
}
