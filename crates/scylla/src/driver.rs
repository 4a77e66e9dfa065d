//! The driver's terms in those of the policies.

use scylla::cluster::{ClusterState, Node};
use scylla::errors::{DbError, RequestAttemptError};
use scylla::frame::response::result::TableSpec;
use scylla::policies::load_balancing::RoutingInfo;
use scylla::routing::{Shard, Token};
use scylla::statement::Consistency as DriverConsistency;
use steersman_selection::{Consistency, Locality, NodeIndex, Outcome};

use crate::plan::Request;
use crate::replicas::{Place, Replicas};
use crate::ring::Ring;
use crate::roster::{Roster, Sighting};
use crate::view::View;

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
pub(crate) fn request<'a>(
    info: &RoutingInfo<'_>,
    cluster: &ClusterState,
    view: &'a View,
) -> Request<'a> {
    Request {
        replicas: replicas(info, cluster, view).unwrap_or(Replicas::OfRing(&[])),
        consistency: consistency(info.consistency),
        is_lightweight_transaction: info.should_route_as_lwt(),
    }
}

#[inline]
fn replicas<'a>(
    info: &RoutingInfo<'_>,
    cluster: &ClusterState,
    view: &'a View,
) -> Option<Replicas<'a>> {
    let (token, table) = (info.token?, info.table?);
    let find = || {
        let found = found(token, table, cluster, &view.roster);
        found.map(|(node, _)| node).collect()
    };
    // A request that goes on under an earlier state must not leave its replicas to later ones.
    let ring = view.is_of(cluster).then_some(&view.ring);
    let kept = ring.and_then(|ring| ring.replicas(table.ks_name(), token.value(), find));
    Some(match kept {
        Some(nodes) => Replicas::OfRing(nodes),
        None => Replicas::of_tablet(found(token, table, cluster, &view.roster)),
    })
}

/// The replicas as the driver finds them.
fn found<'a>(
    token: Token,
    table: &TableSpec<'_>,
    cluster: &'a ClusterState,
    roster: &'a Roster,
) -> impl Iterator<Item = (NodeIndex, Shard)> + use<'a> {
    let keyspace = cluster.get_keyspace(table.ks_name());
    let found = keyspace.map(|keyspace| {
        let locator = cluster.replica_locator();
        let set = locator.replicas_for_token(token, &keyspace.strategy, None, table);
        set.into_replicas_ordered().into_iter()
    });
    let known = found.into_iter().flatten();
    known.filter_map(|(node, shard)| Some((roster.index(node.host_id)?, shard)))
}

/// The shard to ask of a node: the one that keeps the key if it is a replica, else none in
/// particular.
#[inline]
pub(crate) fn shard(
    info: &RoutingInfo<'_>,
    request: &Request<'_>,
    view: &View,
    index: NodeIndex,
) -> Option<Shard> {
    match request.replicas.place(index)? {
        Place::In(shard) => Some(shard),
        Place::OfToken => {
            let (token, member) = (info.token?, view.roster.member(index)?);
            let sharder = view.nodes.get(member.position)?.sharder.as_ref();
            // A node without shards of its own, as Cassandra's are, is one shard.
            Some(sharder.map_or(0, |sharder| sharder.shard_of(token)))
        }
    }
}

/// The ring of a state of the cluster, with the keyspaces that are on it.
pub(crate) fn ring(cluster: &ClusterState) -> Ring {
    let entries = cluster.replica_locator().ring().iter();
    let tokens = entries.map(|(token, _)| token.value()).collect();
    let keyspaces = cluster.keyspaces_iter();
    let on_ring = keyspaces.filter(|(_, keyspace)| !keyspace.tablet_based);
    Ring::new(tokens, on_ring.map(|(name, _)| name.to_owned()))
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
