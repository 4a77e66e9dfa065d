//! The targets of what is logged. They are part of the interface, as filters name them, and do not
//! follow the names of modules; `docs/observability.md` lists them.

/// What happens to single connections.
pub(crate) const CONNECTION: &str = "steersman_memcached::connection";
/// Nodes that become usable or unusable.
pub(crate) const HEALTH: &str = "steersman_memcached::health";
/// Lists of nodes that are found or not.
pub(crate) const DISCOVERY: &str = "steersman_memcached::discovery";
/// Those who listen to the cluster's events.
pub(crate) const EVENTS: &str = "steersman_memcached::events";
/// Requests whose answer nobody waits for.
pub(crate) const UNANSWERED: &str = "steersman_memcached::unanswered";
/// How connections are secured.
#[cfg(feature = "tls")]
pub(crate) const TLS: &str = "steersman_memcached::tls";
/// The requests that a connection's driver takes at a time.
#[cfg(feature = "spans")]
pub(crate) const BATCH: &str = "steersman_memcached::batch";
/// Spans of calls.
#[cfg(feature = "spans")]
pub(crate) const CALL: &str = "steersman_memcached::call";
