//! Real memcached servers, and how both sides write them down.

use std::time::Duration;

use steersman_e2e::memcached::RealMemcached;
use steersman_memcached::{Client, Scheme};

use crate::peer::{Peer, Program};

pub(crate) struct World {
    servers: Vec<RealMemcached>,
    host: &'static str,
    weights: [u32; 3],
}

impl World {
    /// Three servers that clients know by their addresses, of equal weights.
    pub(crate) fn start() -> Self {
        Self::of(3)
    }

    /// One, where all placements agree.
    pub(crate) fn alone() -> Self {
        Self::of(1)
    }

    fn of(count: usize) -> Self {
        let server = |_| RealMemcached::start().unwrap_or_else(|error| panic!("{error}"));
        Self {
            servers: (0..count).map(server).collect(),
            host: "127.0.0.1",
            weights: [1; 3],
        }
    }

    /// By a name of their host instead.
    pub(crate) fn on(mut self, host: &'static str) -> Self {
        self.host = host;
        self
    }

    pub(crate) fn weighted(mut self, weights: [u32; 3]) -> Self {
        self.weights = weights;
        self
    }

    fn nodes(&self) -> impl Iterator<Item = (String, u32)> {
        let ports = self.servers.iter().map(|server| server.addr().port());
        let names = ports.map(|port| format!("{}:{port}", self.host));
        names.zip(self.weights)
    }

    /// The other client.
    pub(crate) fn peer(&self, program: Program, placement: &str) -> Peer {
        let nodes = self.nodes();
        Peer::start(
            program,
            placement,
            nodes.map(|(name, weight)| format!("{name}={weight}")),
        )
    }

    /// Ours.
    pub(crate) fn client(&self, placement: &str) -> Client {
        let scheme: Scheme = placement.parse().unwrap_or_else(|error| panic!("{error}"));
        Client::builder()
            .nodes(
                self.nodes()
                    .map(|(name, weight)| format!("{name}*{weight}")),
            )
            .placement(scheme)
            .timeout(Duration::from_secs(20))
            .build()
            .unwrap_or_else(|error| panic!("{error}"))
    }
}
