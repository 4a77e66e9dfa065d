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
//! # Testing your code
//!
//! `steersman-testkit` has a memcached inside the process that fails on demand:
//!
//! ```
//! use steersman_memcached::{Client, ErrorKind};
//! use steersman_testkit::{Server, Times};
//!
//! # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = Server::start().await?;
//! let client = Client::builder().node(server.node()).build()?;
//! client.set("key", "value").await?;
//!
//! server.script().answer(Times::Next(1), "SERVER_ERROR out of memory\r\n");
//! let error = client.set("key", "other").await.unwrap_err();
//! assert_eq!(error.kind(), ErrorKind::Server);
//! assert_eq!(client.get("key").await?.unwrap().data, "value");
//!
//! server.stop().await;
//! assert!(client.get("key").await.is_err(), "an outage is not a miss");
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
mod value;

pub use bytes::Bytes;
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
pub use crate::value::IntoValue;

/// The examples of the project's front page.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
