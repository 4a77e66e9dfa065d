//! Status: what is known of the cluster's nodes, for people and for metrics.

use std::net::SocketAddr;
use std::sync::Arc;

use scylla::cluster::ClusterState;
use scylla::routing::Sharder;
use steersman_selection::NodeReport;
use uuid::Uuid;

/// What is known of one node; see [`LoadBalancer::status`](crate::LoadBalancer::status).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct NodeStatus {
    /// The node's identity, which stays when its address changes.
    pub host_id: Uuid,
    /// The address that the node broadcasts, before any translation.
    pub address: SocketAddr,
    /// Its datacenter, if known.
    pub datacenter: Option<String>,
    /// Its rack, if known.
    pub rack: Option<String>,
    /// Whether the driver had a connection to it at the last tick.
    pub is_connected: bool,
    /// How the chain regards it, if the chain keeps records.
    pub report: Option<NodeReport>,
    /// For how many requests it was the first choice, since it came in.
    pub picks: u64,
    /// How many of those, and of the further attempts that were [listened
    /// to](crate::LoadBalancer#listening-to-the-history), have not been answered and are not waited for
    /// any longer.
    pub unanswered: u64,
    /// How many were answered after they had been taken to be unanswered.
    pub late: u64,
}

/// What a node is called, and how it is made.
#[derive(Debug)]
pub(crate) struct Identity {
    pub(crate) host_id: Uuid,
    pub(crate) address: SocketAddr,
    /// The address, for recorders.
    pub(crate) name: Arc<str>,
    pub(crate) datacenter: Option<String>,
    pub(crate) rack: Option<String>,
    /// How it divides tokens among its shards, if it has any.
    pub(crate) sharder: Option<Sharder>,
}

/// In the order of the driver's list.
pub(crate) fn identities(cluster: &ClusterState) -> Vec<Identity> {
    let nodes = cluster.get_nodes_info().iter();
    let identities = nodes.map(|node| {
        let address = SocketAddr::new(node.address.ip(), node.address.port());
        Identity {
            host_id: node.host_id,
            address,
            name: address.to_string().into(),
            datacenter: node.datacenter.clone(),
            rack: node.rack.clone(),
            sharder: node.sharder(),
        }
    });
    identities.collect()
}
