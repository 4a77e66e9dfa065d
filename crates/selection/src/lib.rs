//! Which node a request goes to: the placement of keys on the nodes of a cluster.
//!
//! Pure computation: no I/O, no clock, no random numbers, no async runtime.

mod error;
mod hash;
mod node;
mod placement;

pub use crate::error::{Error, ErrorKind};
pub use crate::node::{Member, NodeIndex};
pub use crate::placement::{Placement, Scheme};
