//! Nodes die, come back, leave and join.

use std::sync::Arc;
use std::time::Duration;

use steersman_e2e::cassandra::{Connector, Load, Reads, Report};
use tokio::task::block_in_place;
use tokio::time::Instant;

use crate::world::{Balancer, EVERYWHERE, TWICE, World, balancer, picks, seconds};

/// Reads until what came of the last thousand is as it should be.
async fn reads_until(reads: &Arc<Reads>, what: &str, is_so: impl Fn(&Report) -> bool) {
    let deadline = Instant::now() + seconds(90);
    loop {
        let report = Load::run(reads, 1_000, seconds(1)).await;
        report.assert_none_failed(&format!("while waiting until {what}"));
        if is_so(&report) {
            return;
        }
        let shares = [1, 2, 3, 4].map(|node| report.count(node));
        assert!(Instant::now() < deadline, "not {what}: {shares:?}");
    }
}

async fn session(datacenter: &str, keyspace: &'static str) -> (Balancer, Arc<Reads>) {
    let balancer = balancer(datacenter);
    let session = Connector::new(balancer.clone()).connect().await;
    (
        balancer,
        Reads::new(session, keyspace)
            .await
            .expect("the table is there"),
    )
}

pub(crate) async fn killed_and_restarted(world: &World) {
    let (balancer, reads) = session("dc1", EVERYWHERE).await;
    let load = Load::start(&reads, 1_000);
    load.until(seconds(1)).await;
    block_in_place(|| world.cluster.kill(3));
    let killed = load.elapsed();
    load.until(killed + seconds(3)).await;
    let report = load.stop().await;
    let dead = report.during(killed + seconds(1)..Duration::MAX);
    println!(
        "{} reads of node 3 before; picks {:?}",
        report.count(3),
        picks(&balancer, 3)
    );
    report.assert_none_failed("though they can be repeated at other nodes");
    assert_eq!(dead.count(3), 0);

    let before = balancer.status().len();
    block_in_place(|| world.cluster.restart(3));
    reads_until(&reads, "node 3 has its share", |report| {
        report.count(3) > 200
    })
    .await;
    assert_eq!(balancer.status().len(), before, "it is the same node");
}

pub(crate) async fn a_node_leaves(world: &World) {
    let (balancer, reads) = session("dc1", TWICE).await;
    let load = Load::start(&reads, 500);
    block_in_place(|| world.cluster.leave(3));
    let report = load.stop().await;
    println!(
        "{} reads while it left, {} failed",
        report.samples.len(),
        report.failed()
    );
    report.assert_none_failed("while a node left");
    // The driver reads its list of nodes again at once, if it is told, or within a minute.
    reads
        .session()
        .refresh_metadata()
        .await
        .expect("node 1 runs");
    reads_until(&reads, "node 3 is gone", |report| report.count(3) == 0).await;
    let report = Load::closed(&reads, 10_000).await;
    report.assert_none_failed("without node 3");
    assert_eq!(report.count(3), 0);
    let known: Vec<_> = balancer
        .status()
        .iter()
        .map(|status| status.address.to_string())
        .collect();
    assert!(
        known.len() == 2 && !known.contains(&"127.0.0.3:9042".to_owned()),
        "{known:?}"
    );
}

pub(crate) async fn a_node_joins(world: &World) {
    let (balancer, reads) = session("dc1", TWICE).await;
    let load = Load::start(&reads, 500);
    block_in_place(|| world.cluster.join(4, "dc2"));
    let report = load.stop().await;
    println!(
        "{} reads while it joined, {} failed",
        report.samples.len(),
        report.failed()
    );
    report.assert_none_failed("while a node joined");
    reads
        .session()
        .refresh_metadata()
        .await
        .expect("node 1 runs");
    reads_until(&reads, "node 4 is connected", |_| {
        let status = balancer.status();
        status
            .iter()
            .any(|node| node.datacenter.as_deref() == Some("dc2") && node.is_connected)
    })
    .await;
}

/// Three nodes in two datacenters: two in the first, one in the second.
pub(crate) async fn requests_stay_in_their_datacenter(_: &World) {
    for (datacenter, nodes) in [("dc1", &[1, 2][..]), ("dc2", &[4])] {
        let (_, reads) = session(datacenter, TWICE).await;
        let report = Load::closed(&reads, 10_000).await;
        report.assert_none_failed("in two datacenters");
        for node in 1..=4 {
            let share = report.percent(node);
            if nodes.contains(&node) {
                // A machine that is busy may make one of two slow; then it has little.
                assert!(share > 0.0, "node {node} of {datacenter}: {share} %");
            } else {
                assert!(share == 0.0, "node {node} for {datacenter}: {share} %");
            }
        }
    }
}
