//! The server's side of the memcached text protocol, without I/O.
//!
//! A [`Parser`] turns the bytes of one connection into [`Event`]s: a [`Request`] to execute, a
//! [`Rejection`] to answer, or the order to close the connection. A [`Reply`] writes itself into
//! the output. Neither reads a socket nor a clock, so a server is a loop around them, and a test
//! can drive them byte by byte.
//!
//! The rules and the error texts are those of memcached 1.6.18 as observed from the outside,
//! quirks included: how `noreply` hides an error, which numbers wrap, which mistakes leave the
//! data block to be read as commands. Clients have to survive exactly these answers.
//!
//! Understood are the classic commands, the meta commands, and ElastiCache's `config get`. The
//! administration of slabs, LRU and log watchers, and the binary protocol are not: the former is
//! answered with `ERROR`, a connection that opens with the binary protocol's magic byte is closed.
//!
//! ```
//! use bytes::BytesMut;
//! use steersman_memcached_protocol::server::{Command, Event, Limits, Parser, Reply};
//!
//! let mut parser = Parser::new(Limits::default());
//! let mut input = BytesMut::from("get greeting\r\n");
//! let mut output = BytesMut::new();
//! while let Some(event) = parser.next(&mut input) {
//!     let Event::Request(request) = event else { continue };
//!     if let Command::Get { keys, .. } = request.command {
//!         for key in keys {
//!             Reply::Value { key: &key, flags: 0, data: b"hello", cas: None }.encode(&mut output);
//!         }
//!         Reply::End.encode(&mut output);
//!     }
//! }
//! assert_eq!(output, "VALUE greeting 0 5\r\nhello\r\nEND\r\n");
//! ```

mod line;
mod meta;
mod parser;
mod reject;
mod reply;
mod request;
mod tokens;

pub use meta::{MetaLine, MetaRequest};
pub use parser::{Event, Limits, Parser, item_size};
pub use reject::Rejection;
pub use reply::Reply;
pub use request::{Command, Keys, Request, StoreMode, Verb};
pub use tokens::{parse_counter, parse_u32};

/// The longest key in bytes.
pub const MAX_KEY_LEN: usize = 250;
