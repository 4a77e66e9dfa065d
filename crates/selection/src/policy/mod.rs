//! Policies: which nodes a request is tried on, and in which order.
//!
//! A [`Policy`] makes a [`Plan`] for each [`Call`] and learns from each [`Attempt`]. Policies nest:
//! one takes another's plan as its raw material. What a nesting needs of its child is in these two
//! traits, so that every chain works, typed or as [`dyn DynPolicy`](DynPolicy).

mod attempt;
mod call;
mod candidate;
mod consistency;
mod datacenter_aware;
mod dice;
mod dynamic;
mod explain;
pub(crate) mod latency_aware;
mod pointers;
mod ranked;
mod recorder;
mod replicas;
mod rotation;
mod round_robin;
mod stash;
mod token_aware;
mod turn;

use std::time::Duration;

pub use self::attempt::{Attempt, Outcome};
pub use self::call::Call;
pub use self::candidate::{Candidate, Standing, Tier};
pub use self::consistency::Consistency;
pub use self::datacenter_aware::{DatacenterAware, DatacenterAwarePlan};
pub use self::dynamic::{BoxPlan, DynPolicy};
pub use self::explain::{Explained, Explanation};
pub use self::latency_aware::{
    Change, Condition, Counters, Event, LatencyAware, LatencyAwareBuilder, LatencyAwarePlan,
    Listener, Mode, NodeReport, Snapshot,
};
pub use self::ranked::{
    Cubic, CubicInFlight, HotCold, HotColdLexicographic, InFlight, LeastInFlight, Pace, PeakEwma,
    PeakLatency, Ranked, RankedBuilder, RankedPlan, Ranking, Steady,
};
pub use self::recorder::Recorder;
pub use self::replicas::{ReplicaOrder, Replicas, ReplicasPlan};
pub use self::round_robin::{RoundRobin, RoundRobinPlan};
pub use self::token_aware::{TokenAware, TokenAwarePlan};
pub use self::turn::Turn;

use crate::{Locality, NodeIndex, Timestamp, Topology};

/// Which nodes a request is tried on, and in which order.
///
/// A policy is shared by all requests; its methods take `&self` and do not block each other. It
/// neither reads a clock nor draws global random numbers: the time is an argument, and chance
/// comes from a generator with a seed.
///
/// All but [`Policy::plan`] and [`Policy::appraise`] have defaults for policies that learn nothing.
/// A policy around another one hands each call on to it.
///
/// # Examples
///
/// A chain for a cluster in two datacenters:
///
/// ```
/// use steersman_selection::{
///     Call, DatacenterAware, LatencyAware, Locality, NodeIndex, Plan, Policy, Timestamp,
///     TokenAware, Topology,
/// };
///
/// let [a, b, c, d] = [0, 1, 2, 3].map(|index| NodeIndex::try_from(index).unwrap());
/// let mut topology = Topology::new();
/// for node in [a, b, c] {
///     topology.insert(node, Locality::datacenter("eu-1"));
/// }
/// topology.insert(d, Locality::datacenter("eu-2"));
///
/// let datacenters = DatacenterAware::new("eu-1").remote_nodes(1);
/// let policy = LatencyAware::new(TokenAware::new(datacenters));
/// let now = Timestamp::from_nanos(0);
/// policy.topology_changed(&topology, now);
///
/// let replicas = [b];
/// let mut plan = policy.plan(Call::new(&topology).replicas(&replicas));
/// assert_eq!(plan.next(now), Some(b)); // the replica first
/// assert_eq!(plan.next(now), Some(a)); // then the rest of the datacenter
/// assert_eq!(plan.next(now), Some(c));
/// assert_eq!(plan.next(now), Some(d)); // then the other datacenter
/// assert_eq!(plan.next(now), None);
/// ```
pub trait Policy: Send + Sync {
    /// The plans that this policy makes.
    type Plan<'a>: Plan
    where
        Self: 'a;

    /// A plan for a call: the nodes to try, to be asked for one by one.
    fn plan<'a>(&'a self, call: Call<'a>) -> Self::Plan<'a>;

    /// How this policy regards one node for a call, without making a plan; `None` if its plans
    /// never name that node.
    ///
    /// A policy that picks nodes itself asks its child about each by this method. If the answer is
    /// not [held back](Standing::is_held_back), the node has to be used: it may be a probe.
    fn appraise(
        &self,
        call: &Call<'_>,
        node: NodeIndex,
        now: Timestamp,
        turn: Turn,
    ) -> Option<Candidate>;

    /// Whether a rack is preferred and the node is in another one. A policy around another one passes
    /// the question on.
    fn is_off_rack(&self, _call: &Call<'_>, _node: NodeIndex) -> bool {
        false
    }

    /// The datacenter, and the rack if there is one, that the policy prefers; `None` if it prefers none.
    /// A policy around another one passes the question on.
    fn preferred(&self) -> Option<Locality> {
        None
    }

    /// What is known of a node apart from any call, for policies that keep records.
    fn report(&self, _node: NodeIndex, _now: Timestamp) -> Option<NodeReport> {
        None
    }

    /// Learns that an attempt at a node begins, for policies that count what is in flight. Each such
    /// attempt ends by one [`Policy::record`], however it ended.
    fn begin(&self, _node: NodeIndex, _now: Timestamp) {}

    /// Learns how an attempt ended.
    fn record(&self, _attempt: &Attempt) {}

    /// A node that the policy wants to hear of, whether or not a request goes there: send it one that
    /// costs it next to nothing, and record that as a [probe](Attempt::of_probe).
    ///
    /// Ask after each call, for the `nth` from 0 on, until the answer is `None`. Whoever cannot probe
    /// never asks.
    fn probe(&self, _call: &Call<'_>, _nth: usize, _now: Timestamp) -> Option<NodeIndex> {
        None
    }

    /// Learns that nodes came or left. Call it before the first plan, and for each new topology.
    fn topology_changed(&self, _topology: &Topology, _now: Timestamp) {}

    /// Does what is to be done regularly, see [`Policy::tick_every`].
    fn tick(&self, _now: Timestamp) {}

    /// How often [`Policy::tick`] should be called; `None` if it need not be.
    fn tick_every(&self) -> Option<Duration> {
        None
    }
}

/// The nodes to try for one call, in order. Each is decided on when it is asked for, with what is
/// known by then.
///
/// A clone goes on from the same place by itself.
pub trait Plan: Clone {
    /// The next node with its tier and standing, `None` at the end and ever after.
    ///
    /// [`Turn::Next`] for whoever sends the request; the other turns are for policies that take
    /// this plan as raw material.
    fn advance(&mut self, now: Timestamp, turn: Turn) -> Option<Candidate>;

    /// Learns that the request begins with the node that was named last, and that those named before
    /// it were put behind: their turns are over.
    ///
    /// For policies that take this plan as raw material. A policy that takes nodes in turn goes on
    /// behind that node with its next plan, so that the turns of nodes that are held back are spread
    /// over all others instead of falling to the one behind them. Others need do nothing.
    fn passed_over(&mut self) {}

    /// What the policy knows of a node, for policies that keep records.
    fn report(&self, _node: NodeIndex, _now: Timestamp) -> Option<NodeReport> {
        None
    }

    /// The next node to try, `None` when there is none left.
    #[inline]
    fn next(&mut self, now: Timestamp) -> Option<NodeIndex> {
        self.advance(now, Turn::Next)
            .map(|candidate| candidate.node)
    }

    /// The nodes that the plan would still yield at `now`, with the reasons. Neither the plan nor
    /// the policy changes by it: no probe is spent and no lot is drawn, so a node whose share is
    /// rising is listed as if it had its turn.
    fn explain(&self, now: Timestamp) -> Explanation {
        explain::explain(self.clone(), now)
    }
}
