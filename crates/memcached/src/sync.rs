//! The locks, atomics and counted pointers by which tasks of different threads meet in the client:
//! those of the standard library, or of loom in its models, which try every order in which threads
//! can meet (`scripts/races loom`). What only ever holds a lock for its own sake does not need them.

#[cfg(not(loom))]
pub(crate) use std::sync::{Arc, Mutex, MutexGuard, atomic};

#[cfg(loom)]
pub(crate) use loom::sync::{Arc, Mutex, MutexGuard, atomic};
