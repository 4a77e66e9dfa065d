//! Datacenters: the preferred one first, its preferred rack before that, others if permitted.

use std::sync::Arc;

use super::consistency::Levels;
use super::rotation::{Place, Rotation};
use super::{Call, Candidate, Consistency, Plan, Policy, Tier, Turn};
use crate::{Locality, NodeIndex, Timestamp, Topology};

/// The nodes of the preferred datacenter in turn, then, where permitted, some of each other one.
///
/// Within the preferred datacenter the nodes of the preferred rack come first, if there is one.
/// Without a rack this is the `DCAwareRoundRobinPolicy` of the `DataStax` Java driver, plan for plan.
///
/// By default no remote node is ever used: a request that fails in its datacenter fails. With
/// [`DatacenterAware::remote_nodes`] plans go on to that many nodes of each remote datacenter, the
/// first ones of its list, in the order of [`Topology::datacenters`]; at a [local consistency
/// level](Consistency::is_local) only after [`DatacenterAware::allow_remote_at`] for that level.
///
/// If no node is in a datacenter of the preferred name, and remote ones are not permitted, plans
/// are empty.
///
/// # Examples
///
/// ```
/// use steersman_selection::{
///     Call, Consistency, DatacenterAware, Locality, NodeIndex, Plan, Policy, Timestamp, Topology,
/// };
///
/// let [a, b, c] = [0, 1, 2].map(|index| NodeIndex::try_from(index).unwrap());
/// let mut topology = Topology::new();
/// topology.insert(a, Locality::datacenter("eu-1").rack("x"));
/// topology.insert(b, Locality::datacenter("eu-1").rack("y"));
/// topology.insert(c, Locality::datacenter("eu-2").rack("y"));
///
/// let policy = DatacenterAware::new("eu-1").rack("y").remote_nodes(1);
/// let now = Timestamp::from_nanos(0);
/// let mut plan = policy.plan(Call::new(&topology));
/// assert_eq!(plan.next(now), Some(b)); // the rack
/// assert_eq!(plan.next(now), Some(a)); // the datacenter
/// assert_eq!(plan.next(now), Some(c)); // another one
///
/// let mut plan = policy.plan(Call::new(&topology).consistency(Consistency::LocalOne));
/// assert_eq!(plan.next(now), Some(b));
/// assert_eq!(plan.next(now), Some(a));
/// assert_eq!(plan.next(now), None);
/// ```
#[derive(Debug)]
pub struct DatacenterAware {
    datacenter: Arc<str>,
    rack: Option<Arc<str>>,
    remote_nodes: usize,
    remote_at: Levels,
    rotation: Rotation,
}

impl DatacenterAware {
    /// Prefers the datacenter of that name.
    pub fn new(datacenter: impl Into<Arc<str>>) -> Self {
        Self {
            datacenter: datacenter.into(),
            rack: None,
            remote_nodes: 0,
            remote_at: Levels::across_datacenters(),
            rotation: Rotation::default(),
        }
    }

    /// Prefers this rack within the preferred datacenter.
    pub fn rack(mut self, rack: impl Into<Arc<str>>) -> Self {
        self.rack = Some(rack.into());
        self
    }

    /// How many nodes of each remote datacenter plans may go on to; 0 by default.
    pub fn remote_nodes(mut self, nodes: usize) -> Self {
        self.remote_nodes = nodes;
        self
    }

    /// Requests of this level may go on to remote datacenters.
    pub fn allow_remote_at(mut self, level: Consistency) -> Self {
        self.remote_at.set(level, true);
        self
    }

    /// Requests of this level stay in the preferred datacenter.
    pub fn deny_remote_at(mut self, level: Consistency) -> Self {
        self.remote_at.set(level, false);
        self
    }

    /// The first plan begins so many nodes further. Give each client a random number, so that a
    /// fleet that starts at once does not begin with the same node.
    pub fn starting_at(mut self, plan: i32) -> Self {
        self.rotation = Rotation::starting_at(plan);
        self
    }

    #[inline]
    fn permits_remote(&self, call: &Call<'_>) -> bool {
        self.remote_nodes > 0 && self.remote_at.contains(call.level())
    }

    /// The first nodes of a remote datacenter, those that may be used.
    #[inline]
    fn usable<'a>(&self, nodes: &'a [NodeIndex]) -> &'a [NodeIndex] {
        &nodes[..nodes.len().min(self.remote_nodes)]
    }

    /// The preferred rack, if there is one, and what else the preferred datacenter has.
    fn local<'a>(&self, topology: &'a Topology) -> (&'a [NodeIndex], &'a [NodeIndex]) {
        let Some(datacenter) = topology.datacenter(&self.datacenter) else {
            return (&[], &[]);
        };
        match self.rack.as_ref().and_then(|name| datacenter.rack(name)) {
            Some(rack) => (rack.nodes(), rack.others()),
            None => (datacenter.nodes(), &[]),
        }
    }
}

impl Policy for DatacenterAware {
    type Plan<'a> = DatacenterAwarePlan<'a>;

    #[inline]
    fn plan<'a>(&'a self, call: Call<'a>) -> DatacenterAwarePlan<'a> {
        DatacenterAwarePlan {
            policy: self,
            call,
            place: self.rotation.begin(&call),
            nodes: &[],
            remaining: 0,
            upcoming: Upcoming::Rack,
        }
    }

    #[inline]
    fn appraise(
        &self,
        call: &Call<'_>,
        node: NodeIndex,
        _now: Timestamp,
        _turn: Turn,
    ) -> Option<Candidate> {
        let topology = call.topology();
        let datacenter = &topology.datacenters()[topology.datacenter_of(node)?];
        if datacenter.name() == &*self.datacenter {
            return Some(Candidate::new(node, Tier::Local));
        }
        let usable = self.permits_remote(call) && self.usable(datacenter.nodes()).contains(&node);
        usable.then(|| Candidate::new(node, Tier::Remote))
    }

    #[inline]
    fn is_off_rack(&self, call: &Call<'_>, node: NodeIndex) -> bool {
        self.rack.as_deref().is_some_and(|rack| {
            let locality = call.topology().locality(node);
            locality.and_then(Locality::rack_name) != Some(rack)
        })
    }

    fn preferred(&self) -> Option<Locality> {
        let datacenter = Locality::datacenter(Arc::clone(&self.datacenter));
        Some(match &self.rack {
            Some(rack) => datacenter.rack(Arc::clone(rack)),
            None => datacenter,
        })
    }
}

/// A plan of [`DatacenterAware`].
#[derive(Debug, Clone)]
pub struct DatacenterAwarePlan<'a> {
    policy: &'a DatacenterAware,
    call: Call<'a>,
    place: Place,
    /// The list that the plan goes round now, and how many of its nodes are left.
    nodes: &'a [NodeIndex],
    remaining: usize,
    upcoming: Upcoming,
}

/// The list after the present one. None is looked up before it is needed: behind a
/// [`TokenAware`](crate::TokenAware) policy most plans need none.
#[derive(Debug, Clone, Copy)]
enum Upcoming {
    /// The preferred rack, or the preferred datacenter as a whole.
    Rack,
    /// What else the preferred datacenter has.
    Datacenter,
    /// The datacenter of that index, if it is not the preferred one.
    Remote(usize),
}

impl<'a> DatacenterAwarePlan<'a> {
    /// Goes on to the next list with nodes in it, if there is one.
    fn next_list(&mut self) -> Option<()> {
        self.nodes = &[];
        while self.nodes.is_empty() {
            let (nodes, upcoming) = match self.upcoming {
                Upcoming::Rack => (self.local().0, Upcoming::Datacenter),
                Upcoming::Datacenter => (self.local().1, Upcoming::Remote(0)),
                Upcoming::Remote(index) => (self.remote(index)?, Upcoming::Remote(index + 1)),
            };
            self.nodes = nodes;
            self.upcoming = upcoming;
        }
        self.remaining = self.nodes.len();
        Some(())
    }

    fn local(&self) -> (&'a [NodeIndex], &'a [NodeIndex]) {
        self.policy.local(self.call.topology())
    }

    /// The nodes that may be used of a remote datacenter; `None` behind the last one.
    fn remote(&self, index: usize) -> Option<&'a [NodeIndex]> {
        if !self.policy.permits_remote(&self.call) {
            return None;
        }
        // A plan that was long on its way finds the nodes of now here, not those of then.
        let datacenter = self.call.topology().latest().datacenters().get(index)?;
        if datacenter.name() == &*self.policy.datacenter {
            return Some(&[]);
        }
        Some(self.policy.usable(datacenter.nodes()))
    }

    #[inline]
    fn tier(&self) -> Tier {
        match self.upcoming {
            Upcoming::Remote(1..) => Tier::Remote,
            _ => Tier::Local,
        }
    }
}

impl Plan for DatacenterAwarePlan<'_> {
    #[inline]
    fn advance(&mut self, _now: Timestamp, _turn: Turn) -> Option<Candidate> {
        if self.remaining == 0 {
            self.next_list()?;
        }
        self.remaining -= 1;
        let node = self.place.step(self.nodes)?;
        Some(Candidate::new(node, self.tier()))
    }

    /// Only the list that the node is in counts. If all of the rack is held back, the rest of the
    /// datacenter takes its turns as if there were no rack.
    fn passed_over(&mut self) {
        let named = self.nodes.len() - self.remaining;
        self.policy.rotation.pass_over(named.saturating_sub(1));
    }
}

#[cfg(test)]
mod tests;
