//! End-to-end tests: against real servers, and what stands in for them against the real ones.

mod client;
mod command_line;
mod embedded_vs_real;
mod memccapable;
mod meta;
mod operate;
mod real_memcached;
