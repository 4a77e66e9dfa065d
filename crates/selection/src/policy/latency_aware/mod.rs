//! Latency awareness: nodes that are much slower than the fastest are tried last.
//!
//! The [scoreboard](scoreboard) keeps what is known of each node; the two modes, `reference` and
//! `guarded`, decide by it. A plan asks the scoreboard about each node of its child's plan when it
//! comes to it.

mod builder;
mod event;
mod guarded;
mod mode;
#[cfg(all(test, loom))]
mod models;
mod phase;
mod plan;
mod reference;
mod report;
mod scoreboard;

use std::time::Duration;

pub use self::builder::LatencyAwareBuilder;
pub use self::event::{Change, Counters, Event, Listener};
pub use self::mode::Mode;
pub use self::plan::LatencyAwarePlan;
use self::plan::Progress;
pub use self::report::{Condition, NodeReport, Snapshot};

use self::scoreboard::Scoreboard;
use super::{Attempt, Call, Candidate, Policy, Turn};
use crate::latency::Score;
use crate::{Locality, NodeIndex, Timestamp, Topology};

/// The child's plan, with the nodes last that are much slower than the fastest.
///
/// Each node has a [`Score`], an average of its latencies that forgets with time. A node whose
/// score is more than a [threshold](crate::LatencyParameters::exclusion_threshold) times the lowest
/// one is penalised: it comes last, and so is only used when others fail. Nodes are not sorted by
/// latency; those that are not penalised keep the child's order. How nodes are judged, and how one
/// comes back, depends on the [`Mode`].
///
/// Four things keep it going: [`Policy::topology_changed`] for each topology, [`Policy::record`]
/// for each attempt, [`Policy::tick`] as often as [`Policy::tick_every`] says, and a plan for each
/// request. A plan waits for nobody; who records waits at most for the few instructions of another
/// thread that records for the same node. Neither allocates, as long as no more than 16 nodes are
/// held back in one plan.
///
/// A sample that comes at the same time as the one before, or with an older time, is dropped; so
/// give each attempt the time at which it ended, as exactly as the clock allows.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use steersman_selection::{
///     Attempt, Call, LatencyAware, Locality, NodeIndex, Outcome, Plan, Policy, RoundRobin,
///     Timestamp, Topology,
/// };
///
/// let nodes = [0, 1, 2].map(|index| NodeIndex::try_from(index).unwrap());
/// let mut topology = Topology::new();
/// for node in nodes {
///     topology.insert(node, Locality::unknown());
/// }
///
/// let policy = LatencyAware::new(RoundRobin::new());
/// let mut now = Timestamp::from_nanos(0);
/// policy.topology_changed(&topology, now);
///
/// // Node 0 needs 30 ms for what takes the others 2 ms.
/// for sample in 1..=200 {
///     now = now + Duration::from_millis(5);
///     for (node, latency) in nodes.into_iter().zip([30, 2, 2]) {
///         let latency = Duration::from_millis(latency);
///         policy.record(&Attempt::new(node, now, latency, Outcome::Success));
///     }
///     if sample % 20 == 0 {
///         policy.tick(now);
///     }
/// }
///
/// for _ in 0..3 {
///     let mut plan = policy.plan(Call::new(&topology));
///     assert_ne!(plan.next(now), Some(nodes[0]));
///     assert_ne!(plan.next(now), Some(nodes[0]));
///     assert_eq!(plan.next(now), Some(nodes[0]));
/// }
/// ```
pub struct LatencyAware<C> {
    child: C,
    board: Scoreboard,
}

impl<C> LatencyAware<C> {
    /// Around that child, in guarded mode with the default parameters.
    pub fn new(child: C) -> Self {
        LatencyAwareBuilder::default().build_valid(child)
    }

    /// Around that child, in reference mode with the default parameters.
    pub fn reference(child: C) -> Self {
        LatencyAwareBuilder::default()
            .mode(Mode::Reference)
            .build_valid(child)
    }

    fn with_board(child: C, board: Scoreboard) -> Self {
        Self { child, board }
    }

    /// The policy that it is around.
    pub fn child(&self) -> &C {
        &self.child
    }

    /// What has been measured of a node; `None` if nothing has, or it is not in the topology.
    pub fn score(&self, node: NodeIndex) -> Option<Score> {
        self.board.score(node)
    }

    /// The lowest average of all nodes as of the last tick, in nanoseconds; `None` if there was
    /// none yet. In guarded mode each datacenter has a minimum of its own, and this is the lowest.
    pub fn minimum_nanos(&self) -> Option<i64> {
        self.board.lowest_minimum()
    }

    /// What is known of all nodes of the topology.
    pub fn snapshot(&self, now: Timestamp) -> Snapshot {
        self.board.snapshot(now)
    }

    /// How often things have happened since the policy was made.
    pub fn counters(&self) -> Counters {
        self.board.announcer.counters()
    }
}

impl LatencyAware<()> {
    /// A builder, for other parameters than the defaults.
    pub fn builder() -> LatencyAwareBuilder {
        LatencyAwareBuilder::default()
    }
}

impl<C: std::fmt::Debug> std::fmt::Debug for LatencyAware<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LatencyAware")
            .field("mode", &self.board.mode)
            .field("child", &self.child)
            .finish_non_exhaustive()
    }
}

impl<C: Policy> Policy for LatencyAware<C> {
    type Plan<'a>
        = LatencyAwarePlan<'a, C::Plan<'a>>
    where
        Self: 'a;

    #[inline]
    fn plan<'a>(&'a self, call: Call<'a>) -> Self::Plan<'a> {
        // Built in place: a child's plan may be some hundred bytes.
        LatencyAwarePlan {
            child: self.child.plan(call),
            board: &self.board,
            call,
            progress: Progress::of(&call),
        }
    }

    #[inline]
    fn appraise(
        &self,
        call: &Call<'_>,
        node: NodeIndex,
        now: Timestamp,
        turn: Turn,
    ) -> Option<Candidate> {
        let candidate = self.child.appraise(call, node, now, turn)?;
        let judge = self
            .board
            .judge(now, turn, turn.is_first(call.is_continued()));
        Some(judge.judged(call, candidate))
    }

    #[inline]
    fn is_off_rack(&self, call: &Call<'_>, node: NodeIndex) -> bool {
        self.child.is_off_rack(call, node)
    }

    fn preferred(&self) -> Option<Locality> {
        self.child.preferred()
    }

    fn report(&self, node: NodeIndex, now: Timestamp) -> Option<NodeReport> {
        self.board.report(node, now)
    }

    #[inline]
    fn begin(&self, node: NodeIndex, now: Timestamp) {
        self.child.begin(node, now);
    }

    /// Probes are no requests, so their latencies are not compared with those.
    #[inline]
    fn record(&self, attempt: &Attempt) {
        if !attempt.is_probe() {
            self.board.record(attempt);
        }
        self.child.record(attempt);
    }

    fn probe(&self, call: &Call<'_>, nth: usize, now: Timestamp) -> Option<NodeIndex> {
        self.child.probe(call, nth, now)
    }

    fn topology_changed(&self, topology: &Topology, now: Timestamp) {
        self.board.topology_changed(topology, now);
        self.child.topology_changed(topology, now);
    }

    fn tick(&self, now: Timestamp) {
        self.board.tick(now);
        self.child.tick(now);
    }

    /// The [update rate](crate::LatencyParameters::update_rate), or the child's if that is shorter.
    fn tick_every(&self) -> Option<Duration> {
        let own = self.board.parameters.tick_rate();
        Some(self.child.tick_every().map_or(own, |child| child.min(own)))
    }
}
