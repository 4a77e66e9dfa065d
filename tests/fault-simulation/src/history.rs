//! What became of a run: what clients were told, what servers really did, and what was measured meanwhile.
//! The [invariants](crate::invariants) are about this and nothing else.

use std::time::Duration;

use steersman_memcached::{ErrorKind, PoolMetrics};

use crate::trace::Moment;
use crate::value::{Garbage, Stamp};

/// All of it.
#[derive(Debug, Default)]
pub struct History {
    /// What each client was set to.
    pub clients: Vec<Limits>,
    /// How often a server stores what is written once: 1, but with replicas on nodes whose names may stand
    /// for one server.
    pub copies: usize,
    /// In the order in which they ended.
    pub calls: Vec<Call>,
    /// In the order in which they happened.
    pub facts: Vec<Fact>,
    /// When all clocks went forward at once, and by how much.
    pub leaps: Vec<(Moment, Duration)>,
    /// The figures of pools from time to time.
    pub samples: Vec<Sample>,
    /// How many calls of a single key each client made that are not among the calls, to see whether all is
    /// well.
    pub probes: Vec<u64>,
    /// The figures of clients after they were closed, by client.
    pub closed: Vec<Vec<(String, PoolMetrics)>>,
    /// What was not well when it had to be again.
    pub ailments: Vec<String>,
    /// What was left when all was over.
    pub remains: Remains,
}

/// What the invariants have to know of a client's configuration.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The most connections to a node that take requests.
    pub max_connections: usize,
    /// The most requests on a connection.
    pub max_in_flight: usize,
    /// The most requests that wait for a node.
    pub max_waiting: usize,
    /// The members stay as they are and each key is on one node, so that all figures can be added up.
    pub is_plain: bool,
}

/// A call, of `get_many` the part of one key.
#[derive(Debug, Clone)]
pub struct Call {
    /// Who made it.
    pub client: usize,
    /// What was asked.
    pub asked: Asked,
    /// For which key.
    pub key: String,
    /// When it was made.
    pub begun: Moment,
    /// When it ended.
    pub ended: Moment,
    /// How long it could take; when it was dropped, if it was.
    pub limit: Duration,
    /// How it ended.
    pub outcome: Outcome,
}

impl Call {
    /// Whether nothing came of it.
    pub(crate) fn has_failed(&self) -> bool {
        matches!(self.outcome, Outcome::Failed { .. } | Outcome::Dropped)
    }
}

/// What a call asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Asked {
    /// `get` or `gets`.
    Value,
    /// A key of `get_many`; the first one stands for the call.
    OneOfMany {
        /// Whether it is the first.
        is_first: bool,
    },
    /// `set`, `add`, `cas`: to store the value of this stamp.
    Store(Stamp),
    /// The same without waiting for the reply.
    StoreQuietly(Stamp),
    /// `delete`.
    Delete,
    /// `increment`.
    Count,
    /// `add`, of the number to count.
    Begin,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// There was a value.
    Hit(Result<Stamp, Garbage>),
    /// There was none.
    Miss,
    /// It was done: stored, deleted.
    Done,
    /// Its condition did not hold.
    NotDone,
    /// The number is this now.
    Number(u64),
    /// It failed.
    Failed {
        /// How.
        kind: ErrorKind,
        /// Whether the server may have done it.
        maybe_executed: bool,
        /// Whether it came to a node.
        at_node: bool,
    },
    /// It was dropped.
    Dropped,
}

/// Something that a server did.
#[derive(Debug, Clone)]
pub struct Fact {
    /// Which one.
    pub host: usize,
    /// How often it had lost everything.
    pub life: u64,
    /// When.
    pub when: Moment,
    /// Of which key.
    pub key: String,
    /// What.
    pub deed: Deed,
}

/// What a server did.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Deed {
    /// It looked a key up, and found that.
    Looked(Option<Stamp>),
    /// It stored a value.
    Stored(Stamp),
    /// It did not store a value, for its condition did not hold.
    Declined(Stamp),
    /// It deleted a key, if it was there.
    Deleted {
        /// Whether it was.
        existed: bool,
    },
    /// It counted a number up to this; none if there was no such key.
    Counted(Option<u64>),
    /// It was asked to store a number to count.
    Begun,
}

/// A client's pool at one moment.
#[derive(Debug, Clone)]
pub struct Sample {
    /// When.
    pub when: Moment,
    /// Whose.
    pub client: usize,
    /// Of which node.
    pub node: String,
    /// The figures.
    pub metrics: PoolMetrics,
}

/// What was left at the end.
#[derive(Debug, Clone, Default)]
pub struct Remains {
    /// Calls that had not ended when they all should have.
    pub calls: usize,
    /// Tasks of the clients and the servers.
    pub tasks: usize,
    /// Connections that a client that was closed had left open, by client.
    pub connections: Vec<usize>,
    /// The most bytes that were on the network on one connection in one direction.
    pub most_under_way: usize,
}
