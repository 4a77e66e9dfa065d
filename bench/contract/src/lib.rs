//! What every measured program is told, does and prints, whatever its language.
//!
//! ```text
//! PROGRAM [--workers N] HOST:PORT CONNECTIONS TASKS SECONDS get|set VALUE_SIZE
//! ```
//!
//! It connects, lets its tasks issue single-key operations one after the other, ignores those of a
//! short warm-up, counts those of so many seconds, and prints one line of JSON ([`Outcome`]). A read
//! counts only if the value has the right length; everything else is an error.
//!
//! Here are the words of that contract ([`Order`], [`Outcome`], [`key`]), the [`Phase`] that all
//! tasks look at, and [`run`], which does it all for a client on Tokio that is a [`Peer`].

mod order;
mod peer;
mod phase;
mod program;

pub use order::{Operation, Order, Outcome};
pub use peer::{Peer, run};
pub use phase::{Phase, WARM_UP};
pub use program::{printed, runtime, within};

use bytes::Bytes;

/// The most keys there are.
const KEYS: usize = 10_000;

/// The most bytes all values have together; of large values there are fewer than [`KEYS`].
const BYTES: usize = 64 * 1024 * 1024;

/// Keys that each task calls in turn: what a caller does with more memory is not what is measured.
pub const KEYS_PER_TASK: usize = 16;

/// How many keys there are with values of that size.
pub fn key_count(value_size: usize) -> usize {
    (BYTES / value_size.max(1)).clamp(1, KEYS)
}

/// The key of that number; numbers go round.
pub fn key(number: usize, value_size: usize) -> String {
    format!("key{:05}", number % key_count(value_size))
}

/// The keys of a task, or of whatever else has a number.
pub fn keys(task: usize, count: usize, value_size: usize) -> Vec<String> {
    (0..count)
        .map(|index| key(task * 7919 + index * 31, value_size))
        .collect()
}

/// The value of every key.
pub fn value(size: usize) -> Bytes {
    Bytes::from(vec![b'x'; size])
}
