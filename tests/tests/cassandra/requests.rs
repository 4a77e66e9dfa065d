//! A healthy cluster: where requests go.

use scylla::policies::load_balancing::RoutingInfo;
use scylla::statement::{Consistency, SerialConsistency};
use steersman_e2e::cassandra::{Connector, Load, Reads};

use crate::world::{EVERYWHERE, TWICE, World, balancer, seconds};

/// The coordinator of each read is a replica of the row, whichever session and keyspace.
pub(crate) async fn replicas_answer(_: &World) {
    let balancer = balancer("dc1");
    let session = Connector::new(balancer.clone()).connect().await;
    let reads = Reads::new(session, TWICE)
        .await
        .expect("the table is there");
    let mut counts = [0; 4];
    for number in 0..1_000 {
        let replicas = reads.replicas(number);
        assert_eq!(replicas.len(), 2);
        let node = reads.read(number).await.expect("the cluster is healthy");
        assert!(
            replicas.contains(&node),
            "row {number} of {replicas:?} was read from {node}"
        );
        counts[usize::from(node)] += 1;
    }
    assert!(counts[1..].iter().all(|&count| count > 50), "{counts:?}");
    // At full load a node may be penalised, but no read fails.
    let report = Load::closed(&reads, 10_000).await;
    report.assert_none_failed("at full load");
    // A request without a key may go to any node.
    let why = balancer.explain(
        &RoutingInfo::default(),
        &reads.session().get_cluster_state(),
    );
    assert_eq!(why.nodes.len(), 3, "{why}");
}

/// Transactions of one row go to the same node, whichever client sends them.
pub(crate) async fn transactions_meet_at_one_node(_: &World) {
    let mut coordinators: Vec<Vec<_>> = Vec::new();
    for _ in 0..2 {
        let session = Connector::new(balancer("dc1")).connect().await;
        let update = format!("UPDATE {TWICE}.t SET v = 'value' WHERE k = ? IF EXISTS");
        let mut update = session.prepare(update).await.expect("the table is there");
        update.set_consistency(Consistency::Quorum);
        update.set_serial_consistency(Some(SerialConsistency::Serial));
        let select = format!("SELECT v FROM {TWICE}.t WHERE k = ?");
        let mut select = session.prepare(select).await.expect("the table is there");
        select.set_consistency(Consistency::Serial);
        let mut nodes = Vec::new();
        for key in 0..30 {
            for statement in [&select, &select, &update] {
                let result = session.execute_unpaged(statement, (key,)).await;
                let result = result.expect("the cluster is healthy");
                nodes.push((key, result.request_coordinator().node().host_id));
            }
        }
        // Whether a write is a transaction, only ScyllaDB tells the driver.
        let reads = nodes.chunks(3).flat_map(|chunk| chunk[..2].to_vec());
        coordinators.push(reads.collect());
    }
    assert_eq!(coordinators[0], coordinators[1]);
    for pair in coordinators[0].chunks(2) {
        assert_eq!(pair[0], pair[1]);
    }
}

/// Noise does not make one of several fast nodes the favourite.
pub(crate) async fn equal_nodes_have_equal_shares(world: &World) {
    let session = Connector::new(balancer("dc1")).connect().await;
    let reads = Reads::new(session, EVERYWHERE)
        .await
        .expect("the table is there");
    let report = Load::run(&reads, world.rate, seconds(10)).await;
    report.assert_none_failed("with all nodes well");
    let shares = [1, 2, 3].map(|node| report.percent(node));
    let (p50, p99) = (report.percentile(50), report.percentile(99));
    println!("shares {shares:.1?} %, p50 {p50:.1?}, p99 {p99:.1?}");
    assert!(
        shares.iter().all(|share| (25.0..=41.0).contains(share)),
        "equal nodes have unequal shares"
    );
}
