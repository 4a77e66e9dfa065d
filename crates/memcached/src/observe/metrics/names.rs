//! All metrics: their names, units and what they are. `docs/observability.md` has the same list for
//! users; a test compares it with what is exported.
//!
//! Those that OpenTelemetry's conventions for database clients name are called as there.

use ::metrics::{Unit, describe_counter, describe_gauge, describe_histogram};

/// What a metric is to the facade.
#[derive(Clone, Copy)]
enum Kind {
    Counter,
    Gauge,
    Histogram,
}

/// Makes the constants and the list of them.
macro_rules! metrics {
    ($($name:ident = $text:literal, $kind:ident, $unit:ident, $what:literal;)*) => {
        $(pub(super) const $name: &str = $text;)*

        const ALL: &[(&str, Kind, Unit, &str)] =
            &[$(($text, Kind::$kind, Unit::$unit, $what)),*];
    };
}

metrics! {
    DURATION = "db.client.operation.duration", Histogram, Seconds,
        "How long calls take, from their first poll to their end";
    CONNECTIONS = "db.client.connection.count", Gauge, Count,
        "Connections that stand, idle or with requests in flight";
    MAX_CONNECTIONS = "db.client.connection.max", Gauge, Count,
        "The most connections there may be";
    MIN_CONNECTIONS = "db.client.connection.idle.min", Gauge, Count,
        "How many connections are made ahead of use and kept";
    WAITING = "db.client.connection.pending_requests", Gauge, Count,
        "Requests that wait for a place on a connection or for the connection";
    FOUND_NO_PLACE = "db.client.connection.timeouts", Counter, Count,
        "Calls whose time was up before they had a place on a connection";
    CREATE_TIME = "db.client.connection.create_time", Histogram, Seconds,
        "How long it takes to make a connection, TLS and credentials included";
    OPERATIONS = "steersman.memcached.operations", Counter, Count,
        "Calls that have ended";
    ATTEMPTS = "steersman.memcached.attempts", Counter, Count,
        "What single replicas were asked for calls to several, and how that has ended";
    ATTEMPT_DURATION = "steersman.memcached.attempt.duration", Histogram, Seconds,
        "How long replicas take to answer";
    LOOKUPS = "steersman.memcached.lookups", Counter, Count,
        "Keys whose value a node was asked for";
    REQUESTS = "steersman.memcached.requests", Counter, Count,
        "Requests that have ended, whose future was dropped included";
    WAITED = "steersman.memcached.requests.waited", Counter, Count,
        "Requests that had to wait for a place or a connection";
    IN_FLIGHT = "steersman.memcached.requests.in_flight", Gauge, Count,
        "Requests on connections";
    IO = "steersman.memcached.io", Counter, Bytes,
        "Bytes read from and written to connections, before TLS";
    BATCH_KEYS = "steersman.memcached.batch.keys", Histogram, Count,
        "Distinct keys in each line that asks for values";
    BATCH_REQUESTS = "steersman.memcached.batch.requests", Histogram, Count,
        "Requests that a connection takes to the wire at a time";
    OPENED = "steersman.memcached.connections.opened", Counter, Count,
        "Connections made";
    RECONNECTED = "steersman.memcached.connections.reconnected", Counter, Count,
        "Connections made after one had failed or was lost";
    REFUSED = "steersman.memcached.connections.failed", Counter, Count,
        "Attempts to connect that failed";
    CLOSED = "steersman.memcached.connections.closed", Counter, Count,
        "Connections closed for whatever reason";
    PURGED = "steersman.memcached.connections.purged", Counter, Count,
        "Connections closed because they were not needed";
    HEALTHY = "steersman.memcached.node.healthy", Gauge, Count,
        "1 if the node is healthy, else 0";
    HEALTH_CHANGES = "steersman.memcached.node.health_changes", Counter, Count,
        "How often the node became healthy or unhealthy";
    NODES = "steersman.memcached.nodes", Gauge, Count,
        "Members of the cluster";
    DISCOVERIES = "steersman.memcached.discoveries", Counter, Count,
        "Attempts to find the list of nodes";
    READS = "steersman.memcached.replication.reads", Counter, Count,
        "Reads along the policy's plan";
    HEDGES = "steersman.memcached.replication.hedges", Counter, Count,
        "Reads that asked another replica because one was slow, or could not for want of budget";
    CANCELLED = "steersman.memcached.replication.cancelled", Counter, Count,
        "Attempts that were given up because another replica answered first";
    FAILOVERS = "steersman.memcached.replication.failovers", Counter, Count,
        "Reads that turned to another replica after an outage or the attempt time-out";
    REPAIRS = "steersman.memcached.replication.repairs", Counter, Count,
        "Misses that were given the value that another replica had";
    SCORE = "steersman.memcached.policy.latency", Gauge, Seconds,
        "The average latency by which the policy regards the node";
    PENALISED = "steersman.memcached.policy.penalised", Gauge, Count,
        "1 if the policy avoids the node, else 0";
    TRANSITIONS = "steersman.memcached.policy.transitions", Counter, Count,
        "How often the policy has come to regard the node in that way";
}

/// Describes all of them to the recorder.
pub(super) fn describe() {
    for &(name, kind, unit, what) in ALL {
        match kind {
            Kind::Counter => describe_counter!(name, unit, what),
            Kind::Gauge => describe_gauge!(name, unit, what),
            Kind::Histogram => describe_histogram!(name, unit, what),
        }
    }
}
