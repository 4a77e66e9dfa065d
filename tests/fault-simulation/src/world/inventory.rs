//! The list of members, as a service would know it, and the discovery that asks for it.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use steersman_memcached::{Dialer, Discovered, Discovery, DiscoveryError, NodeConfig};

use crate::lock;
use crate::network::Temper;

/// The list; clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Inventory(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    nodes: Vec<String>,
    version: u64,
    temper: Temper,
}

impl Inventory {
    pub(crate) fn list(&self, nodes: Vec<String>) {
        let mut state = lock(&self.0);
        state.nodes = nodes;
        state.version += 1;
    }

    pub(crate) fn set_temper(&self, temper: Temper) {
        lock(&self.0).temper = temper;
    }
}

impl Discovery for Inventory {
    async fn discover(&mut self, _: &Dialer) -> Result<Discovered, DiscoveryError> {
        tokio::time::sleep(Duration::from_millis(1)).await;
        let (temper, nodes, version) = {
            let state = lock(&self.0);
            (state.temper, state.nodes.clone(), state.version)
        };
        let nodes = match temper {
            Temper::Well => nodes,
            Temper::Empty => Vec::new(),
            Temper::Failing => return Err(io::Error::from(io::ErrorKind::NotFound).into()),
            Temper::Silent => std::future::pending().await,
        };
        let nodes = nodes
            .iter()
            .map(|node| node.parse())
            .collect::<Result<Vec<NodeConfig>, _>>()?;
        Ok(Discovered::new(nodes).version(version))
    }

    fn source(&self) -> String {
        "the inventory".to_owned()
    }
}
