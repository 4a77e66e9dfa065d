//! Three Cassandra nodes, each behind a proxy.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use steersman_scylla::{DatacenterAware, LoadBalancer, TokenAware};
use steersman_simulator::PolicyKind;
use steersman_testkit::FaultProxy;

use super::load::Reader;
use super::{NEAR, Subject};
use crate::cassandra::{Cluster, Connector, Load, Reads};

const DATACENTER: &str = "dc1";
/// A keyspace whose rows are on all three nodes.
const KEYSPACE: &str = "everywhere";
/// A virtual machine that has just started takes ten times as long: so many reads before it counts.
const WARM_UP: u64 = 200_000;

/// Three real Cassandra nodes that hold the same rows.
#[derive(Debug)]
pub struct Nodes {
    cluster: Cluster,
    proxies: [FaultProxy; 3],
}

impl Nodes {
    /// Starts, fills and warms them, which takes some minutes; or takes those that run already, as another
    /// run has left them.
    ///
    /// # Panics
    ///
    /// If the cluster cannot be started or filled.
    pub async fn start(are_running: bool) -> io::Result<Self> {
        let cluster = if are_running {
            Cluster::running()
        } else {
            Cluster::start(&[DATACENTER; 3])
        };
        let proxies = [
            FaultProxy::start("127.0.0.1:9042").await?,
            FaultProxy::start("127.0.0.2:9042").await?,
            FaultProxy::start("127.0.0.3:9042").await?,
        ];
        let nodes = Self { cluster, proxies };
        if !are_running {
            let reads = nodes.reads(PolicyKind::RoundRobin, 0, true).await;
            let report = Load::closed(&reads, WARM_UP).await;
            report.assert_none_failed("while the nodes warm up");
        }
        for node in 0..3 {
            nodes.set_distance(node, NEAR);
        }
        Ok(nodes)
    }

    /// Leaves the nodes running, for another run.
    pub fn leave(self) {
        self.cluster.leave_running();
    }

    async fn reads(&self, policy: PolicyKind, seed: u64, is_first: bool) -> Arc<Reads> {
        let child = TokenAware::new(DatacenterAware::new(DATACENTER)).seed(seed);
        let balancer = Arc::new(LoadBalancer::new(policy.over(child, seed)));
        let mut connector = Connector::new(balancer).timeout(Duration::from_secs(1));
        for (node, proxy) in (1..).zip(&self.proxies) {
            connector = connector.through(node, proxy);
        }
        let session = connector.connect().await;
        if is_first {
            let replication = format!("{{'class': 'NetworkTopologyStrategy', '{DATACENTER}': 3}}");
            Reads::prepare_data(&session, KEYSPACE, &replication).await;
        }
        let reads = Reads::new(session, KEYSPACE).await;
        reads.expect("the table is there")
    }
}

/// A session with them.
#[derive(Debug)]
pub struct NodeClient(Arc<Reads>);

impl Reader for NodeClient {
    async fn read(&self, number: u64) -> bool {
        self.0.read(number).await.is_ok()
    }
}

impl Subject for Nodes {
    type Client = NodeClient;

    const NAME: &'static str = "Cassandra";
    const DATACENTER: Option<&'static str> = Some(DATACENTER);

    async fn client(&self, policy: PolicyKind, seed: u64) -> NodeClient {
        NodeClient(self.reads(policy, seed, false).await)
    }

    fn set_distance(&self, node: usize, distance: Duration) {
        self.proxies[node].faults().set_latency(distance);
    }

    fn set_still(&self, node: usize, is_still: bool) {
        let number = u8::try_from(node + 1).expect("there are three");
        tokio::task::block_in_place(|| {
            if is_still {
                self.cluster.pause(number);
            } else {
                self.cluster.resume(number);
            }
        });
    }
}
