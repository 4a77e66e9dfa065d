//! Steersman's policies for Apache Cassandra and `ScyllaDB`, by way of the [`scylla`] driver.
//!
//! A [`LoadBalancer`] is a [`LoadBalancingPolicy`](scylla::policies::load_balancing) around any chain
//! of policies of [`steersman_selection`]:
//!
//! ```no_run
//! use std::sync::Arc;
//! use scylla::client::{execution_profile::ExecutionProfile, session_builder::SessionBuilder};
//! use steersman_scylla::{DatacenterAware, LoadBalancer, Steady, TokenAware};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let chain = Steady::new(TokenAware::new(DatacenterAware::new("dc1")));
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
//! # Listening to the history
//!
//! A [`HistoryListener`](scylla::observability::history::HistoryListener) hears of more: of each attempt
//! when it begins, with its address, and of the end of each request, by which attempts that are still
//! open were given up. A balancer is one. Listeners are set on statements; a statement hands its own to
//! what is prepared from it.
//!
//! ```no_run
//! # use std::sync::Arc;
//! # use scylla::client::session::Session;
//! # use steersman_scylla::{LatencyAware, LoadBalancer, RoundRobin};
//! # async fn example(session: Session, balancer: Arc<LoadBalancer<LatencyAware<RoundRobin>>>)
//! # -> Result<(), Box<dyn std::error::Error>> {
//! let mut select = session.prepare("SELECT v FROM k.t WHERE k = ?").await?;
//! select.set_history_listener(balancer.clone());
//! # Ok(()) }
//! ```
//!
//! | an attempt | by picks and reports | with the listener |
//! | --- | --- | --- |
//! | the first, at a time-out of the client | timed out, when it is overdue | timed out, at once |
//! | a later one, at a time-out of the client | nothing is known | cancelled, at once |
//! | the first, if a speculative one wins | timed out, when it is overdue | cancelled, at once |
//! | a speculative one that loses | nothing is known | cancelled, at once |
//! | the first of a request that is dropped | timed out, when it is overdue | the same |
//! | a later one of a request that is dropped | nothing is known | timed out, when it is overdue |
//!
//! A cancelled attempt counts if it took longer than the node's average, so one that loses by a hair
//! does its node no harm. Nothing counts twice: answers and errors are learnt from the driver's report
//! alone, and what was overdue is not told again. Statements with a listener and without may be mixed;
//! those with one must be routed by the same balancer.
//!
//! It costs some atomic operations for each request and attempt, and 1.6 MB for the last 16,384 requests.
//! Older ones that have not ended are left to picks and reports. Without it a request pays nothing for it.
//!
//! # Hedged requests
//!
//! The driver's own policies for speculative execution have no budget: where all nodes are slow, all requests
//! are sent twice. With [`LoadBalancer::hedge`] a balancer is such a policy too: a request goes to a second
//! node after the time within which the fastest node answers 95 % of its requests, and at most 5 % of them do.
//!
//! ```
//! use std::sync::Arc;
//! use scylla::client::execution_profile::ExecutionProfile;
//! use steersman_scylla::selection::{Hedge, Hedging};
//! use steersman_scylla::{DatacenterAware, LoadBalancer, Steady, TokenAware};
//!
//! let chain = Steady::new(TokenAware::new(DatacenterAware::new("dc1")));
//! let hedging = Hedging::new(Hedge::Percentile(0.95))?.budget(0.05, 10)?;
//! let balancer = Arc::new(LoadBalancer::new(chain).hedge(hedging));
//! let profile = ExecutionProfile::builder()
//!     .load_balancing_policy(balancer.clone())
//!     .speculative_execution_policy(Some(balancer.clone()))
//!     .build();
//! // And for each statement: set_is_idempotent(true), set_history_listener(balancer.clone()).
//! # Ok::<(), steersman_scylla::selection::Error>(())
//! ```
//!
//! - **Statements need the [listener](#listening-to-the-history)**: only that tells of speculative executions. Those
//!   of other statements are made as well, and cost the budget nothing.
//! - The driver asks when a request begins. Those that have begun while the budget had a hedge may all make one;
//!   what is more than the budget had is owed, and there are none until later requests have paid for it. So 5 %
//!   holds on average, and not within each moment.
//! - It is one delay for all statements. Those that take far longer than others need a balancer of their own.
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
mod history;
mod host_hash;
mod ledger;
mod misplacement;
mod plan;
mod replicas;
mod ring;
mod roster;
mod schedule;
mod speculation;
mod status;
mod sync;
mod view;

pub use steersman_selection as selection;
#[doc(no_inline)]
pub use steersman_selection::{
    DatacenterAware, LatencyAware, LatencyParameters, Mode, ReplicaOrder, RoundRobin, Steady,
    TokenAware,
};

pub use crate::balancer::LoadBalancer;
pub use crate::misplacement::Misplacement;
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
