//! The client against simulated networks in virtual time and against embedded servers.

mod auth;
mod batching;
mod chaos;
mod counts;
mod discovery;
mod fill;
mod health;
mod large;
mod lifecycle;
mod meta;
mod names;
mod network;
#[cfg(all(feature = "metrics", feature = "spans"))]
mod observability;
mod order;
mod pool;
mod replication;
mod timing;
mod waiting;
