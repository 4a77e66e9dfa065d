//! Replicated reads and writes on real servers that are paused, killed and started again.

use std::time::Duration;

use steersman_e2e::memcached::RealMemcached;
use steersman_memcached::{Client, ErrorKind, ReadPolicy, Replication, WriteSuccess};

use super::{LONG, memcached, quick, stored};

const KEYS: usize = 200;

/// Three servers, and a client whose keys are on two of them.
async fn cluster(replication: Replication) -> ([RealMemcached; 3], Client, Vec<String>) {
    let servers = [memcached(), memcached(), memcached()];
    let client = quick(servers.iter().map(RealMemcached::node))
        .stalled_after(Duration::from_secs(2))
        .replicas(replication)
        .build()
        .unwrap();
    client.ready(LONG).await.unwrap();
    let keys = stored(&client, KEYS).await;
    (servers, client, keys)
}

/// Every key is read, by itself and with the others.
async fn all_are_read(client: &Client, keys: &[String]) {
    for key in keys {
        assert_eq!(client.get(key).await.unwrap().unwrap().data, *key);
    }
    let many = client.get_many(keys).await.into_result().unwrap();
    assert_eq!(many.len(), keys.len());
    for (key, value) in many {
        assert_eq!(value.data, *key);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reads_survive_a_paused_and_a_killed_server() {
    let replication = Replication::new(2).attempt_timeout(Duration::from_millis(50));
    let (mut servers, client, keys) = cluster(replication).await;
    all_are_read(&client, &keys).await;

    servers[0].pause().unwrap();
    all_are_read(&client, &keys).await;
    servers[0].resume().unwrap();
    client.ready(LONG).await.unwrap();
    all_are_read(&client, &keys).await;

    servers[1].kill().unwrap();
    all_are_read(&client, &keys).await;
    servers[1].restart().unwrap();
    client.ready(LONG).await.unwrap();
    client.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reads_survive_a_paused_server_under_every_policy() {
    for policy in ReadPolicy::ALL {
        let replication = Replication::new(2)
            .read_policy(policy)
            .attempt_timeout(Duration::from_millis(50));
        let (servers, client, keys) = cluster(replication).await;
        all_are_read(&client, &keys).await;
        servers[0].pause().unwrap();
        all_are_read(&client, &keys[..50]).await;
        servers[0].resume().unwrap();
        client.ready(LONG).await.unwrap();
        all_are_read(&client, &keys).await;
        client.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_came_back_empty_is_filled_by_repairs() {
    // Who is asked first is filled first.
    let owner_first = Replication::new(2).read_policy(ReadPolicy::InOrder);
    let (mut servers, client, keys) = cluster(owner_first.repair(LONG)).await;
    servers[2].restart().unwrap();
    client.ready(LONG).await.unwrap();
    all_are_read(&client, &keys).await;
    let lost = servers[2].node();
    let owned = keys
        .iter()
        .filter(|key| client.node_for_key(key).unwrap().name() == lost);
    let alone = super::client(&servers[2]);
    for key in owned {
        // The repair was queued before the read ended, but is answered on its own time.
        while alone.get(key).await.unwrap().is_none() {
            tokio::task::yield_now().await;
        }
    }
    assert!(client.replication_metrics().repairs > 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_tells_which_replica_is_down() {
    for success in [WriteSuccess::All, WriteSuccess::Any] {
        let replication = Replication::new(3).write_success(success);
        let (mut servers, client, keys) = cluster(replication).await;
        servers[0].kill().unwrap();
        let down = servers[0].node();
        let report = match client.set(&keys[0], "new").reported().await {
            Ok(written) => {
                assert_eq!(success, WriteSuccess::Any);
                written.replicas
            }
            Err(error) => {
                assert_eq!(success, WriteSuccess::All);
                assert!(
                    matches!(
                        error.kind(),
                        ErrorKind::Unreachable | ErrorKind::ConnectionLost
                    ),
                    "{error}"
                );
                assert!(error.maybe_executed(), "two replicas did it");
                error.replicas().unwrap().clone()
            }
        };
        for (node, result) in report {
            assert_eq!(result.is_err(), *node == *down, "{node}");
        }
        let owner = client.node_for_key(&keys[0]).unwrap();
        let read = client.get(&keys[0]).await.unwrap().unwrap();
        assert_eq!(read.data, "new", "owned by {owner}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn counters_and_conditions_agree_with_the_owner() {
    let (servers, client, _) = cluster(Replication::new(3)).await;
    let counted = async |server: &RealMemcached| {
        let value = super::client(server).get("n").await.unwrap()?;
        Some(String::from_utf8(value.data.to_vec()).unwrap())
    };
    assert!(client.add("n", "5").await.unwrap().is_stored());
    for server in &servers {
        assert_eq!(counted(server).await.as_deref(), Some("5"));
    }
    assert!(!client.add("n", "6").await.unwrap().is_stored());
    assert_eq!(client.increment("n", 2).await.unwrap(), Some(7));
    let owner = client.node_for_key("n").unwrap();
    for server in &servers {
        let expected = (server.node() == owner.name()).then_some("7");
        assert_eq!(counted(server).await.as_deref(), expected);
    }
    let cas = client.gets("n").await.unwrap().unwrap().cas.unwrap();
    assert!(client.cas("n", "8", cas).await.unwrap().is_stored());
    assert!(!client.cas("n", "9", cas).await.unwrap().is_stored());
    for server in &servers {
        assert_eq!(counted(server).await.as_deref(), Some("8"));
    }
    assert!(client.delete("n").await.unwrap());
    for server in &servers {
        assert_eq!(counted(server).await, None);
    }
}
