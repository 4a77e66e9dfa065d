//! A real Apache Cassandra cluster, sessions with it, and load on it.
//!
//! All of this is for tests, so it panics where it cannot go on.
#![expect(clippy::missing_panics_doc, reason = "said above for all")]

mod cluster;
mod load;
mod session;

pub use self::cluster::Cluster;
pub use self::load::{Load, Report, Sample};
pub use self::session::{Connector, Reads};
