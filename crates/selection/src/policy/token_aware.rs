//! Token awareness: the replicas of the key before all other nodes.

use std::time::Duration;

use super::dice::Dice;
use super::replicas::{Drawing, ReplicaSet};
use super::{
    Attempt, Call, Candidate, NodeReport, Plan, Policy, ReplicaOrder, Standing, Tier, Turn,
};
use crate::{Locality, NodeIndex, Timestamp, Topology};

/// The replicas of the key first, then the child's plan without them.
///
/// First come those replicas that the child counts as local ([`Tier::Local`]); a replica in
/// another datacenter comes where the child's plan has it. A replica that the child never names,
/// because it is down or not permitted, is left out. A replica that the child holds back (see
/// [`Standing`](crate::Standing)) comes behind the other local ones, so that a
/// [`LatencyAware`](crate::LatencyAware) child keeps its say; this does not depend on the order.
/// Replicas in the rack that the child prefers come before those in others. Without known replicas
/// the plan is the child's.
///
/// In [`ReplicaOrder::Random`], the default, and [`ReplicaOrder::Topological`] the first node is
/// found among the replicas alone. [`ReplicaOrder::Neutral`] has to go through the child's plan
/// until it has found a replica.
///
/// # Examples
///
/// ```
/// use steersman_selection::{
///     Call, Locality, NodeIndex, Plan, Policy, ReplicaOrder, RoundRobin, Timestamp, TokenAware,
///     Topology,
/// };
///
/// let [a, b, c] = [0, 1, 2].map(|index| NodeIndex::try_from(index).unwrap());
/// let mut topology = Topology::new();
/// for node in [a, b, c] {
///     topology.insert(node, Locality::unknown());
/// }
///
/// let policy = TokenAware::new(RoundRobin::new()).order(ReplicaOrder::Topological);
/// let now = Timestamp::from_nanos(0);
/// let replicas = [c, b];
/// let mut plan = policy.plan(Call::new(&topology).replicas(&replicas));
/// assert_eq!(plan.next(now), Some(c));
/// assert_eq!(plan.next(now), Some(b));
/// assert_eq!(plan.next(now), Some(a));
/// assert_eq!(plan.next(now), None);
/// ```
#[derive(Debug)]
pub struct TokenAware<C> {
    child: C,
    order: ReplicaOrder,
    dice: Dice,
}

impl<C> TokenAware<C> {
    /// Around that child, in random order.
    pub fn new(child: C) -> Self {
        Self {
            child,
            order: ReplicaOrder::default(),
            dice: Dice::new(0),
        }
    }

    /// With the replicas in that order.
    pub fn order(mut self, order: ReplicaOrder) -> Self {
        self.order = order;
        self
    }

    /// With the random orders that this seed gives; 0 by default. Give each client one of its own.
    pub fn seed(mut self, seed: u64) -> Self {
        self.dice = Dice::new(seed);
        self
    }

    /// The policy that it is around.
    pub fn child(&self) -> &C {
        &self.child
    }
}

impl<C: Policy> Policy for TokenAware<C> {
    type Plan<'a>
        = TokenAwarePlan<'a, C>
    where
        Self: 'a;

    #[inline]
    fn plan<'a>(&'a self, call: Call<'a>) -> TokenAwarePlan<'a, C> {
        let replicas = call.known_replicas().len();
        let random = match self.order {
            ReplicaOrder::Random if replicas > 0 => Some(self.dice.roll()),
            _ => None,
        };
        // Made now and not when it is needed: what it yields must not depend on when that is.
        let rest = self.child.plan(call);
        let mut left = Drawing::new(replicas, random);
        let (ahead, off_rack) = if self.order == ReplicaOrder::Neutral && replicas > 0 {
            (Some(rest.clone()), ReplicaSet::default())
        } else {
            (
                None,
                left.split_off(|index| self.child.is_off_rack(&call, call.known_replicas()[index])),
            )
        };
        TokenAwarePlan {
            child: &self.child,
            call,
            ahead,
            rest,
            left,
            off_rack,
            held: ReplicaSet::default(),
            yielded: ReplicaSet::default(),
            begun: call.is_continued(),
        }
    }

    fn appraise(
        &self,
        call: &Call<'_>,
        node: NodeIndex,
        now: Timestamp,
        turn: Turn,
    ) -> Option<Candidate> {
        let mut candidate = self.child.appraise(call, node, now, turn)?;
        if candidate.tier == Tier::Local && call.known_replicas().contains(&node) {
            candidate.tier = Tier::Replica;
        }
        Some(candidate)
    }

    #[inline]
    fn is_off_rack(&self, call: &Call<'_>, node: NodeIndex) -> bool {
        self.child.is_off_rack(call, node)
    }

    fn preferred(&self) -> Option<Locality> {
        self.child.preferred()
    }

    fn report(&self, node: NodeIndex, now: Timestamp) -> Option<NodeReport> {
        self.child.report(node, now)
    }

    #[inline]
    fn begin(&self, node: NodeIndex, now: Timestamp) {
        self.child.begin(node, now);
    }

    #[inline]
    fn record(&self, attempt: &Attempt) {
        self.child.record(attempt);
    }

    fn probe(&self, call: &Call<'_>, nth: usize, now: Timestamp) -> Option<NodeIndex> {
        self.child.probe(call, nth, now)
    }

    fn topology_changed(&self, topology: &Topology, now: Timestamp) {
        self.child.topology_changed(topology, now);
    }

    fn tick(&self, now: Timestamp) {
        self.child.tick(now);
    }

    fn tick_every(&self) -> Option<Duration> {
        self.child.tick_every()
    }
}

/// A plan of [`TokenAware`].
pub struct TokenAwarePlan<'a, C: Policy> {
    child: &'a C,
    call: Call<'a>,
    /// In neutral order, the child's plan while it is searched for replicas.
    ahead: Option<C::Plan<'a>>,
    /// The child's plan from its beginning.
    rest: C::Plan<'a>,
    /// The replicas that were not looked at yet.
    left: Drawing,
    /// Those in other racks than the preferred one, until it is their turn.
    off_rack: ReplicaSet,
    /// Those that the child holds back.
    held: ReplicaSet,
    /// Those that the plan has named.
    yielded: ReplicaSet,
    begun: bool,
}

impl<C: Policy> Clone for TokenAwarePlan<'_, C> {
    fn clone(&self) -> Self {
        Self {
            child: self.child,
            call: self.call,
            ahead: self.ahead.clone(),
            rest: self.rest.clone(),
            left: self.left,
            off_rack: self.off_rack,
            held: self.held,
            yielded: self.yielded,
            begun: self.begun,
        }
    }
}

impl<C: Policy> TokenAwarePlan<'_, C> {
    /// The next replica as the child's plan has them.
    fn next_ahead(&mut self, now: Timestamp, turn: Turn) -> Option<Candidate> {
        let replicas = self.call.known_replicas();
        loop {
            let found = match &mut self.ahead {
                Some(ahead) if !self.left.is_empty() => ahead.advance(now, turn),
                _ => None,
            };
            // Further datacenters are not searched: nodes of this one come before their replicas.
            let Some(candidate) = found.filter(|found| found.tier != Tier::Remote) else {
                self.ahead = None;
                self.left = Drawing::new(0, None);
                // Only the first node of a plan is probed, so there is none in this one, and only a
                // replica is. A probe that was given out has to go.
                let probe = found.filter(|found| found.standing == Standing::Probe)?;
                let index = replicas.iter().position(|&node| node == probe.node)?;
                self.yielded.insert(index);
                return Some(probe);
            };
            let index = replicas.iter().position(|&node| node == candidate.node);
            if let Some(index) = index.filter(|&index| self.left.contains(index)) {
                self.left.remove(index);
                self.yielded.insert(index);
                return Some(candidate);
            }
        }
    }

    /// The next replica as this plan draws them: those of the preferred rack first, those that are
    /// held back last.
    #[inline]
    fn next_drawn(&mut self, now: Timestamp, turn: Turn) -> Option<Candidate> {
        loop {
            while let Some(index) = self.left.draw() {
                let node = *self.call.known_replicas().get(index)?;
                // What the child gives out, probes and shares of a ramp, must not be asked for in vain.
                let seen = self.child.appraise(&self.call, node, now, Turn::Rehearsal);
                let Some(seen) = seen.filter(|candidate| candidate.tier != Tier::Remote) else {
                    continue;
                };
                if seen.standing == Standing::Normal {
                    self.yielded.insert(index);
                    return Some(seen);
                } else if let Some(candidate) = self.ask(index, now, turn) {
                    return Some(candidate);
                }
            }
            if self.off_rack.len() == 0 {
                return self.next_held(now, turn);
            }
            self.left.again(std::mem::take(&mut self.off_rack));
        }
    }

    /// A replica that is judged by more than its place, unless it is held back.
    #[cold]
    fn ask(&mut self, index: usize, now: Timestamp, turn: Turn) -> Option<Candidate> {
        let node = self.call.known_replicas()[index];
        let candidate = self.child.appraise(&self.call, node, now, turn)?;
        if candidate.standing.is_held_back() {
            self.held.insert(index);
            return None;
        }
        self.yielded.insert(index);
        Some(candidate)
    }

    #[cold]
    fn next_held(&mut self, now: Timestamp, turn: Turn) -> Option<Candidate> {
        let turn = turn.for_child(true);
        let index = self.held.pop()?;
        self.yielded.insert(index);
        let node = self.call.known_replicas()[index];
        self.child.appraise(&self.call, node, now, turn)
    }

    /// The next node of the child's plan that was not named yet.
    fn next_rest(&mut self, now: Timestamp, turn: Turn) -> Option<Candidate> {
        let replicas = self.call.known_replicas();
        loop {
            let candidate = self.rest.advance(now, turn)?;
            let index = replicas.iter().position(|&node| node == candidate.node);
            if !index.is_some_and(|index| self.yielded.contains(index)) {
                return Some(candidate);
            }
        }
    }
}

impl<C: Policy> Plan for TokenAwarePlan<'_, C> {
    #[inline]
    fn advance(&mut self, now: Timestamp, turn: Turn) -> Option<Candidate> {
        let turn = turn.for_child(self.begun);
        let replica = if self.ahead.is_some() {
            self.next_ahead(now, turn)
        } else {
            self.next_drawn(now, turn)
        };
        let found = match replica {
            Some(candidate) if candidate.tier == Tier::Remote => Some(candidate),
            Some(candidate) => Some(Candidate {
                tier: Tier::Replica,
                ..candidate
            }),
            None => self.next_rest(now, turn),
        };
        self.begun = true;
        found
    }

    /// As far as the node is from the child's plan: replicas that are drawn take no turn there.
    fn passed_over(&mut self) {
        self.rest.passed_over();
    }

    fn report(&self, node: NodeIndex, now: Timestamp) -> Option<NodeReport> {
        self.child.report(node, now)
    }
}
