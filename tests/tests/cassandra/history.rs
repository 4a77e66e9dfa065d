//! Balancers that listen to the history of requests.

use std::sync::Arc;
use std::time::Instant;

use steersman_e2e::cassandra::{Connector, Load, Reads};
use steersman_scylla::selection::Policy;
use steersman_scylla::{DatacenterAware, LoadBalancer, TokenAware};
use steersman_testkit::FaultProxy;

use crate::world::{EVERYWHERE, World, balancer, millis, picks, seconds};

/// A balancer that listens, and reads of a session under it after all nodes have answered. Node 2 is behind a
/// proxy, so the driver sends to another address than the node's own.
async fn listening<P: Policy + 'static>(
    proxy: &FaultProxy,
    balancer: impl Fn() -> Arc<LoadBalancer<P>>,
    with: impl Fn(Connector) -> Connector,
) -> (Arc<LoadBalancer<P>>, Arc<Reads>) {
    let deadline = Instant::now() + seconds(60);
    loop {
        let balancer = balancer();
        let connector = Connector::new(balancer.clone()).through(2, proxy);
        let session = with(connector).connect().await;
        let reads = Reads::listened_to(session, EVERYWHERE, balancer.clone())
            .await
            .expect("the table is there");
        // The session may still be connecting to node 2.
        let report = loop {
            let report = Load::closed(&reads, 300).await;
            if report.failed() > 0 || report.count(2) > 0 || Instant::now() >= deadline {
                break report;
            }
        };
        // Nodes that were just started, on a machine with much to do, take their time for a read. What one
        // that timed out is counted for may show later, so another session begins without.
        if report.failed() == 0 && report.count(2) > 0 {
            return (balancer, reads);
        }
        assert!(
            Instant::now() < deadline,
            "all is well, and node 2 has answered {} of 300 reads, while {} have failed",
            report.count(2),
            report.failed()
        );
    }
}

/// A read that timed out is counted when it returns, without waiting for it to be overdue.
pub(crate) async fn time_outs_count_at_once_and_once(world: &World) {
    let proxy = world.proxy().await;
    let with = |connector: Connector| connector.timeout(millis(300));
    let (balancer, reads) = listening(&proxy, || balancer("dc1"), with).await;
    let unanswered = || -> u64 {
        let status = balancer.status();
        status.iter().map(|node| node.unanswered).sum()
    };
    let mut failed = unanswered();
    proxy.faults().set_latency(millis(900));
    let before = failed;
    for number in 0..60 {
        failed += u64::from(reads.read(number).await.is_err());
        assert_eq!(unanswered(), failed, "after read {number}");
    }
    println!(
        "{} reads timed out; picks and unanswered of node 2 {:?}",
        failed - before,
        picks(&balancer, 2)
    );
    assert!(failed > before, "node 2 was asked");
    // They are overdue by now, and are not counted again for that.
    let report = Load::closed(&reads, 300).await;
    assert_eq!(
        unanswered(),
        failed + u64::try_from(report.failed()).expect("a small number")
    );
}

/// The loser of a speculative execution is counted when the winner returns.
pub(crate) async fn losers_count_at_once(world: &World) {
    let proxy = world.proxy().await;
    // Nobody is penalised here, so node 2 goes on being asked.
    let chain = || TokenAware::new(DatacenterAware::new("dc1"));
    let (balancer, reads) = listening(
        &proxy,
        || Arc::new(LoadBalancer::new(chain())),
        |connector| connector.speculate(millis(30)),
    )
    .await;
    let before = picks(&balancer, 2);
    proxy.faults().set_latency(millis(900));
    for number in 0..60 {
        let node = reads.read(number).await.expect("other nodes are well");
        assert_ne!(node, 2);
        let after = picks(&balancer, 2);
        // It may have lost speculative attempts of others too.
        assert!(
            after.1 - before.1 >= after.0 - before.0,
            "after read {number}: {before:?}, {after:?}"
        );
    }
    let after = picks(&balancer, 2);
    println!("picks and unanswered of node 2: {before:?}, {after:?}");
    assert!(after.0 > before.0, "node 2 was asked");
}
