//! Policies whose type is chosen at run time.

use std::time::Duration;

use super::{Attempt, Call, Candidate, NodeReport, Plan, Policy, Turn};
use crate::{Locality, NodeIndex, Timestamp, Topology};

/// A [`Policy`] of any type, as a trait object. Every policy is one.
///
/// `dyn DynPolicy` is a policy itself, and so are a `Box` and an `Arc` of it, so that it can be the
/// child of another one. Its plans are boxed, one allocation each; [`DynPolicy::first`] finds the
/// first node without, unless the policy has a trait object for a child.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use steersman_selection::{
///     Call, DynPolicy, LatencyAware, Locality, NodeIndex, Plan, Policy, RoundRobin, Timestamp,
///     TokenAware, Topology,
/// };
///
/// fn configured(token_aware: bool, latency_aware: bool) -> Arc<dyn DynPolicy> {
///     let mut policy: Arc<dyn DynPolicy> = Arc::new(RoundRobin::new());
///     if token_aware {
///         policy = Arc::new(TokenAware::new(policy));
///     }
///     if latency_aware {
///         policy = Arc::new(LatencyAware::new(policy));
///     }
///     policy
/// }
///
/// let mut topology = Topology::new();
/// topology.insert(NodeIndex::default(), Locality::unknown());
/// let now = Timestamp::from_nanos(0);
/// for (token_aware, latency_aware) in [(false, false), (false, true), (true, false), (true, true)] {
///     let policy = configured(token_aware, latency_aware);
///     policy.topology_changed(&topology, now);
///     let call = Call::new(&topology);
///     assert_eq!(policy.first(call, now), Some(NodeIndex::default()));
///     assert_eq!(policy.plan(call).next(now), Some(NodeIndex::default()));
/// }
/// ```
pub trait DynPolicy: Send + Sync {
    /// See [`Policy::plan`].
    fn boxed_plan<'a>(&'a self, call: Call<'a>) -> BoxPlan<'a>;

    /// The first node of a plan for this call, without a box for the plan.
    fn first(&self, call: Call<'_>, now: Timestamp) -> Option<NodeIndex>;

    /// See [`Policy::appraise`].
    fn dyn_appraise(
        &self,
        call: &Call<'_>,
        node: NodeIndex,
        now: Timestamp,
        turn: Turn,
    ) -> Option<Candidate>;

    /// See [`Policy::is_off_rack`].
    fn dyn_is_off_rack(&self, call: &Call<'_>, node: NodeIndex) -> bool;

    /// See [`Policy::preferred`].
    fn dyn_preferred(&self) -> Option<Locality>;

    /// See [`Policy::report`].
    fn dyn_report(&self, node: NodeIndex, now: Timestamp) -> Option<NodeReport>;

    /// See [`Policy::begin`].
    fn dyn_begin(&self, node: NodeIndex, now: Timestamp);

    /// See [`Policy::record`].
    fn dyn_record(&self, attempt: &Attempt);

    /// See [`Policy::probe`].
    fn dyn_probe(&self, call: &Call<'_>, nth: usize, now: Timestamp) -> Option<NodeIndex>;

    /// See [`Policy::topology_changed`].
    fn dyn_topology_changed(&self, topology: &Topology, now: Timestamp);

    /// See [`Policy::tick`].
    fn dyn_tick(&self, now: Timestamp);

    /// See [`Policy::tick_every`].
    fn dyn_tick_every(&self) -> Option<Duration>;
}

impl<P: Policy> DynPolicy for P {
    fn boxed_plan<'a>(&'a self, call: Call<'a>) -> BoxPlan<'a> {
        BoxPlan(Box::new(self.plan(call)))
    }

    fn first(&self, call: Call<'_>, now: Timestamp) -> Option<NodeIndex> {
        self.plan(call).next(now)
    }

    fn dyn_appraise(
        &self,
        call: &Call<'_>,
        node: NodeIndex,
        now: Timestamp,
        turn: Turn,
    ) -> Option<Candidate> {
        self.appraise(call, node, now, turn)
    }

    fn dyn_is_off_rack(&self, call: &Call<'_>, node: NodeIndex) -> bool {
        self.is_off_rack(call, node)
    }

    fn dyn_preferred(&self) -> Option<Locality> {
        self.preferred()
    }

    fn dyn_report(&self, node: NodeIndex, now: Timestamp) -> Option<NodeReport> {
        self.report(node, now)
    }

    fn dyn_begin(&self, node: NodeIndex, now: Timestamp) {
        self.begin(node, now);
    }

    fn dyn_record(&self, attempt: &Attempt) {
        self.record(attempt);
    }

    fn dyn_probe(&self, call: &Call<'_>, nth: usize, now: Timestamp) -> Option<NodeIndex> {
        self.probe(call, nth, now)
    }

    fn dyn_topology_changed(&self, topology: &Topology, now: Timestamp) {
        self.topology_changed(topology, now);
    }

    fn dyn_tick(&self, now: Timestamp) {
        self.tick(now);
    }

    fn dyn_tick_every(&self) -> Option<Duration> {
        self.tick_every()
    }
}

impl Policy for dyn DynPolicy + '_ {
    type Plan<'a>
        = BoxPlan<'a>
    where
        Self: 'a;

    fn plan<'a>(&'a self, call: Call<'a>) -> BoxPlan<'a> {
        self.boxed_plan(call)
    }

    fn appraise(
        &self,
        call: &Call<'_>,
        node: NodeIndex,
        now: Timestamp,
        turn: Turn,
    ) -> Option<Candidate> {
        self.dyn_appraise(call, node, now, turn)
    }

    fn is_off_rack(&self, call: &Call<'_>, node: NodeIndex) -> bool {
        self.dyn_is_off_rack(call, node)
    }

    fn preferred(&self) -> Option<Locality> {
        self.dyn_preferred()
    }

    fn report(&self, node: NodeIndex, now: Timestamp) -> Option<NodeReport> {
        self.dyn_report(node, now)
    }

    fn begin(&self, node: NodeIndex, now: Timestamp) {
        self.dyn_begin(node, now);
    }

    fn record(&self, attempt: &Attempt) {
        self.dyn_record(attempt);
    }

    fn probe(&self, call: &Call<'_>, nth: usize, now: Timestamp) -> Option<NodeIndex> {
        self.dyn_probe(call, nth, now)
    }

    fn topology_changed(&self, topology: &Topology, now: Timestamp) {
        self.dyn_topology_changed(topology, now);
    }

    fn tick(&self, now: Timestamp) {
        self.dyn_tick(now);
    }

    fn tick_every(&self) -> Option<Duration> {
        self.dyn_tick_every()
    }
}

/// A plan of a policy whose type is chosen at run time.
pub struct BoxPlan<'a>(Box<dyn DynPlan + 'a>);

impl Clone for BoxPlan<'_> {
    fn clone(&self) -> Self {
        self.0.clone_boxed()
    }
}

impl Plan for BoxPlan<'_> {
    fn advance(&mut self, now: Timestamp, turn: Turn) -> Option<Candidate> {
        self.0.advance_dyn(now, turn)
    }

    fn passed_over(&mut self) {
        self.0.passed_over_dyn();
    }

    fn report(&self, node: NodeIndex, now: Timestamp) -> Option<NodeReport> {
        self.0.report_dyn(node, now)
    }
}

/// What a plan must do behind a pointer.
trait DynPlan {
    fn clone_boxed<'b>(&self) -> BoxPlan<'b>
    where
        Self: 'b;
    fn advance_dyn(&mut self, now: Timestamp, turn: Turn) -> Option<Candidate>;
    fn passed_over_dyn(&mut self);
    fn report_dyn(&self, node: NodeIndex, now: Timestamp) -> Option<NodeReport>;
}

impl<P: Plan> DynPlan for P {
    fn clone_boxed<'b>(&self) -> BoxPlan<'b>
    where
        Self: 'b,
    {
        BoxPlan(Box::new(self.clone()))
    }

    fn advance_dyn(&mut self, now: Timestamp, turn: Turn) -> Option<Candidate> {
        self.advance(now, turn)
    }

    fn passed_over_dyn(&mut self) {
        self.passed_over();
    }

    fn report_dyn(&self, node: NodeIndex, now: Timestamp) -> Option<NodeReport> {
        self.report(node, now)
    }
}
