//! Replication against embedded servers: what each of them holds afterwards.

use std::collections::HashMap;
use std::time::Duration;

use steersman_memcached::{Client, StoreOutcome};
use steersman_testkit::Server;

/// What one server holds under a key.
async fn held(server: &Server, key: &str) -> Option<String> {
    let client = Client::builder().node(server.node()).build().unwrap();
    let value = client.get(key).await.unwrap()?;
    Some(String::from_utf8(value.data.to_vec()).unwrap())
}

#[tokio::test]
async fn values_are_on_the_replicas_and_outlive_an_outage() {
    let mut servers = HashMap::new();
    for _ in 0..3 {
        let server = Server::start().await.unwrap();
        servers.insert(server.node(), server);
    }
    let client = Client::builder()
        .nodes(servers.keys().cloned())
        .replicas(2)
        .build()
        .unwrap();
    client.ready(Duration::from_secs(10)).await.unwrap();
    let keys: Vec<String> = (0..60).map(|n| format!("key-{n}")).collect();
    for key in &keys {
        client.set(key, key).await.unwrap();
    }
    let replicas = |key: &str| -> Vec<String> {
        let nodes = client.replicas_for_key(key).unwrap();
        nodes.iter().map(|node| node.name().to_owned()).collect()
    };
    for key in &keys[..10] {
        let holders = replicas(key);
        for (node, server) in &servers {
            let expected = holders.contains(node).then(|| key.clone());
            assert_eq!(held(server, key).await, expected, "{key} at {node}");
        }
    }

    let key = &keys[0];
    let [owner, other] = &replicas(key)[..] else {
        panic!("two replicas")
    };
    assert_eq!(client.append(key, "+").await.unwrap(), StoreOutcome::Stored);
    let appended = Some(format!("{key}+"));
    assert_eq!(held(&servers[owner], key).await, appended);
    assert_eq!(held(&servers[other], key).await, None);
    let cas = client.gets(key).await.unwrap().unwrap().cas.unwrap();
    assert!(client.cas(key, "swapped", cas).await.unwrap().is_stored());
    for node in [owner, other] {
        assert_eq!(held(&servers[node], key).await, Some("swapped".to_owned()));
    }
    client.set(key, key).await.unwrap();

    // One server dies: every key is still read, one by one and together.
    servers.remove(owner).unwrap().stop().await;
    for key in &keys {
        assert_eq!(client.get(key).await.unwrap().unwrap().data, *key);
    }
    let many = client.get_many(&keys).await;
    assert_eq!(many.found.len(), keys.len(), "{many:?}");
    let error = client.set(key, "new").await.unwrap_err();
    let report = error.replicas().unwrap();
    let down: Vec<_> = report.iter().filter(|(_, done)| done.is_err()).collect();
    assert_eq!(down.len(), 1);
    assert_eq!(&*down[0].0, owner);
}
