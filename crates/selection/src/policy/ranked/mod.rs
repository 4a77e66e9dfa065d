//! Ranked policies: in each tier the nodes by what a request would cost there.
//!
//! They share everything but the cost: the [plan](plan) compares nodes of its child's plan, the
//! [board](board) keeps what is known of each, its [phase](phase) keeps nodes that fail or come in from
//! being flooded. A [ranking](ranking) a file says what a policy observes and what it makes of it.

mod board;
mod builder;
mod cubic_in_flight;
mod estimate;
mod hot_cold;
mod least_in_flight;
#[cfg(all(test, loom))]
mod models;
mod peak_ewma;
mod phase;
mod plan;
mod ranking;
mod report;
mod steady;

use std::fmt;
use std::time::Duration;

use self::board::{Asked, Board};
pub use self::builder::RankedBuilder;
pub use self::cubic_in_flight::{Cubic, CubicInFlight};
pub use self::hot_cold::{HotCold, HotColdLexicographic};
pub use self::least_in_flight::{InFlight, LeastInFlight};
pub use self::peak_ewma::{PeakEwma, PeakLatency};
pub use self::plan::RankedPlan;
pub use self::ranking::Ranking;
pub use self::steady::{Pace, Steady};
use super::{Attempt, Call, Candidate, NodeReport, Policy, Turn};
use crate::{Locality, NodeIndex, Timestamp, Topology};

/// How often records are looked at as a whole, by the rankings that do.
const TICK: Duration = Duration::from_millis(100);

/// The child's plan, with the nodes of each [tier](crate::Tier) by what a request would cost there now.
///
/// What that cost is makes the policy: [`PeakEwma`], [`LeastInFlight`] and their like are names for
/// this type with the ranking that they are named after. All of them
///
/// - compare some nodes of the tier that they draw by lot, the *choices*, and take the cheapest: of all
///   nodes, everybody would find the same one the cheapest. The order within a tier is the policy's own,
///   the order of tiers is the child's.
/// - count what is in flight, so tell them of each attempt's beginning by [`Policy::begin`] and of its
///   end by [`Policy::record`], be it cancelled. Otherwise they see latencies alone.
/// - give no request to failing nodes for being quick: a first and a second failure in a row count for
///   one and for three requests in flight until the node answers (or the retry period is over). The third
///   holds it back: it comes last in its tier, and is tried by one request a second later, then after 2 s
///   and so on up to the retry period. Once such a probe is answered its share rises to the full one
///   within the ramp. So do the shares of nodes that come in among others.
/// - send one request, and not another before it has ended, to a node of which nothing is known: because
///   it is new, or was not heard of for long.
///
/// Put them around [`TokenAware`](crate::TokenAware) and [`DatacenterAware`](crate::DatacenterAware). As
/// the child of a `TokenAware` in another order than
/// [`ReplicaOrder::Neutral`](crate::ReplicaOrder::Neutral) they only say which nodes are held back.
///
/// A plan waits for nobody and allocates nothing as long as no more than 16 nodes of a tier are held
/// back; nor do [`Policy::begin`] and [`Policy::record`]. Of tiers with more than 16 nodes the choices are
/// drawn among the next 16 of the child's plan.
pub struct Ranked<C, R: Ranking> {
    child: C,
    board: Board<R>,
}

impl<C, R: Ranking> Ranked<C, R> {
    /// Around that child, with the defaults.
    pub fn new(child: C) -> Self {
        RankedBuilder::default().build_valid(child)
    }

    /// The policy that it is around.
    pub fn child(&self) -> &C {
        &self.child
    }

    /// What is known of all nodes of the topology, by their index.
    pub fn snapshot(&self, now: Timestamp) -> Vec<NodeReport> {
        let members = self.board.members();
        let reports = members.iter();
        reports
            .filter_map(|&node| report::of(&self.board, node, now))
            .collect()
    }

    /// How many bytes are kept for each node.
    pub const fn bytes_per_node() -> usize {
        size_of::<board::Entry<R::Record>>()
    }
}

impl<R: Ranking> Ranked<(), R> {
    /// A builder, for other parameters than the defaults.
    pub fn builder() -> RankedBuilder<R> {
        RankedBuilder::default()
    }
}

impl<C: fmt::Debug, R: Ranking> fmt::Debug for Ranked<C, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(R::NAME)
            .field("choices", &self.board.choices)
            .field("child", &self.child)
            .finish_non_exhaustive()
    }
}

impl<C: Policy, R: Ranking> Policy for Ranked<C, R> {
    type Plan<'a>
        = RankedPlan<'a, C::Plan<'a>, R>
    where
        Self: 'a;

    #[inline]
    fn plan<'a>(&'a self, call: Call<'a>) -> Self::Plan<'a> {
        RankedPlan::new(self.child.plan(call), &self.board, call)
    }

    fn appraise(
        &self,
        call: &Call<'_>,
        node: NodeIndex,
        now: Timestamp,
        turn: Turn,
    ) -> Option<Candidate> {
        let candidate = self.child.appraise(call, node, now, turn)?;
        let asked = Asked {
            call,
            now,
            random: self.board.dice.roll(),
            is_first: turn.is_first(call.is_continued()),
            is_rehearsal: turn == Turn::Rehearsal,
        };
        Some(self.board.judged(&asked, candidate))
    }

    fn is_off_rack(&self, call: &Call<'_>, node: NodeIndex) -> bool {
        self.child.is_off_rack(call, node)
    }

    fn preferred(&self) -> Option<Locality> {
        self.child.preferred()
    }

    fn report(&self, node: NodeIndex, now: Timestamp) -> Option<NodeReport> {
        report::of(&self.board, node, now)
    }

    #[inline]
    fn begin(&self, node: NodeIndex, now: Timestamp) {
        self.board.begin(node, now);
        self.child.begin(node, now);
    }

    #[inline]
    fn record(&self, attempt: &Attempt) {
        self.board.record(attempt);
        self.child.record(attempt);
    }

    fn probe(&self, call: &Call<'_>, nth: usize, now: Timestamp) -> Option<NodeIndex> {
        let own = self.board.probe(call, nth, now);
        own.or_else(|| self.child.probe(call, nth, now))
    }

    fn topology_changed(&self, topology: &Topology, now: Timestamp) {
        self.board.topology_changed(topology, now);
        self.child.topology_changed(topology, now);
    }

    fn tick(&self, now: Timestamp) {
        self.board.tick();
        self.child.tick(now);
    }

    /// 100 ms if the ranking needs it, or as often as the child needs it.
    fn tick_every(&self) -> Option<Duration> {
        let own = R::TICKS.then_some(TICK);
        let child = self.child.tick_every();
        own.into_iter().chain(child).min()
    }
}
