//! The driver's terms in those of the policies.

use scylla::cluster::{ClusterState, Node};
use scylla::errors::{DbError, RequestAttemptError};
use scylla::policies::load_balancing::RoutingInfo;
use scylla::statement::Consistency as DriverConsistency;
use steersman_selection::{Consistency, Locality, Outcome};

use crate::plan::Request;
use crate::replicas::Replicas;
use crate::roster::{Roster, Sighting};

/// What an error says of the node that it came from.
pub(crate) fn outcome(error: &RequestAttemptError) -> Outcome {
    use RequestAttemptError as Attempt;
    match error {
        Attempt::DbError(error, _) => answered(error),
        Attempt::BrokenConnectionError(_) => Outcome::Disconnected,
        Attempt::UnableToAllocStreamId => Outcome::Busy,
        // The request never left, or cannot be understood by whichever node.
        Attempt::SerializationError(_)
        | Attempt::CqlRequestSerialization(_)
        | Attempt::RepreparedIdChanged { .. }
        | Attempt::RepreparedIdMissingInBatch
        | Attempt::NonfinishedPagingState => Outcome::Rejected,
        // An answer that cannot be read, and whatever later versions add.
        _ => Outcome::Failed,
    }
}

fn answered(error: &DbError) -> Outcome {
    match error {
        DbError::Unavailable { .. }
        | DbError::Overloaded
        | DbError::IsBootstrapping
        | DbError::RateLimitReached { .. }
        | DbError::Unprepared { .. } => Outcome::Refused,
        DbError::SyntaxError
        | DbError::Invalid
        | DbError::AlreadyExists { .. }
        | DbError::FunctionFailure { .. }
        | DbError::AuthenticationError
        | DbError::Unauthorized
        | DbError::ConfigError
        | DbError::ProtocolError => Outcome::Rejected,
        _ => Outcome::Failed,
    }
}

#[inline]
fn consistency(level: DriverConsistency) -> Consistency {
    match level {
        DriverConsistency::Any => Consistency::Any,
        DriverConsistency::One => Consistency::One,
        DriverConsistency::Two => Consistency::Two,
        DriverConsistency::Three => Consistency::Three,
        DriverConsistency::Quorum => Consistency::Quorum,
        DriverConsistency::All => Consistency::All,
        DriverConsistency::LocalQuorum => Consistency::LocalQuorum,
        DriverConsistency::EachQuorum => Consistency::EachQuorum,
        DriverConsistency::Serial => Consistency::Serial,
        DriverConsistency::LocalSerial => Consistency::LocalSerial,
        DriverConsistency::LocalOne => Consistency::LocalOne,
    }
}

/// A request as the policies see it.
#[inline]
pub(crate) fn request(info: &RoutingInfo<'_>, cluster: &ClusterState, roster: &Roster) -> Request {
    Request {
        replicas: replicas(info, cluster, roster).unwrap_or_default(),
        consistency: consistency(info.consistency),
        is_lightweight_transaction: info.should_route_as_lwt(),
    }
}

#[inline]
fn replicas(info: &RoutingInfo<'_>, cluster: &ClusterState, roster: &Roster) -> Option<Replicas> {
    let (token, table) = (info.token?, info.table?);
    let strategy = &cluster.get_keyspace(table.ks_name())?.strategy;
    let locator = cluster.replica_locator();
    let set = locator.replicas_for_token(token, strategy, None, table);
    let mut replicas = Replicas::default();
    let mut push = |node: &Node, shard| {
        if let Some(index) = roster.index(node.host_id) {
            replicas.push(index, shard);
        }
    };
    // Across datacenters the order of the ring takes a computation, which only transactions need.
    if info.should_route_as_lwt() {
        set.into_replicas_ordered()
            .into_iter()
            .for_each(|(node, shard)| push(node, shard));
    } else {
        set.into_iter().for_each(|(node, shard)| push(node, shard));
    }
    Some(replicas)
}

/// The nodes of a cluster as they are now.
pub(crate) fn sightings(cluster: &ClusterState) -> Vec<Sighting> {
    let nodes = cluster.get_nodes_info().iter();
    let seen = nodes.map(|node| Sighting {
        host_id: node.host_id,
        locality: locality(node),
        is_enabled: node.is_enabled(),
        is_connected: node.is_connected(),
    });
    seen.collect()
}

fn locality(node: &Node) -> Locality {
    let datacenter = node.datacenter.as_deref().unwrap_or_default();
    let locality = Locality::datacenter(datacenter);
    match node.rack.as_deref() {
        Some(rack) => locality.rack(rack),
        None => locality,
    }
}

#[cfg(test)]
mod tests;
