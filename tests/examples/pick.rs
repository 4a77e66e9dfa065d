//! What a pick costs, and a report of a latency, through the driver's trait: our balancer beside the
//! driver's default policy, on a real cluster, whose state cannot be built otherwise.
//!
//! ```text
//! scripts/cassandra/cluster start dc1 dc1 dc1
//! cargo run --release -p steersman-e2e --example pick
//! ```
//!
//! Prints the medians of rounds that take turns. Both keep to the datacenter `dc1` and take the
//! token into account; nothing is sent while they are measured.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use scylla::client::session::Session;
use scylla::cluster::ClusterState;
use scylla::frame::response::result::TableSpec;
use scylla::policies::load_balancing::{DefaultPolicy, LoadBalancingPolicy, RoutingInfo};
use scylla::routing::Token;
use steersman_e2e::cassandra::{Connector, Reads};
use steersman_scylla::{DatacenterAware, LatencyAware, LoadBalancer, TokenAware};

const KEYSPACE: &str = "picked";
const ROUNDS: usize = 41;
const PICKS: u32 = 20_000;

#[tokio::main]
async fn main() {
    let chain = LatencyAware::new(TokenAware::new(DatacenterAware::new("dc1")));
    let ours: Arc<dyn LoadBalancingPolicy> = Arc::new(LoadBalancer::new(chain));
    let default = DefaultPolicy::builder()
        .prefer_datacenter("dc1".to_owned())
        .build();

    let session = Connector::new(Arc::clone(&ours)).connect().await;
    Reads::prepare_data(
        &session,
        KEYSPACE,
        "{'class': 'NetworkTopologyStrategy', 'dc1': 3}",
    )
    .await;
    let state = schema_of(&session).await;

    let mut measured = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        for (policy, measured) in [&ours, &default].into_iter().zip(&mut measured) {
            measured.push(round(&**policy, &state));
        }
    }
    for (name, measured) in ["ours", "default"].into_iter().zip(&measured) {
        let [pick, report] = [0, 1].map(|column| {
            let mut nanos: Vec<_> = measured.iter().map(|round| round[column]).collect();
            nanos.sort_by(f64::total_cmp);
            nanos[nanos.len() / 2]
        });
        println!("{name:<8} pick {pick:4.0} ns   report {report:4.0} ns");
    }
}

/// The state of the cluster, once it knows the keyspace.
async fn schema_of(session: &Session) -> Arc<ClusterState> {
    session.refresh_metadata().await.expect("node 1 runs");
    let state = session.get_cluster_state();
    assert!(state.get_keyspace(KEYSPACE).is_some());
    state
}

/// The nanoseconds of a pick, and of a report.
fn round(policy: &dyn LoadBalancingPolicy, state: &ClusterState) -> [f64; 2] {
    let table = TableSpec::borrowed(KEYSPACE, "t");
    let mut info = RoutingInfo::default();
    info.table = Some(&table);
    let mut picked = Vec::with_capacity(PICKS as usize);
    let began = Instant::now();
    for number in 0..PICKS {
        // The ring is 2^64 long, so that multiples of an odd number this large fall all over it.
        info.token = Some(Token::new(
            i64::from(number).wrapping_mul(0x1e37_79b9_7f4a_7c15),
        ));
        let (node, _) = black_box(policy.pick(&info, state)).expect("all nodes are up");
        picked.push(node.host_id);
    }
    let pick = began.elapsed();
    let nodes: Vec<_> = picked
        .iter()
        .filter_map(|&host_id| state.get_node_by_host_id(host_id))
        .collect();
    let began = Instant::now();
    for node in nodes {
        policy.on_request_success(&info, Duration::from_millis(2), node);
    }
    [pick, began.elapsed()].map(|time| time.as_secs_f64() * 1e9 / f64::from(PICKS))
}
