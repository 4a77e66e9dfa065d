//! The clients: one as it comes, one with everything tight, one with replicas, one with TLS, credentials and
//! discovery; all quick to notice.

use std::ops::Range;
use std::time::Duration;

use steersman_memcached::{Backoff, Builder, Client, Hedge, Replication};

use super::node::Role;

/// The time-out of every call.
pub const TIMEOUT: Duration = Duration::from_millis(300);
/// The longest wait between attempts to connect.
const BACKOFF: Duration = Duration::from_millis(200);

/// How long a call may take in all: its time-out and what a busy machine needs to notice it.
pub const CALL_BOUND: Duration = TIMEOUT.saturating_add(Duration::from_secs(2));

/// Which client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// With the defaults, but for its patience.
    Plain,
    /// With many connections of few requests each, a short queue, and no autobatching.
    Tight,
    /// With each key on two nodes, and hedged reads.
    Replicated,
    /// Of nodes that want TLS and credentials, which it discovers and which come and go.
    Guarded,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Plain, Self::Tight, Self::Replicated, Self::Guarded];

    /// Its nodes, by their numbers.
    pub const fn homes(self) -> Range<usize> {
        match self {
            Self::Plain | Self::Tight | Self::Replicated => Role::OPEN,
            Self::Guarded => Role::WITH_A_GUARD,
        }
    }

    /// Whether its keys whose owner is this node are on other nodes, too: at the same time, or while the node is
    /// no member. Of those only attribution is promised.
    pub fn shares_keys_of(self, home: usize) -> bool {
        match self {
            Self::Plain | Self::Tight => false,
            Self::Replicated => true,
            Self::Guarded => Role::ALL[home] == Role::Guest,
        }
    }

    /// What its keys begin with: what is promised of a key on several nodes is less, so those keys are its
    /// own.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Plain | Self::Tight => "single:",
            Self::Replicated => "replicated:",
            Self::Guarded => "guarded:",
        }
    }

    /// How long making a connection may take; TLS is work, for which a busy machine has to find time.
    const fn connecting(self) -> Duration {
        match self {
            Self::Plain | Self::Tight | Self::Replicated => Duration::from_millis(500),
            Self::Guarded => Duration::from_secs(3),
        }
    }

    /// After how long a silence a connection is given up, be it one that is being made.
    const fn silence(self) -> Duration {
        match self {
            Self::Plain | Self::Tight | Self::Replicated => Duration::from_millis(200),
            Self::Guarded => Duration::from_secs(1),
        }
    }

    /// How long after its cause is gone a fault may be felt: a connection that is dead has to be silent, an
    /// attempt that hangs to be over, the longest back-off to pass, and an attempt to succeed; and what is
    /// added by a busy machine, on which the servers may have to wait for a processor.
    pub const fn healing_bound(self) -> Duration {
        self.silence()
            .saturating_add(self.connecting())
            .saturating_add(BACKOFF)
            .saturating_add(self.connecting())
            .saturating_add(Duration::from_secs(4))
    }

    /// A client of this kind, of nodes that want nothing but to be asked.
    pub fn builder(self, nodes: &[String]) -> Builder {
        let backoff = Backoff {
            initial: BACKOFF / 10,
            max: BACKOFF,
            jitter: 0.5,
        };
        let builder = Client::builder()
            .nodes(nodes.iter().map(String::as_str))
            .timeout(TIMEOUT)
            .connection_timeout(self.connecting())
            .stalled_after(self.silence())
            .backoff(backoff);
        self.shape(builder)
    }

    fn shape(self, builder: Builder) -> Builder {
        match self {
            Self::Plain | Self::Guarded => builder,
            Self::Tight => builder
                .autobatching(false)
                .max_connections(4)
                .open_connection_above(2)
                .max_in_flight(4)
                .max_waiting(8)
                .purge_unused_connections_after(Duration::from_millis(300)),
            Self::Replicated => {
                builder.replicas(Replication::new(2).hedge(Hedge::After(Duration::from_millis(2))))
            }
        }
    }
}
