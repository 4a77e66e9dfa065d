//! The oracle: a client that knows every queue. What no policy can beat by much.

use steersman_selection::{NodeIndex, Topology};

use super::server::Server;

/// Sends each request where it is expected to be answered first, by what servers have, by what is on the way
/// to them from all clients, and by their pace. It does not know how long any single request takes.
#[derive(Debug)]
pub(super) struct Oracle {
    /// By server, how long a request takes on average when it is well, in nanoseconds.
    means: Vec<f64>,
    /// By server, how many requests are on their way there.
    coming: Vec<u32>,
}

impl Oracle {
    pub(super) fn new(servers: &[Server<'_>]) -> Self {
        Self {
            means: servers.iter().map(Server::mean).collect(),
            coming: vec![0; servers.len()],
        }
    }

    /// The node to send a request to, of its replicas if it has any, that has been sent to `asked` before.
    pub(super) fn choose(
        &self,
        servers: &mut [Server<'_>],
        topology: &Topology,
        replicas: &[NodeIndex],
        asked: &[NodeIndex],
        now: u64,
    ) -> Option<NodeIndex> {
        let candidates = if replicas.is_empty() {
            topology.nodes()
        } else {
            replicas
        };
        let open = candidates.iter().filter(|node| !asked.contains(node));
        let outlooks = open.map(|node| {
            let server = node.get();
            let outlook = servers[server].outlook(now, self.coming[server], self.means[server]);
            (*node, outlook.unwrap_or(f64::INFINITY))
        });
        let best = outlooks.min_by(|(_, one), (_, other)| one.total_cmp(other));
        best.map(|(node, _)| node)
    }

    /// A request has set out for a server.
    pub(super) fn departed(&mut self, server: usize) {
        self.coming[server] += 1;
    }

    /// It is there.
    pub(super) fn reached(&mut self, server: usize) {
        self.coming[server] -= 1;
    }
}
