//! What all callers share.

use std::sync::atomic::AtomicBool;

use steersman_testkit::ledger::Ledger;

use super::tally::Broken;
use crate::pace::Pace;

/// What all callers share.
#[derive(Debug)]
pub struct Stage {
    /// What was written.
    pub ledger: Ledger,
    /// What must not happen.
    pub broken: Broken,
    /// How the runtime fares.
    pub pace: Pace,
    /// Whether the callers are to end.
    pub stop: AtomicBool,
}
