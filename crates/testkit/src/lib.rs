//! An embedded memcached server and a fault proxy, for tests and demonstrations.
//!
//! [`Server`] is a memcached inside the process: all classic and meta commands, with the rules, limits and
//! error texts of memcached 1.6.18, on a free port, with nothing to install. It can be stopped
//! and started again at the same address, and it can fail on demand: [`Faults`] are those of a
//! network (slow, silent, refusing, cutting replies short), [`Script`] replaces replies by error
//! lines or garbage. A [`Clock`] decides when items expire. [`Server::stats`] and
//! [`Server::wait_for`] let a test see what arrived, and wait for it without sleeping.
//!
//! A server can also be given its connections, over a simulated network for example
//! ([`Server::connect`]), and tell a [`Witness`] what it really executes.
//!
//! [`FaultProxy`] puts the same faults in front of any other TCP server, a real memcached say. A
//! [`Ledger`](ledger::Ledger) judges what is read meanwhile.
//!
//! ```
//! use std::io::{Read, Write};
//! use std::time::Duration;
//! use steersman_testkit::{Server, Times};
//!
//! # #[tokio::main] async fn main() -> std::io::Result<()> {
//! let server = Server::start().await?;
//! server.script().answer(Times::Next(1), "SERVER_ERROR out of memory\r\n");
//!
//! let mut client = std::net::TcpStream::connect(server.addr())?;
//! client.write_all(b"set k 0 0 1\r\nv\r\nset k 0 0 1\r\nv\r\nquit\r\n")?;
//! let mut replies = String::new();
//! client.read_to_string(&mut replies)?;
//! assert_eq!(replies, "SERVER_ERROR out of memory\r\nSTORED\r\n");
//!
//! server.stop().await;
//! assert!(std::net::TcpStream::connect(server.addr()).is_err());
//! server.restart().await?;
//! assert!(std::net::TcpStream::connect(server.addr()).is_ok());
//! # Ok(()) }
//! ```
//!
//! # How it differs from memcached
//!
//! - `watch`, `lru`, `slabs`, `lru_crawler`, `bget` and some reports
//!   of `stats` (connections, key prefixes, enabling sizes) are missing: they are answered `ERROR`
//!   or empty. A connection that speaks the binary protocol is closed.
//! - Items are evicted in the exact order of their last use, over all sizes together; slab
//!   classes exist in the statistics only. Statistics about threads, slabs and the LRU machinery
//!   that have no counterpart here are 0.
//! - `incr` and `decr` always pad a number that becomes shorter. memcached does not while somebody
//!   holds the item: a reply on its way, as happens in a pipeline, or its maintenance of the LRU.
//! - A value of white space alone is no number; memcached reads on behind it.
//! - The meta flag `l` and the `la` of `me` tell when an item was last read; memcached 1.6.18 does not
//!   note every read.
//! - When a key is too long in a pipelined `get`, memcached drops replies that are due before it;
//!   here they are sent. In a `gat` it touches the keys before the bad one; here it does not.
//! - A line of keys may have 4 MiB; memcached's is bounded by its memory.
//!
//! Apart from these, replies have been compared byte for byte, CAS numbers included.

mod builder;
mod clock;
mod configuration;
mod connections;
mod counters;
mod fault;
mod gate;
mod host;
mod item;
mod items;
pub mod ledger;
mod lru;
mod machine;
mod observe;
mod outbox;
mod proxy;
mod relay;
mod script;
mod server;
mod session;
mod slab;
mod stats;
mod store;
mod stream;
mod witness;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub use builder::Builder;
pub use clock::{Clock, ManualClock, SystemClock};
pub use configuration::ClusterConfiguration;
pub use fault::{Faults, Times};
pub use observe::{CommandCounts, Stats};
pub use proxy::{FaultProxy, ProxyStats};
pub use script::Script;
pub use server::Server;
pub use steersman_memcached_protocol::server::Verb;
pub use stream::{Duplex, Ending};
pub use witness::Witness;

/// Locks; a panic of another holder does not spread.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
