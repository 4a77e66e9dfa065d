//! What the scenarios share: the cluster, its data, and the balancers they try.

use std::sync::Arc;
use std::time::Duration;

use scylla::policies::load_balancing::{DefaultPolicy, LoadBalancingPolicy};
use steersman_e2e::cassandra::{Cluster, Connector, Load, Reads};
use steersman_scylla::selection::Event;
use steersman_scylla::{DatacenterAware, LatencyAware, LoadBalancer, TokenAware};
use steersman_testkit::FaultProxy;

/// A keyspace whose rows are on all of the first three nodes.
pub(crate) const EVERYWHERE: &str = "everywhere";
/// A keyspace whose rows are on two nodes of the first datacenter each.
pub(crate) const TWICE: &str = "twice";

/// The chain that is recommended.
pub(crate) type Chain = LatencyAware<TokenAware<DatacenterAware>>;
pub(crate) type Balancer = Arc<LoadBalancer<Chain>>;

/// How many reads a second the scenarios about time should run at, and what to make do with on a
/// machine that is too slow, or busy with other things: one whose nodes take turns at being slow
/// can show nothing about latency.
const RATES: [u64; 4] = [3_000, 1_000, 500, 250];

/// Latencies beyond that, at a healthy cluster, are of a machine that cannot keep up.
const SLOW: Duration = millis(20);

pub(crate) struct World {
    pub(crate) cluster: Cluster,
    /// Reads a second.
    pub(crate) rate: u64,
}

impl World {
    /// Three nodes in one datacenter, with data, warmed up: a JVM that has just started takes ten
    /// times as long for a request.
    pub(crate) async fn create() -> Self {
        let cluster = Cluster::start(&["dc1", "dc1", "dc1"]);
        let session = Connector::new(default_policy()).connect().await;
        for (keyspace, replicas) in [(EVERYWHERE, 3), (TWICE, 2)] {
            let replication = format!("{{'class': 'NetworkTopologyStrategy', 'dc1': {replicas}}}");
            Reads::prepare_data(&session, keyspace, &replication).await;
        }
        let reads = Reads::new(session, EVERYWHERE)
            .await
            .expect("the table is there");
        let report = Load::closed(&reads, 200_000).await;
        assert_eq!(report.failed(), 0, "reads of a healthy cluster");
        let rate = affordable_rate(&reads).await;
        Self { cluster, rate }
    }

    /// A proxy before node 2.
    pub(crate) async fn proxy(&self) -> FaultProxy {
        FaultProxy::start("127.0.0.2:9042")
            .await
            .expect("a port is free")
    }
}

/// The highest of the rates at which the machine is not slow by itself.
async fn affordable_rate(reads: &Arc<Reads>) -> u64 {
    for rate in RATES {
        let p99 = Load::run(reads, rate, seconds(3)).await.percentile(99);
        println!("{rate} reads a second: p99 {p99:.1?}");
        if p99 < SLOW {
            return rate;
        }
    }
    RATES[RATES.len() - 1]
}

/// Our balancer for clients in a datacenter.
pub(crate) fn balancer(datacenter: &str) -> Balancer {
    let child = TokenAware::new(DatacenterAware::new(datacenter)).seed(fastrand::u64(..));
    let chain = LatencyAware::builder()
        .listener(|event: &Event| println!("  {:?}: {event}", event.at))
        .build(child);
    Arc::new(LoadBalancer::new(chain.expect("the defaults are valid")))
}

/// What the driver does without us.
pub(crate) fn default_policy() -> Arc<dyn LoadBalancingPolicy> {
    DefaultPolicy::builder().build()
}

/// How many requests a balancer has sent to a node first, and how many of those were late.
pub(crate) fn picks(balancer: &Balancer, node: u8) -> (u64, u64) {
    let status = balancer.status();
    let of = status
        .iter()
        .find(|status| status.address.ip().to_string() == format!("127.0.0.{node}"));
    of.map_or((0, 0), |status| (status.picks, status.unanswered))
}

/// How many requests a balancer has seen.
pub(crate) fn all_picks(balancer: &Balancer) -> u64 {
    balancer.status().iter().map(|status| status.picks).sum()
}

pub(crate) const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

pub(crate) const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}
