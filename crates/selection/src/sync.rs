//! The atomics and locks by which threads meet in this crate: those of the standard library, or of
//! loom in its models, which try every order in which threads can meet and everything that the
//! memory model lets them see (`scripts/races loom`).

#[cfg(not(loom))]
pub(crate) use std::{
    hint::spin_loop,
    sync::{Mutex, MutexGuard, atomic},
};

#[cfg(loom)]
pub(crate) use loom::{
    hint::spin_loop,
    sync::{Mutex, MutexGuard, atomic},
};
