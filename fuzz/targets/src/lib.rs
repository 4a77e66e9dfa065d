//! What is fuzzed: functions of any bytes that panic if something is wrong.
//!
//! Each target is a module whose `run` takes the input of a fuzzer and checks what has to hold whatever
//! the input is: nothing panics, memory is bounded, how the bytes are cut changes nothing, and whoever
//! asked gets the answer to the own question or an error. They are called by libFuzzer (the package
//! around this one) and, with every input that is kept, by the tests of this crate.
//!
//! - [`replies`]: what a client makes of a server's replies.
//! - [`requests`]: what a server makes of requests, and that they come out as the client meant them.
//! - [`connection`]: requests, cancellation, writes, replies, faults and the end in any order, beside a
//!   model that knows who gets which answer.
//! - [`metadump`]: the list of a server's keys.
//! - [`discovery`]: lists of nodes, from a configuration endpoint and as text.
//! - [`config`]: URLs, variables of the environment, TOML and JSON.
//! - [`placement`]: schemes by name, members, changes and keys.
//! - [`values`]: values that anybody may have stored, read by every codec.

#![allow(
    clippy::missing_panics_doc,
    reason = "to panic is what a target is for"
)]

mod asked;
pub mod config;
pub mod connection;
pub mod discovery;
pub mod metadump;
mod pieces;
pub mod placement;
pub mod replies;
pub mod requests;
pub mod values;

/// A target: its name, which is that of its program and of the folder with its inputs, and what it runs.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: [Target; 8] = [
    ("config", config::run),
    ("connection", connection::run),
    ("discovery", discovery::run),
    ("metadump", metadump::run),
    ("placement", placement::run),
    ("replies", replies::run),
    ("requests", requests::run),
    ("values", values::run),
];
