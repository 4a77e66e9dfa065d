//! Our chain of policies, and a look at what it knows.

use std::sync::Arc;

use scylla::policies::load_balancing::LoadBalancingPolicy;
use steersman_scylla::{DatacenterAware, LoadBalancer, NodeStatus, RoundRobin, TokenAware};
use steersman_selection::{Counters, LatencyAware, LatencyAwareBuilder, Policy};

use crate::answer::Failure;

/// A latency-aware chain at work, whatever is below the latency awareness.
pub(super) trait Chain: LoadBalancingPolicy {
    /// What is known of each node.
    fn status(&self) -> Vec<NodeStatus>;

    /// How often things have happened.
    fn counters(&self) -> Counters;
}

impl<C: Policy> Chain for LoadBalancer<LatencyAware<C>> {
    fn status(&self) -> Vec<NodeStatus> {
        LoadBalancer::status(self)
    }

    fn counters(&self) -> Counters {
        self.policy().counters()
    }
}

/// The chain for clients in that datacenter, or for those who do not care where nodes are.
pub(super) fn chain(
    latency: LatencyAwareBuilder,
    datacenter: Option<&str>,
) -> Result<Arc<dyn Chain>, Failure> {
    let seed = fastrand::u64(..);
    if let Some(name) = datacenter {
        let child = TokenAware::new(DatacenterAware::new(name)).seed(seed);
        return Ok(Arc::new(LoadBalancer::new(latency.build(child)?)));
    }
    let child = TokenAware::new(RoundRobin::new()).seed(seed);
    Ok(Arc::new(LoadBalancer::new(latency.build(child)?)))
}
