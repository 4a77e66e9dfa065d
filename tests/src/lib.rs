//! What the end-to-end tests share: real servers, started for one test and ended with it.

pub mod authority;
pub mod cassandra;
pub mod chaos;
pub mod command_line;
pub mod memcached;
pub mod pace;
pub mod reality;
pub mod soak;
pub mod tls_peer;
pub mod vitals;
