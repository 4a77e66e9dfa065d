//! The memcached text protocol without I/O: requests to bytes, bytes to replies, and the state
//! machine of a connection.
//!
//! Nothing in this crate opens a socket, reads a clock or spawns a task. A client owns the
//! socket and moves bytes; what they mean is decided here, where every case can be tested byte
//! by byte.
//!
//! - A [`Request`] is what is asked, borrowed from the caller; its [`Key`] is checked once and
//!   its [`Expiry`] says what memcached's number would leave to guessing.
//! - An [`Outbox`] holds encoded requests with a token each. Callers share it under a lock.
//! - A [`Connection`] absorbs outboxes, says what to write, and reads what came: each
//!   [`Reply`] goes to the token of its request or the connection fails with a
//!   [`ProtocolError`]. [`Limits`] bound what a server can make it hold.
//! - A [`ClusterConfig`] is the list of nodes that ElastiCache gives.
//! - A [`Metadump`] reads the list of a server's keys.
//!
//! The meta commands are in [`meta`], the server's side of the protocol is in [`server`].
//!
//! The protocol is that of memcached 1.6, as its `doc/protocol.txt` describes it.

mod cluster_config;
mod connection;
mod encode;
mod error;
mod expiry;
mod key;
mod limits;
pub mod meta;
mod metadump;
mod parse;
mod pending;
mod reply;
mod request;
pub mod server;
mod version;

pub use cluster_config::{ClusterConfig, ClusterConfigError, ClusterNode};
pub use connection::{Connection, Ticket, Unanswered};
pub use encode::outbox::Outbox;
pub use error::{ProtocolError, ProtocolErrorKind, RequestError, RequestErrorKind};
pub use expiry::Expiry;
pub use key::{Key, KeyError};
pub use limits::Limits;
pub use metadump::{Dumped, DumpedItem, Metadump};
pub use reply::{Reply, ServerError, ServerErrorKind, Value};
pub use request::{ReadKind, Request, StatsArgs, StoreVerb};
pub use version::ServerVersion;
