//! memcachio 0.5.1, a client for Python: the highest MD5 of `NODE:KEY`, where the node is written as
//! Python does its locator: `TCPEndpoint(host='10.0.0.1', port=11211)`.

use std::sync::Arc;

use super::scores::Scores;
use super::{Node, active};
use crate::hash::digest::md5_number;
use crate::placement::address::Address;
use crate::{Error, NodeIndex};

pub(super) fn text(name: &str) -> Result<String, Error> {
    Ok(match Address::of(name)? {
        Address::Tcp { host, port } => format!("TCPEndpoint(host='{host}', port={port}):"),
        Address::Unix { path } => format!("{path}:"),
    })
}

pub(super) fn scores(nodes: &[Node]) -> Scores {
    let nodes = active(nodes).map(|node| (Arc::clone(&node.text), node.index));
    Scores::Memcachio(Memcachio {
        nodes: nodes.collect(),
    })
}

/// What is hashed of the nodes before the key.
#[derive(Debug, Clone)]
pub(super) struct Memcachio {
    nodes: Arc<[(Arc<str>, NodeIndex)]>,
}

impl Memcachio {
    #[inline]
    pub(super) fn each(&self, key: &[u8], mut visit: impl FnMut(u128, NodeIndex)) {
        for (text, index) in self.nodes.iter() {
            visit(md5_number(text.as_bytes(), key), *index);
        }
    }
}
