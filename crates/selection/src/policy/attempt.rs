//! What an attempt at a request cost: the feedback that policies learn from.

use std::time::Duration;

use crate::time::saturating_nanos;
use crate::{NodeIndex, Timestamp};

/// One finished attempt: a request sent to a node, and how that ended.
///
/// Report each attempt by itself, retries and failures too, with the time that this attempt alone
/// took.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use steersman_selection::{Attempt, NodeIndex, Outcome, Timestamp};
///
/// let attempt = Attempt::new(
///     NodeIndex::default(),
///     Timestamp::from_nanos(5_000_000),
///     Duration::from_millis(2),
///     Outcome::Success,
/// );
/// assert_eq!(attempt.started_at(), Timestamp::from_nanos(3_000_000));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempt {
    node: NodeIndex,
    ended: Timestamp,
    latency_nanos: i64,
    outcome: Outcome,
    part: Part,
}

/// What an attempt is to the requests in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// It was one, and is none any more.
    Request,
    /// It was counted out before, or never in.
    Uncounted,
    /// It was none.
    Probe,
}

impl Attempt {
    /// An attempt at `node` that ended at `ended` and took `latency`, at most 292 years.
    #[inline]
    pub fn new(node: NodeIndex, ended: Timestamp, latency: Duration, outcome: Outcome) -> Self {
        Self {
            node,
            ended,
            latency_nanos: saturating_nanos(latency),
            outcome,
            part: Part::Request,
        }
    }

    /// The same, of an attempt that was recorded before, as timed out, or of whose beginning the
    /// policy was not told by [`Policy::begin`](crate::Policy::begin): it is no longer in flight, or
    /// never was.
    #[inline]
    pub fn uncounted(mut self) -> Self {
        self.part = Part::Uncounted;
        self
    }

    /// The same, of a request that was sent because a policy [wanted a
    /// probe](crate::Policy::probe), and for nothing else.
    #[inline]
    pub fn of_probe(mut self) -> Self {
        self.part = Part::Probe;
        self
    }

    /// The node that was asked.
    #[inline]
    pub fn node(&self) -> NodeIndex {
        self.node
    }

    /// When the attempt ended.
    #[inline]
    pub fn ended_at(&self) -> Timestamp {
        self.ended
    }

    /// When the attempt began.
    #[inline]
    pub fn started_at(&self) -> Timestamp {
        Timestamp::from_nanos(self.ended.nanos().wrapping_sub(self.latency_nanos))
    }

    /// How long it took, in nanoseconds, 0 or more.
    #[inline]
    pub fn latency_nanos(&self) -> i64 {
        self.latency_nanos
    }

    /// How it ended.
    #[inline]
    pub fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// Whether one request less is in flight by its end.
    #[inline]
    pub fn is_counted(&self) -> bool {
        self.part == Part::Request
    }

    /// Whether it was sent as a probe and for nothing else.
    #[inline]
    pub fn is_probe(&self) -> bool {
        self.part == Part::Probe
    }
}

/// How an attempt ended. What a policy makes of each is the policy's matter; see
/// [`Mode`](crate::Mode) for latency awareness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// An answer. A miss is one too.
    Success,
    /// The node tried and failed: it reports a read or write time-out or failure, an error of its
    /// own, or anything that is not one of the other outcomes.
    Failed,
    /// No answer within the client's own time-out.
    TimedOut,
    /// The connection failed under the request, or could not be made.
    Disconnected,
    /// The node refused at once to try: replicas unavailable, overloaded, rate limited,
    /// bootstrapping, or a statement it has not prepared.
    Refused,
    /// The request itself is at fault: invalid, a syntax error, not authorised, already exists.
    Rejected,
    /// The client had no connection free, so the node was not asked.
    Busy,
    /// The client no longer wanted the answer, for instance because another node was faster.
    Cancelled,
}
