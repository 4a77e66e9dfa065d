//! The real binary against servers in this process: every command, what it prints to the byte,
//! and how it exits.

mod admin;
mod bench;
#[cfg(feature = "cassandra")]
mod cassandra;
mod demo;
mod discovery;
mod harness;
mod outage;
mod output;
mod placement;
mod read;
mod usage;
mod write;
