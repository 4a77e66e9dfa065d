//! A memcached cluster client for Tokio.
//!
//! Keys are placed on nodes by rendezvous hashing; each node has a few connections that all tasks
//! share; concurrent requests travel together; nodes that fail are found, reported and taken back.
//!
//! ```no_run
//! # async fn example() -> steersman_memcached::Result<()> {
//! use std::time::Duration;
//! use steersman_memcached::Client;
//!
//! let client = Client::builder().nodes(["cache-1:11211", "cache-2:11211"]).build()?;
//!
//! client.set("user:7", "Ada").expires_in(Duration::from_secs(300)).await?;
//! let user = client.get("user:7").await?;
//! assert_eq!(user.unwrap().data, "Ada");
//!
//! let many = client.get_many(["user:7", "user:8"]).await;
//! println!("{} found, {} missing, {} failed", many.found.len(), many.missing.len(), many.failed.len());
//! # Ok(()) }
//! ```
//!
//! # Where things are
//!
//! [`Client`] has the operations, [`Builder`] the options. A call ([`Call`], [`GetMany`]) goes
//! from the placement (`cluster`) to its node's connections (`node`), each driven by a task of
//! its own. What comes back is a value, a miss, a condition that did not hold ([`StoreOutcome`],
//! [`CasOutcome`]), or an [`Error`] that says how far the request came and whether the server may
//! have executed it.

mod address;
mod backoff;
mod builder;
pub mod call;
mod client;
mod cluster;
mod deadline;
mod error;
mod events;
mod expires;
mod metrics;
mod node;
mod options;
mod outcome;
mod shared;
mod transport;

pub use steersman_memcached_protocol::{ServerError, ServerErrorKind, Value};
pub use steersman_selection::Scheme;

pub use crate::address::{DEFAULT_PORT, Endpoint, IntoNodeConfig, NodeConfig};
pub use crate::backoff::Backoff;
pub use crate::builder::Builder;
pub use crate::call::{Call, GetMany};
pub use crate::client::{Client, NodeHandle};
pub use crate::error::{Error, ErrorKind, Result, Stage};
pub use crate::events::{ClusterEvents, Event, EventStream};
pub use crate::expires::Expires;
pub use crate::metrics::PoolMetrics;
pub use crate::outcome::{CasOutcome, Many, PerNode, StoreOutcome};
pub use crate::transport::{Connecting, Connector, Sockets, Transport};

/// The examples of the project's front page.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
