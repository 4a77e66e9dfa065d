//! What is asked of Steersman, each load in a process of its own.

mod closed;

pub(crate) use closed::Steersman;
