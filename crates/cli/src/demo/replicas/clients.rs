//! The two clients, and what they and the policy know and have seen.

use std::sync::Arc;
use std::time::Duration;

use steersman_memcached::{Client, Replication};
use steersman_selection::{Condition, LatencyAware, LatencyParameters, Policy, Replicas};

use super::check::{Phase, Traffic};
use super::tally::Tally;
use super::{REPLICAS, taking_part};
use crate::answer::Failure;
use crate::context::Settings;
use crate::demo::cluster::Cluster;
use crate::demo::live::Screen;
use crate::demo::load::{Meters, Seen};

/// How long a node is penalised before it is probed. The default, 10 s, is for clusters that
/// nobody watches.
pub(super) const RETRY_PERIOD: Duration = Duration::from_millis(500);

/// How long it takes until a node that is well again has its full share; by default 1 s.
pub(super) const RAMP: Duration = Duration::from_millis(500);

/// How much slower than the fastest a node must be before it is penalised; by default 1 ms. All
/// nodes of the demo share the processors with whatever else runs on the machine.
pub(super) const MIN_DIFFERENCE: Duration = Duration::from_millis(5);

/// The names of the clients, as they are shown.
pub(super) const NAMES: Both<&str> = Both {
    aware: "latency-aware",
    plain: "owner first",
};

/// The same of the latency-aware client and of the one that asks a key's owner first.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Both<T> {
    pub(super) aware: T,
    pub(super) plain: T,
}

impl<T> Both<T> {
    /// The latency-aware client's, then the other one's.
    pub(super) fn each(&self) -> [&T; 2] {
        [&self.aware, &self.plain]
    }
}

/// The clients and their meters. Neither hedges, so that only the policy differs.
pub(super) struct Clients {
    pub(super) both: Both<Client>,
    names: Vec<String>,
    policy: Arc<LatencyAware<Replicas>>,
    /// What each client's reads were like, the latency-aware one's first.
    pub(super) reads: Arc<Meters>,
    /// What each client's attempts were like, by node.
    asked: Both<Arc<Meters>>,
}

impl Clients {
    /// Connects both to the nodes that take part.
    pub(super) async fn connect(cluster: &Cluster, settings: &Settings) -> Result<Self, Failure> {
        let names = taking_part(cluster).to_vec();
        let parameters = LatencyParameters::default()
            .retry_period(RETRY_PERIOD)
            .ramp(RAMP)
            .min_difference(MIN_DIFFERENCE);
        let policy = LatencyAware::builder()
            .parameters(parameters)
            .build(Replicas::in_order())?;
        let policy = Arc::new(policy);
        let asked = Both {
            aware: Arc::new(Meters::new(names.len())),
            plain: Arc::new(Meters::new(names.len())),
        };
        let aware = Tally::new(Arc::clone(&policy), &asked.aware);
        let plain = Tally::new(Replicas::in_order(), &asked.plain);
        Ok(Self {
            both: Both {
                aware: client(cluster, &names, settings, aware).await?,
                plain: client(cluster, &names, settings, plain).await?,
            },
            names,
            policy,
            reads: Arc::new(Meters::new(2)),
            asked,
        })
    }

    /// Shows what both see, and which nodes the latency-aware one asks.
    pub(super) fn show(&self, screen: &mut Screen<'_>) {
        screen.watch_shares(&self.asked.aware);
        screen.watch_clients(NAMES.each().map(|name| *name), &self.reads);
    }

    /// What each client's reads were like so far.
    pub(super) fn reads(&self) -> Both<Seen> {
        let mut reads = self.reads.snapshot();
        Both {
            plain: reads.pop().unwrap_or_default(),
            aware: reads.pop().unwrap_or_default(),
        }
    }

    /// All that was seen so far.
    pub(super) fn snapshot(&self) -> Phase {
        let reads = self.reads();
        let traffic = |reads, asked: &Meters| Traffic {
            reads,
            asked: asked.snapshot(),
        };
        Both {
            aware: traffic(reads.aware, &self.asked.aware),
            plain: traffic(reads.plain, &self.asked.plain),
        }
    }

    /// How the policy regards a node.
    fn condition(&self, node: usize) -> Option<Condition> {
        let node = self.both.aware.node(&self.names[node]).ok()?;
        Some(node.latency_report()?.condition)
    }

    pub(super) fn is_penalised(&self, node: usize) -> bool {
        self.condition(node).is_some_and(Condition::is_penalised)
    }

    /// Whether a node has its full share of the reads.
    pub(super) fn has_full_share(&self, node: usize) -> bool {
        self.condition(node).is_some_and(|condition| {
            !condition.is_penalised() && condition != Condition::Recovering
        })
    }

    /// Whether all nodes were measured and found to be fast.
    pub(super) fn are_all_within(&self) -> bool {
        let mut nodes = 0..self.names.len();
        nodes.all(|node| self.condition(node) == Some(Condition::Within))
    }

    /// Whether the latency-aware client waits for no reply of a node.
    pub(super) fn is_idle(&self, node: usize) -> bool {
        self.both.aware.node(&self.names[node]).is_ok_and(|node| {
            let metrics = node.metrics();
            metrics.in_flight + metrics.waiting == 0
        })
    }

    /// How many reads were used as probes.
    pub(super) fn probes(&self) -> u64 {
        self.policy.counters().probes
    }

    pub(super) async fn close(&self) {
        for client in self.both.each() {
            client.close().await;
        }
    }
}

/// A client of these nodes that reads replicas in the order of the policy.
async fn client(
    cluster: &Cluster,
    names: &[String],
    settings: &Settings,
    policy: impl Policy + 'static,
) -> Result<Client, Failure> {
    let nodes = names.iter().zip(&cluster.servers);
    let replication = Replication::new(REPLICAS).policy(policy).hedge(None);
    let client = Client::builder()
        .nodes(nodes.map(|(name, server)| format!("{name}={}", server.node())))
        .placement(settings.scheme)
        .timeout(settings.timeout)
        .replicas(replication)
        .build()?;
    client.ready(Duration::from_secs(10)).await?;
    Ok(client)
}
