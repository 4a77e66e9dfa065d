//! Steersman's policies for Apache Cassandra and `ScyllaDB`, by way of the [`scylla`] driver.
//!
//! A [`LoadBalancer`] is a [`LoadBalancingPolicy`](scylla::policies::load_balancing) around any chain
//! of policies of [`steersman_selection`]:
//!
//! ```no_run
//! use std::sync::Arc;
//! use scylla::client::{execution_profile::ExecutionProfile, session_builder::SessionBuilder};
//! use steersman_scylla::{DatacenterAware, LatencyAware, LoadBalancer, TokenAware};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let chain = LatencyAware::new(TokenAware::new(DatacenterAware::new("dc1")));
//! let profile = ExecutionProfile::builder().load_balancing_policy(Arc::new(LoadBalancer::new(chain))).build();
//! let session = SessionBuilder::new().known_node("10.0.0.1:9042").default_execution_profile_handle(profile.into_handle()).build().await?;
//! # Ok(()) }
//! ```
//!
//! # What the driver does not say
//!
//! The driver tells a policy how long an attempt took, but only if it was answered or its connection
//! broke. A request that its caller gave up, a client-side time-out and the loser of a speculative
//! execution leave no trace, so a policy that only listens never hears of a node that answers too
//! late. A [`LoadBalancer`] therefore counts for each node what was picked and what was reported:
//! picks that are not reported in time count against the node, see [`LoadBalancer`].
//!
//! # Further reading
//!
//! In the repository, `docs/choosing-a-chain.md` says which chain suits which cluster, how to read what a
//! chain knows and how to tune it; `docs/moving-from-other-drivers.md` what the options of the Java,
//! Python, Go and C++ drivers are called here; `docs/limits.md` what latency awareness cannot do. The
//! example `latency_aware` runs against a cluster of yours.

mod balancer;
mod clock;
mod driver;
mod evidence;
mod host_hash;
mod ledger;
mod plan;
mod replicas;
mod ring;
mod roster;
mod schedule;
mod status;
mod view;

pub use steersman_selection as selection;
#[doc(no_inline)]
pub use steersman_selection::{
    DatacenterAware, LatencyAware, LatencyParameters, Mode, ReplicaOrder, RoundRobin, TokenAware,
};

pub use crate::balancer::LoadBalancer;
pub use crate::status::NodeStatus;

/// The examples of the pages for users.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../../docs/choosing-a-chain.md")]
    struct ChoosingAChain;
    #[doc = include_str!("../../../docs/moving-from-other-drivers.md")]
    struct MovingFromOtherDrivers;
    #[doc = include_str!("../../../docs/limits.md")]
    struct Limits;
}
