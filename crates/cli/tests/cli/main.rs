//! The real binary against servers in this process: every command, what it prints to the byte,
//! and how it exits.

mod admin;
mod bench;
#[cfg(feature = "cassandra")]
mod cassandra;
mod config;
mod demo;
mod discovery;
mod doctor;
mod harness;
mod inspect;
mod outage;
mod output;
mod placement;
mod pseudo_terminal;
mod read;
mod simulate;
mod top;
mod usage;
mod write;
