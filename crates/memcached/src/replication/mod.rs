//! Replication: each key on its k best nodes, written to all of them and read from one.
//!
//! A call of a client with replicas becomes one future here, which makes [`attempt`]s at nodes and
//! comes to one answer. What a command does with the replicas is decided in [`Replicator::start`]:
//!
//! | commands | where |
//! | --- | --- |
//! | get | along the policy's plan ([`read`]) |
//! | gat | the value along the plan, the new expiry to all replicas |
//! | gets, gats | the owner: cas numbers differ from node to node |
//! | set, delete, touch | all replicas ([`write`]) |
//! | add, replace, append, prepend, cas, increment, decrement | the owner decides ([`decide`]) |
//!
//! A client without replicas has no [`Replicator`] and never comes here.

mod attempt;
mod command;
mod counters;
mod decide;
mod many;
mod options;
mod policy;
mod probe;
mod read;
mod report;
mod timing;
mod view;
mod write;

use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::time::Duration;

use steersman_selection::{
    Attempt as Record, DynPolicy, Hedging, NodeIndex, NodeReport, Timestamp,
};
use tokio::time::{Instant, MissedTickBehavior};

use self::command::Action;
pub(crate) use self::command::Command;
use self::counters::Counters;
pub use self::counters::ReplicationMetrics;
pub(crate) use self::many::read_many;
pub use self::options::{Replication, WriteSuccess};
pub use self::policy::ReadPolicy;
use self::report::Answer;
pub use self::report::{Reported, Written};
pub(crate) use self::timing::Limit;
use self::view::Target;
pub(crate) use self::view::View;
use crate::cluster::{Cluster, Members};
use crate::error::{Error, Result};
use crate::shared::Shared;

/// How often percentiles are computed, if the policy does not tick more often.
const TICK: Duration = Duration::from_millis(100);

/// A replicated call under way.
pub(crate) type Replicated = Pin<Box<dyn Future<Output = Result<Answer>> + Send>>;

/// What a replicated cluster has beyond its members: the policy that orders reads, and what its
/// attempts have in common.
pub(crate) struct Replicator {
    options: Replication,
    /// None if reads are never hedged.
    hedging: Option<Hedging>,
    counters: Counters,
    /// The origin of the policy's time.
    origin: Instant,
}

/// One replicated call: what is asked, of whom, and for how long.
struct Request {
    shared: Arc<Shared>,
    members: Arc<Members>,
    /// The nodes that hold the key, the owner first; at least one.
    targets: Vec<Target>,
    command: Arc<Command>,
    limit: Limit,
}

impl Replicator {
    pub(crate) fn new(options: Replication) -> Result<Self> {
        let hedging = options.hedging()?;
        Ok(Self {
            hedging: options.hedge.is_some().then_some(hedging),
            counters: Counters::default(),
            origin: Instant::now(),
            options,
        })
    }

    /// Takes a call over: the future gives its answer, its time-out included. A quiet one is done
    /// when its requests are queued.
    pub(crate) fn start(
        shared: &Arc<Shared>,
        command: Command,
        limit: Limit,
        quiet: bool,
    ) -> Result<Replicated> {
        let mut request = Request::new(Arc::clone(shared), Arc::new(command), limit)?;
        Ok(Box::pin(async move {
            loop {
                match request.run(quiet).await {
                    // The key has other nodes now.
                    Err(error) if error.node_left() => {
                        request = Request::new(request.shared, request.command, limit)?;
                    }
                    answer => return answer,
                }
            }
        }))
    }

    /// How many nodes hold each key.
    pub(crate) fn count(&self) -> usize {
        self.options.count()
    }

    pub(crate) fn metrics(&self) -> ReplicationMetrics {
        self.counters.read()
    }

    pub(crate) fn report(&self, node: NodeIndex) -> Option<NodeReport> {
        self.policy().dyn_report(node, self.now())
    }

    fn policy(&self) -> &dyn DynPolicy {
        &*self.options.policy
    }

    /// The time as the policy counts it.
    fn now(&self) -> Timestamp {
        self.at(Instant::now())
    }

    fn at(&self, time: Instant) -> Timestamp {
        Timestamp::from_nanos(0) + time.saturating_duration_since(self.origin)
    }

    fn begin(&self, node: NodeIndex, time: Instant) {
        self.policy().dyn_begin(node, self.at(time));
    }

    fn record(&self, attempt: &Record) {
        self.policy().dyn_record(attempt);
    }

    /// Takes a new member into the view.
    pub(crate) fn joined(&self, view: &mut View, index: NodeIndex, name: &str) {
        let locality = self.options.localities.get(name).cloned();
        view.insert(index, locality.unwrap_or_default());
    }

    /// Tells the policy of other members.
    pub(crate) fn members_changed(&self, view: &View) {
        self.policy()
            .dyn_topology_changed(&view.topology, self.now());
        if let Some(hedging) = &self.hedging {
            hedging.topology_changed(&view.topology);
        }
    }

    pub(crate) fn tick_every(&self) -> Duration {
        let policy = self.policy().dyn_tick_every();
        policy
            .map_or(TICK, |policy| policy.min(TICK))
            .max(Duration::from_millis(1))
    }

    fn tick(&self) {
        self.policy().dyn_tick(self.now());
        if let Some(hedging) = &self.hedging {
            hedging.tick();
        }
    }
}

/// Does what is to be done regularly for as long as the cluster is there.
pub(crate) async fn tick(cluster: Weak<Cluster>, every: Duration) {
    let mut ticks = tokio::time::interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let Some(cluster) = cluster.upgrade() else {
            return;
        };
        if let Some(replicator) = &cluster.replicator {
            replicator.tick();
            cluster.options.observer.policy_ticked(&cluster);
        }
    }
}

impl Request {
    fn new(shared: Arc<Shared>, command: Arc<Command>, limit: Limit) -> Result<Self> {
        let count = shared
            .cluster
            .replicator
            .as_ref()
            .map_or(1, Replicator::count);
        let (members, replicas) = shared.cluster.replicas(&command.key, count)?;
        let targets = replicas
            .iter()
            .map(|(index, node)| Target {
                index: *index,
                node: Arc::clone(node),
            })
            .collect();
        Ok(Self {
            shared,
            members,
            targets,
            command,
            limit,
        })
    }

    /// Asks those targets. A quiet request is done when it is queued.
    async fn run(&self, quiet: bool) -> Result<Answer> {
        if quiet {
            return self.unanswered().await;
        }
        match self.command.action {
            Action::Get { cas: false } => self.read().await,
            Action::GetAndTouch { expiry, cas } => self.read_and_touch(expiry, cas).await,
            Action::Get { cas: true } => self.ask_owner().await.map(Answer::of_one),
            _ if self.command.is_decided_by_owner() => self.decide().await,
            _ => self.write().await,
        }
    }

    fn replicator(&self) -> Result<&Replicator> {
        // Only a cluster with a replicator starts such calls.
        let replicator = self.shared.cluster.replicator.as_ref();
        replicator.ok_or_else(Error::closed)
    }

    /// How long one attempt may take.
    fn attempt_timeout(&self, replicator: &Replicator) -> Option<Duration> {
        let own = replicator.options.attempt_timeout;
        own.or_else(|| {
            let replicas = u32::try_from(replicator.count()).ok()?;
            self.limit.span()?.checked_div(replicas)
        })
    }
}
