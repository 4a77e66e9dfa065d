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
//! Nodes may be discovered instead: see [`Builder::discovery`] and [`Discovery`]. Those that are given
//! by host name are followed when it comes to stand for other addresses
//! ([`Builder::resolve_interval`]).
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
//! # Replication
//!
//! With [`replicas(k)`](Builder::replicas) each key lives on its k best nodes. Reads ask one of
//! them, by default whichever is likely to answer first; when that one fails, or takes long, the
//! next is asked. Writes go to all.
//!
//! | commands | where |
//! | --- | --- |
//! | `get`, `get_many` | one replica, along the policy's plan |
//! | `gat`, `gat_many` | the value likewise; the new expiry to all, as far as they can be reached |
//! | `gets`, `gats` and their `many` | the owner only, since cas numbers differ from node to node |
//! | `set`, `delete`, `touch` | all; [`WriteSuccess`] says when they have succeeded |
//! | `add`, `replace`, `cas` | the owner decides; if it stores the value, the others get it by `set` |
//! | `append`, `prepend`, `increment`, `decrement` | the owner does it; the others get a `delete` |
//!
//! The last row is because the client does not know the whole result: of `append` not the value,
//! of `increment` not how long the number has left. If it is not known what the owner did, or with
//! `noreply`, the others get a `delete` in the other rows of the owner as well. A number that is
//! counted is read at the owner by `gets`: a `get` may go to another replica, and a miss there is a
//! miss, unless [`next_on_miss`](Replication::next_on_miss) is on.
//!
//! This is a cache on several nodes, not a consistent store. Not guaranteed are:
//!
//! - **Equal replicas.** Two clients that write a key at the same time may leave different values
//!   on its replicas, until the next write or expiry. So may a write that failed on one of them,
//!   or that timed out: nothing is undone or repeated. [`Error::replicas`] and [`Call::reported`]
//!   tell which replicas those are.
//! - **Reading what was written last.** That holds for one task as long as its writes succeed on
//!   all replicas ([`WriteSuccess::All`]). With `Any`, or after a failed write, a read may go to a
//!   replica with an older value, or with none: by default a miss at one replica is a miss.
//! - **Values of a node that was away.** It comes back with what it had, or empty. It is not
//!   brought up to date but by later writes and, if turned on, [repairs](Replication::repair).
//! - **One result for `cas` and counters when nodes change.** The owner alone decides; another
//!   owner, after a change of members, knows nothing of it. While the owner is down they fail.
//! - **A late write.** A write that timed out may still be executed, after a later one too.
//!
//! # Configuration
//!
//! [`Builder::from_url`] takes a URL such as `memcached://cache-1,cache-2?timeout=250ms`,
//! [`Builder::from_env`] the environment, and [`Config`] is all options as data, also for serde with the
//! feature `serde`.
//!
//! # TLS and credentials
//!
//! [`Builder::auth`] tells servers who the client is. With the feature `tls`, which is not on by
//! default, `Builder::tls` secures the connections.
//!
//! # Seeing into it
//!
//! [`Client::connection_pool_metrics`] and its like have figures, [`Client::events`] the news of nodes, and
//! `tracing` the log. With the feature `metrics`, which is not on by default, `Builder::metrics` exports
//! to the recorder of the crate `metrics`; with the feature `spans` `Builder::spans` makes a span of
//! each call. No value is in any of it.
//!
//! # Values and keys
//!
//! [`Client::typed`] gives a view that stores and reads values of your own types, compressed if you
//! like: see [`codec`]. [`Builder::key_prefix`] puts a namespace in front of every key.
//!
//! # Where things are
//!
//! [`Client`] has the operations, [`Builder`] the options. A call ([`Call`], [`GetMany`]) goes
//! from the placement (`cluster`) to its node's connections (`node`), each driven by a task of
//! its own. What comes back is a value, a miss, a condition that did not hold ([`StoreOutcome`],
//! [`CasOutcome`]), or an [`Error`] that says how far the request came and whether the server may
//! have executed it.

mod address;
mod ask;
mod auth;
mod backoff;
mod builder;
pub mod call;
mod client;
mod cluster;
pub mod codec;
mod config;
mod deadline;
mod discovery;
mod error;
mod events;
mod expires;
mod fill;
mod keys;
mod listing;
mod metrics;
mod node;
mod observe;
mod options;
mod outcome;
mod replication;
mod resolve;
mod shared;
mod sync;
#[cfg_attr(not(feature = "tls"), path = "tls/off.rs")]
mod tls;
mod transport;
mod value;

pub use bytes::Bytes;
pub use steersman_memcached_protocol::{
    DumpedItem, Expiry, ServerError, ServerErrorKind, Value, meta,
};
pub use steersman_selection as selection;
pub use steersman_selection::{Hedge, Scheme};

pub use crate::address::{DEFAULT_PORT, Endpoint, IntoNodeConfig, NodeConfig};
pub use crate::auth::{Credentials, CredentialsProvider};
pub use crate::backoff::Backoff;
pub use crate::builder::Builder;
pub use crate::call::{Call, GetMany, Inspected};
pub use crate::client::{Client, NodeHandle};
pub use crate::codec::Typed;
pub use crate::config::{Config, DiscoverySource};
#[cfg(feature = "dns")]
pub use crate::discovery::SrvRecords;
pub use crate::discovery::{
    AddressRecords, Dialer, Discovered, Discovery, DiscoveryError, DiscoveryMetrics, ElastiCache,
    FixedNodes, NodesFile,
};
pub use crate::error::{Error, ErrorKind, Result, Stage};
pub use crate::events::{ClusterEvents, Event, EventStream};
pub use crate::expires::Expires;
pub use crate::fill::{Fill, FillError, Filled, GetOrFill, IntoFill, Invalidate, Origin};
pub use crate::listing::KeyListing;
pub use crate::metrics::PoolMetrics;
#[cfg(feature = "metrics")]
pub use crate::observe::Metrics;
#[cfg(feature = "spans")]
pub use crate::observe::Spans;
pub use crate::outcome::{CasOutcome, Many, PerNode, StoreOutcome};
pub use crate::replication::{
    ReadPolicy, Replication, ReplicationMetrics, Reported, WriteSuccess, Written,
};
#[cfg(feature = "dns")]
pub use crate::resolve::DnsResolver;
pub use crate::resolve::{Resolved, Resolver, Resolving, SystemResolver};
#[cfg(feature = "tls")]
pub use crate::tls::{Tls, TlsFailure};
pub use crate::transport::{Connecting, Connector, Sockets, Transport};
pub use crate::value::IntoValue;

/// The examples of the project's front page.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The examples of the page on replication.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/replicated-memcached.md")]
struct ReplicatedMemcached;

/// The examples of the page on cache-aside.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/cache-aside.md")]
struct CacheAside;

/// The examples of the page on the meta commands.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/meta-commands.md")]
struct MetaCommands;

/// The examples of the page on values and keys.
#[cfg(all(doctest, feature = "json", feature = "zstd", feature = "long-keys"))]
#[doc = include_str!("../../../docs/values.md")]
struct Values;

/// The examples of the page on sharing a cache.
#[cfg(all(doctest, feature = "compat"))]
#[doc = include_str!("../../../docs/sharing-a-cache.md")]
struct SharingACache;

/// The examples of the page on configuration.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/configuration.md")]
struct Configuration;

/// The examples of the page on TLS and credentials.
#[cfg(all(doctest, feature = "tls"))]
#[doc = include_str!("../../../docs/tls-and-auth.md")]
struct TlsAndAuth;
