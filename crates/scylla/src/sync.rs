//! The atomics by which requests meet in the balancer: those of the standard library, or of loom in
//! its models, which try every order in which threads can meet (`scripts/races loom`).

#[cfg(not(loom))]
pub(crate) use std::sync::atomic;

#[cfg(loom)]
pub(crate) use loom::sync::atomic;
