//! gomemcache, a client for Go: CRC-32 modulo the number of nodes, in the order of the list.

use super::list::List;
use super::{Node, active};
use crate::hash::crc::crc32;

pub(super) fn list(nodes: &[Node]) -> List {
    List::modulo(crc32, active(nodes))
}
