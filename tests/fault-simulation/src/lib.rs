//! A memcached cluster and its clients in virtual time: a seed decides everything that happens, and every
//! run with it is the same, event for event.
//!
//! [`run`] makes a plan of a seed (`plan`): how many servers and clients there are, how they are configured,
//! and which faults come when. The servers are those of `steersman-testkit`, the clients are
//! `steersman-memcached` as it is; between them is a network in memory (`network`), reached through the
//! client's `Connector`. Tasks make calls (`workload`) while the faults come and go (`world`). Everything
//! runs on one thread whose clock stands still while anything can be done.
//!
//! What callers were told and what servers really did make a [`History`], and the [`invariants`] are what has
//! to hold of it. A seed that violates one is printed with the command that replays it.

mod chance;
pub mod history;
pub mod invariants;
mod network;
mod plan;
mod run;
mod trace;
mod value;
mod witness;
mod workload;
mod world;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub use self::history::History;
pub use self::run::{Report, run};
pub use self::trace::Moment;
pub use self::value::{Garbage, Stamp};

/// The command that runs a seed again and prints all that happens.
pub fn replay(seed: u64) -> String {
    format!("cargo run --package steersman-fault-simulation -- --seed {seed} --trace")
}

/// Locks; a panic of another holder does not spread.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
