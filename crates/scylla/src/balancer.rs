//! The load balancer: what the driver asks and tells, passed on to the policies.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use arc_swap::{ArcSwap, Guard};
use scylla::cluster::{ClusterState, NodeRef};
use scylla::errors::RequestAttemptError;
use scylla::policies::load_balancing::{FallbackPlan, LoadBalancingPolicy, RoutingInfo};
use scylla::routing::Shard;
use steersman_selection::{
    Attempt, Explanation, Hedging, NodeIndex, Outcome, Policy, Recorder, Timestamp,
};

use crate::clock::Clock;
use crate::driver;
use crate::evidence;
use crate::history::History;
use crate::ledger::{Entry, SLOT_NANOS};
use crate::misplacement::Misplacement;
use crate::plan::Steps;
use crate::roster::Roster;
use crate::schedule::Schedule;
use crate::status::NodeStatus;
use crate::view::View;

/// A load-balancing policy of the [`scylla`] driver around a chain of Steersman's policies.
///
/// The chain decides whom a request goes to, and learns from each answer. This type translates:
/// datacenter, rack, liveness and replicas come from the driver's cluster state, and nodes are told
/// apart by host id, so that one that comes back under another address is still the same. What is
/// known of a node is forgotten when it leaves the cluster or loses all its connections.
///
/// - **Requests without an answer.** The driver reports neither requests that were dropped, nor
///   client-side time-outs, nor the losers of speculative executions. What was picked and not
///   reported after four times the limit of a [`LatencyAware`](crate::LatencyAware) chain (and at
///   least 25 ms, and twice the node's average) counts as timed out. Nothing has to be returned or
///   cancelled for that, so no count can leak. One that is answered after all counts again only if it
///   was slower than the node's average by then. Further attempts at a request are not counted, since
///   the driver does not tell the policy whether it makes them.
/// - **History.** It tells history listeners, though, and a balancer is one: see [listening to the
///   history](crate#listening-to-the-history).
/// - **Lightweight transactions** go to the replicas in the order of the ring, whatever the latency
///   and whether or not the chain is token-aware, so that those of one key meet at one node. Nodes
///   that the chain does not permit are left out, and replicas that it counts as remote come last.
/// - **Shards.** A replica is named with the shard that owns the key, other nodes with none.
/// - **The last resort.** When the plan has come to its end, the nodes without connections follow
///   that the chain would permit, as with the driver's own policy.
///
/// Regular work, such as ticks of the chain and looking for nodes that are late or gone, is done by
/// requests when it is due: there is no task in the background, and without requests there is
/// nothing to do. A pick takes no lock, and allocates nothing for keys with up to eight replicas.
///
/// Use one balancer for one session: it keeps up with one cluster. To keep a hand on the chain,
/// build it in an `Arc`, which is a policy as well.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use scylla::client::execution_profile::ExecutionProfile;
/// use steersman_scylla::{DatacenterAware, LatencyAware, LoadBalancer, TokenAware};
///
/// let datacenters = DatacenterAware::new("dc1").remote_nodes(2);
/// let chain = Arc::new(LatencyAware::new(TokenAware::new(datacenters)));
/// let balancer = Arc::new(LoadBalancer::new(Arc::clone(&chain)));
/// let profile = ExecutionProfile::builder()
///     .load_balancing_policy(balancer.clone())
///     .build();
/// // ... and later:
/// println!("{} probes so far", chain.counters().probes);
/// for node in balancer.status() {
///     println!("{} was picked {} times", node.address, node.picks);
/// }
/// ```
pub struct LoadBalancer<P> {
    policy: P,
    recorder: Option<Arc<dyn Recorder>>,
    hedging: Option<Hedging>,
    clock: Clock,
    view: ArcSwap<View>,
    /// Held while the view is replaced.
    renewal: Mutex<()>,
    settling: Schedule,
    ticking: Schedule,
    /// Made when it is first listened to.
    history: OnceLock<History>,
}

/// How often a chain without ticks of its own has the nodes' connections looked at.
const TICK: Duration = Duration::from_millis(100);

impl<P: Policy> LoadBalancer<P> {
    /// A balancer around that chain.
    pub fn new(policy: P) -> Self {
        let clock = Clock::new();
        let now = clock.now();
        let tick = policy.tick_every().unwrap_or(TICK);
        let slot = Duration::from_nanos(SLOT_NANOS.unsigned_abs());
        Self {
            policy,
            recorder: None,
            hedging: None,
            clock,
            view: ArcSwap::default(),
            renewal: Mutex::new(()),
            settling: Schedule::every(slot, now),
            ticking: Schedule::every(tick, now),
            history: OnceLock::new(),
        }
    }

    /// Takes down what each attempt cost: whatever the chain learns, by the address that the node
    /// broadcasts. Without, nothing is, and costs nothing.
    ///
    /// With `AttemptLog` of the crate `steersman-recorder` it becomes a log for `steersman simulate --record`.
    /// What is not known to the chain is not in it either: of requests without an answer only those that
    /// were found [overdue](Self) or [listened to](crate#listening-to-the-history).
    ///
    /// ```
    /// use std::sync::Arc;
    /// use steersman_scylla::selection::{Attempt, Recorder};
    /// use steersman_scylla::{LatencyAware, LoadBalancer, RoundRobin};
    ///
    /// struct Printed;
    ///
    /// impl Recorder for Printed {
    ///     fn record(&self, node: &Arc<str>, attempt: &Attempt) {
    ///         println!("{node}: {:?} in {} ns", attempt.outcome(), attempt.latency_nanos());
    ///     }
    /// }
    ///
    /// let balancer = LoadBalancer::new(LatencyAware::new(RoundRobin::new())).record(Printed);
    /// # let _ = balancer;
    /// ```
    pub fn record(mut self, recorder: impl Recorder + 'static) -> Self {
        self.recorder = Some(Arc::new(recorder));
        self
    }

    /// Decides about speculative executions: see [hedged requests](crate#hedged-requests). Without, the balancer
    /// as a `SpeculativeExecutionPolicy` has none.
    pub fn hedge(mut self, hedging: Hedging) -> Self {
        self.hedging = Some(hedging);
        self
    }

    #[inline]
    pub(crate) fn hedging(&self) -> Option<&Hedging> {
        self.hedging.as_ref()
    }

    #[inline]
    pub(crate) fn view(&self) -> &ArcSwap<View> {
        &self.view
    }

    #[inline]
    pub(crate) fn history(&self) -> &History {
        self.history.get_or_init(History::new)
    }

    /// The chain.
    pub fn policy(&self) -> &P {
        &self.policy
    }

    /// The time by the clock that the chain is given, for those of its methods that ask for it:
    /// `balancer.policy().snapshot(balancer.now())`.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The plan of such a request with the reasons for its order: tier, standing, score, limit. It names
    /// nodes by their numbers, which [`LoadBalancer::status`] lists with their addresses.
    ///
    /// No node's turn or probe is spent on it; only the work that is due is done, as for a request: a
    /// changed cluster is taken in, and scores are judged. A lightweight transaction keeps the order of
    /// its replicas, which is not shown here.
    ///
    /// ```no_run
    /// # use scylla::client::session::Session;
    /// # use scylla::frame::response::result::TableSpec;
    /// # use scylla::policies::load_balancing::RoutingInfo;
    /// # use steersman_scylla::{LatencyAware, LoadBalancer, RoundRobin};
    /// # async fn example(session: Session, balancer: LoadBalancer<LatencyAware<RoundRobin>>)
    /// # -> Result<(), Box<dyn std::error::Error>> {
    /// let select = session.prepare("SELECT v FROM k.t WHERE k = ?").await?;
    /// let table = TableSpec::borrowed("k", "t");
    /// let mut request = RoutingInfo::default();
    /// request.token = select.calculate_token(&("key",))?;
    /// request.table = Some(&table);
    /// println!("{}", balancer.explain(&request, &session.get_cluster_state()));
    /// # Ok(()) }
    /// ```
    pub fn explain(&self, info: &RoutingInfo<'_>, cluster: &ClusterState) -> Explanation {
        let now = self.clock.now();
        let view = self.attend(cluster, now);
        driver::request(info, cluster, &view).explain(&self.policy, &view.roster, now)
    }

    /// What is wrong with the datacenter or the rack that the chain prefers; `None` if nothing is. The
    /// same is logged as a warning, once for each topology in which it is so.
    ///
    /// Ask before the first request, to fail at the start rather than with each request:
    ///
    /// ```no_run
    /// # use scylla::client::session::Session;
    /// # use steersman_scylla::{DatacenterAware, LoadBalancer};
    /// # fn example(session: Session, balancer: LoadBalancer<DatacenterAware>) -> Result<(), String> {
    /// if let Some(found) = balancer.misplacement(&session.get_cluster_state()) {
    ///     return Err(found.to_string());
    /// }
    /// # Ok(()) }
    /// ```
    pub fn misplacement(&self, cluster: &ClusterState) -> Option<Misplacement> {
        Misplacement::of(&self.policy.preferred()?, &driver::sightings(cluster))
    }

    /// What is known of each node of the cluster now. Empty before the first request.
    pub fn status(&self) -> Vec<NodeStatus> {
        let (now, view) = (self.clock.now(), self.view.load());
        let known = view.roster.members().filter_map(|(index, member)| {
            let identity = view.nodes.get(member.position)?;
            Some(NodeStatus {
                host_id: member.host_id,
                address: identity.address,
                datacenter: identity.datacenter.clone(),
                rack: identity.rack.clone(),
                is_connected: view.roster.live().contains(index),
                report: self.policy.report(index, now),
                picks: member.ledger.picks(),
                unanswered: member.ledger.unanswered(),
                late: member.ledger.late(),
            })
        });
        known.collect()
    }

    /// The view of that state, after what is due was done.
    #[inline]
    fn attend(&self, cluster: &ClusterState, now: Timestamp) -> Guard<Arc<View>> {
        let view = self.view.load();
        if view.is_of(cluster) && !self.settling.is_due(now) {
            return view;
        }
        self.catch_up(&view, cluster, now);
        self.view.load()
    }

    #[cold]
    fn catch_up(&self, view: &View, cluster: &ClusterState, now: Timestamp) {
        let is_tick = self.ticking.take(now);
        if is_tick || !view.is_of(cluster) {
            self.renew(cluster, now);
        }
        if self.settling.take(now) {
            let view = self.view.load();
            evidence::settle(&self.policy, &view.roster, now, |attempt| {
                // What only ends a count is no measurement.
                if attempt.outcome() == Outcome::Refused {
                    self.policy.record(attempt);
                } else {
                    self.learn(&view, attempt);
                }
            });
        }
        if is_tick {
            self.policy.tick(now);
            if let Some(hedging) = &self.hedging {
                hedging.tick();
            }
        }
    }

    /// Looks at the cluster's nodes, and tells the policy if others are connected than before.
    fn renew(&self, cluster: &ClusterState, now: Timestamp) {
        let renewing = self.renewal.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.view.load();
        let after = before.succeed(cluster, self.policy.preferred().as_ref(), now);
        if let Some(found) = after.misplacement(&before) {
            tracing::warn!("{found}");
        }
        if !after.roster.has_same_live(&before.roster) {
            self.policy.topology_changed(after.roster.live(), now);
            if let Some(hedging) = &self.hedging {
                hedging.topology_changed(after.roster.live());
            }
        }
        self.view.store(Arc::new(after));
        drop(renewing);
    }

    /// Tells the chain of an attempt that ended, and the recorder if there is one.
    #[inline]
    pub(crate) fn learn(&self, view: &View, attempt: &Attempt) {
        self.policy.record(attempt);
        if let (Outcome::Success, Some(hedging)) = (attempt.outcome(), &self.hedging) {
            let nanos = attempt.latency_nanos().max(0).unsigned_abs();
            hedging.answered(attempt.node(), Duration::from_nanos(nanos));
        }
        if let Some(recorder) = &self.recorder
            && let Some(member) = view.roster.member(attempt.node())
            && let Some(identity) = view.nodes.get(member.position)
        {
            recorder.record(&identity.name, attempt);
        }
    }

    /// The driver reports how an attempt ended.
    fn reported(&self, latency: Duration, node: NodeRef<'_>, outcome: Outcome) {
        let (now, view) = (self.clock.now(), self.view.load());
        let Some(index) = view.roster.index(node.host_id) else {
            return;
        };
        if outcome == Outcome::Disconnected {
            // It may have lost all its connections.
            self.ticking.hasten(now);
            self.settling.hasten(now);
        }
        let attempt = Attempt::new(index, now, latency, outcome);
        let entry = view.roster.member(index).map_or(Entry::Unknown, |member| {
            member.ledger.answered(attempt.started_at(), now)
        });
        let attempt = if entry == Entry::Due {
            attempt
        } else {
            attempt.uncounted()
        };
        if entry != Entry::Overdue || evidence::is_news(&self.policy, &attempt) {
            self.learn(&view, &attempt);
        }
    }
}

impl<P: Policy> LoadBalancingPolicy for LoadBalancer<P> {
    fn pick<'a>(
        &'a self,
        info: &'a RoutingInfo<'_>,
        cluster: &'a ClusterState,
    ) -> Option<(NodeRef<'a>, Option<Shard>)> {
        let now = self.clock.now();
        let view = self.attend(cluster, now);
        let roster = &view.roster;
        let request = driver::request(info, cluster, &view);
        let mut picked = None;
        let index = request.first(&self.policy, roster, now, |index| {
            picked = find(cluster, roster, index);
            picked.is_some()
        })?;
        roster.member(index)?.ledger.picked(now);
        self.policy.begin(index, now);
        Some((picked?, driver::shard(info, &request, &view, index)))
    }

    fn fallback<'a>(
        &'a self,
        info: &'a RoutingInfo<'_>,
        cluster: &'a ClusterState,
    ) -> FallbackPlan<'a> {
        let view = self.view.load_full();
        let mut steps = Steps::default();
        Box::new(std::iter::from_fn(move || {
            let request = driver::request(info, cluster, &view);
            loop {
                let index = steps.next(&self.policy, &view.roster, &request, self.clock.now())?;
                if let Some(node) = find(cluster, &view.roster, index) {
                    return Some((node, driver::shard(info, &request, &view, index)));
                }
            }
        }))
    }

    fn on_request_success(&self, _: &RoutingInfo<'_>, latency: Duration, node: NodeRef<'_>) {
        if let Some(history) = self.history.get() {
            history.answered_by(node.host_id, &self.view.load());
        }
        self.reported(latency, node, Outcome::Success);
    }

    fn on_request_failure(
        &self,
        _: &RoutingInfo<'_>,
        latency: Duration,
        node: NodeRef<'_>,
        error: &RequestAttemptError,
    ) {
        self.reported(latency, node, driver::outcome(error));
    }

    fn name(&self) -> String {
        "steersman".to_owned()
    }
}

// The driver asks for it; of a chain it need not be known what it is.
impl<P> fmt::Debug for LoadBalancer<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoadBalancer").finish_non_exhaustive()
    }
}

/// The driver's node. It is where the roster has seen it, unless the state is another one.
#[inline]
fn find<'a>(cluster: &'a ClusterState, roster: &Roster, index: NodeIndex) -> Option<NodeRef<'a>> {
    let member = roster.member(index)?;
    let nodes = cluster.get_nodes_info();
    nodes
        .get(member.position)
        .filter(|node| node.host_id == member.host_id)
        .or_else(|| cluster.get_node_by_host_id(member.host_id))
}
