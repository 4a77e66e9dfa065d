//! Plans: the order in which the nodes of a roster are tried for one request.
//!
//! Both halves of the driver's plan, the pick and the fallback, are steps of the same [`Steps`]. It
//! is generic over the policy and knows nothing of the driver.

use smallvec::SmallVec;
use steersman_selection::{
    Call, Consistency, Explanation, NodeIndex, Plan, Policy, Tier, Timestamp, Turn,
};

use crate::replicas::Replicas;
use crate::roster::Roster;

/// A request as the driver describes it.
#[derive(Debug)]
pub(crate) struct Request<'r> {
    pub(crate) replicas: Replicas<'r>,
    pub(crate) consistency: Consistency,
    /// A lightweight transaction. All clients should send those of one key to the same replica,
    /// else their Paxos rounds get in each other's way.
    pub(crate) is_lightweight_transaction: bool,
}

impl Request<'_> {
    /// The node to begin with. `accept` says whether a node can be asked now.
    #[inline]
    pub(crate) fn first<P: Policy>(
        &self,
        policy: &P,
        roster: &Roster,
        now: Timestamp,
        mut accept: impl FnMut(NodeIndex) -> bool,
    ) -> Option<NodeIndex> {
        let call = self.call(roster);
        if self.is_lightweight_transaction
            && let Some(node) = self.in_order(policy, &call, now).find(|&node| accept(node))
        {
            return Some(node);
        }
        let mut plan = policy.plan(call);
        loop {
            let node = plan.next(now)?;
            if accept(node) {
                return Some(node);
            }
        }
    }

    /// The plan of the policy. That of a lightweight transaction is another one: the replicas in
    /// their order.
    pub(crate) fn explain<P: Policy>(
        &self,
        policy: &P,
        roster: &Roster,
        now: Timestamp,
    ) -> Explanation {
        policy.plan(self.call(roster)).explain(now)
    }

    #[inline]
    fn call<'a>(&'a self, roster: &'a Roster) -> Call<'a> {
        self.on(roster.live())
    }

    #[inline]
    fn on<'a>(&'a self, topology: &'a steersman_selection::Topology) -> Call<'a> {
        Call::new(topology)
            .replicas(self.replicas.nodes())
            .consistency(self.consistency)
    }

    /// The replicas that the policy permits in the order of the ring, those that it counts as
    /// remote last. How it judges them does not matter.
    fn in_order<'a, P: Policy>(
        &'a self,
        policy: &'a P,
        call: &'a Call<'a>,
        now: Timestamp,
    ) -> impl Iterator<Item = NodeIndex> {
        let permitted = move |remote: bool| {
            self.replicas.nodes().iter().copied().filter(move |&node| {
                policy
                    .appraise(call, node, now, Turn::Rehearsal)
                    .is_some_and(|candidate| (candidate.tier == Tier::Remote) == remote)
            })
        };
        permitted(false).chain(permitted(true))
    }
}

/// The nodes to go on with when the first one has failed or is late.
///
/// A plan of the policy borrows the topology and the replicas, which the driver's iterator would have
/// to own as well, so each step makes a plan anew and passes over what it has named before. That
/// costs a little more than to keep one plan, in a place where a request has already cost a lot; and
/// each step is decided by what is known by then.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    named: SmallVec<[NodeIndex; 8]>,
}

impl Steps {
    /// The next node, if there is one left. Nodes that are not connected come last: they may have
    /// come back unnoticed, and an empty plan is an error.
    pub(crate) fn next<P: Policy>(
        &mut self,
        policy: &P,
        roster: &Roster,
        request: &Request<'_>,
        now: Timestamp,
    ) -> Option<NodeIndex> {
        let found = self.find(policy, roster, request, now)?;
        self.named.push(found);
        Some(found)
    }

    fn find<P: Policy>(
        &self,
        policy: &P,
        roster: &Roster,
        request: &Request<'_>,
        now: Timestamp,
    ) -> Option<NodeIndex> {
        let is_new = |node: &NodeIndex| !self.named.contains(node);
        let call = request.call(roster).continued();
        if request.is_lightweight_transaction
            && let Some(node) = request.in_order(policy, &call, now).find(is_new)
        {
            return Some(node);
        }
        let last_resort = request.on(roster.enabled()).continued();
        [call, last_resort].into_iter().find_map(|call| {
            let mut plan = policy.plan(call);
            // Probes are for first attempts.
            let nodes = std::iter::from_fn(|| plan.advance(now, Turn::Later));
            nodes.map(|candidate| candidate.node).find(is_new)
        })
    }
}

#[cfg(test)]
mod tests;
