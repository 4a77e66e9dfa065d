//! The memcached protocol without I/O.

pub mod server;
