//! What the scenarios share: the cluster, its data, and the balancers they try.

use std::sync::Arc;
use std::time::Duration;

use scylla::policies::load_balancing::{DefaultPolicy, LoadBalancingPolicy};
use steersman_e2e::cassandra::{Cluster, Connector, Load, Reads};
use steersman_scylla::selection::{Event, Policy};
use steersman_scylla::{DatacenterAware, LatencyAware, LoadBalancer, TokenAware};
use steersman_testkit::FaultProxy;

/// A keyspace whose rows are on all of the first three nodes.
pub(crate) const EVERYWHERE: &str = "everywhere";
/// A keyspace whose rows are on two nodes of the first datacenter each.
pub(crate) const TWICE: &str = "twice";

/// The chain that is recommended.
pub(crate) type Chain = LatencyAware<TokenAware<DatacenterAware>>;
pub(crate) type Balancer = Arc<LoadBalancer<Chain>>;

/// How many reads a second the scenarios about time run at.
const RATE: u64 = 3_000;

pub(crate) struct World {
    pub(crate) cluster: Cluster,
    /// Reads a second.
    pub(crate) rate: u64,
}

impl World {
    /// Three nodes in one datacenter, with data. For what is about time they are warmed up.
    pub(crate) async fn create(about_time: bool) -> Self {
        let cluster = Cluster::start(&["dc1", "dc1", "dc1"]);
        let session = Connector::new(default_policy()).connect().await;
        for (keyspace, replicas) in [(EVERYWHERE, 3), (TWICE, 2)] {
            let replication = format!("{{'class': 'NetworkTopologyStrategy', 'dc1': {replicas}}}");
            Reads::prepare_data(&session, keyspace, &replication).await;
        }
        if about_time {
            let reads = Reads::new(session, EVERYWHERE)
                .await
                .expect("the table is there");
            warm_up(&reads).await;
        }
        Self {
            cluster,
            rate: RATE,
        }
    }

    /// A proxy before node 2.
    pub(crate) async fn proxy(&self) -> FaultProxy {
        FaultProxy::start("127.0.0.2:9042")
            .await
            .expect("a port is free")
    }
}

/// Reads until the nodes keep up with the rate, that of a client that has just come too: a JVM that
/// has just started takes ten times as long for a request, and for some time stops again and again to
/// compile, as it does when the first other clients connect.
async fn warm_up(reads: &Arc<Reads>) {
    let report = Load::closed(reads, 200_000).await;
    report.assert_none_failed("while the nodes warm up");
    let mut calm = 0;
    for _ in 0..12 {
        let session = Connector::new(default_policy()).connect().await;
        let reads = Reads::new(session, EVERYWHERE)
            .await
            .expect("the table is there");
        let p99 = Load::run(&reads, RATE, seconds(5)).await.percentile(99);
        println!("{RATE} reads a second: p99 {p99:.1?}");
        calm = if p99 < millis(10) { calm + 1 } else { 0 };
        if calm == 3 {
            return;
        }
    }
    println!("this machine is too busy, or too slow, for scenarios about time");
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
pub(crate) fn picks<P: Policy>(balancer: &LoadBalancer<P>, node: u8) -> (u64, u64) {
    let status = balancer.status();
    let of = status
        .iter()
        .find(|status| status.address.ip().to_string() == format!("127.0.0.{node}"));
    of.map_or((0, 0), |status| (status.picks, status.unanswered))
}

pub(crate) const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

pub(crate) const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}
