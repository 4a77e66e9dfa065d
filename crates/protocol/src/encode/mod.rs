//! From requests to bytes.
//!
//! - [`output`]: the bytes that wait to be written, large values shared instead of copied.
//! - [`command`]: how each request is spelled.
//! - [`line`]: the line of reads that further reads may join.
//! - [`outbox`]: encoded requests with their callers' tokens.

pub(crate) mod command;
mod line;
pub(crate) mod outbox;
pub(crate) mod output;
