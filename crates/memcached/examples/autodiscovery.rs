//! A cluster that tells of its nodes itself, as Amazon ElastiCache does, and grows while it is used.
//!
//! ```sh
//! cargo run -p steersman-memcached --example autodiscovery
//! ```

use std::error::Error;
use std::time::Duration;

use steersman_memcached::{Client, ElastiCache};
use steersman_testkit::{ClusterConfiguration, Server};

const KEYS: usize = 200;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    run().await
}

pub(crate) async fn run() -> Result<(), Box<dyn Error>> {
    let servers = [
        Server::start().await?,
        Server::start().await?,
        Server::start().await?,
    ];
    let nodes = servers.each_ref().map(Server::node);
    // The embedded server can be a configuration endpoint. Yours is the one that ElastiCache shows.
    let endpoint = Server::start().await?;
    endpoint.configure(ClusterConfiguration::new(1, &nodes[..2]));

    let client = Client::builder()
        .discovery(ElastiCache::new(&endpoint.node())?)
        // A minute if it is not set: here nobody wants to wait.
        .discovery_interval(Duration::from_millis(50))
        .build()?;
    let mut events = client.events();
    client.ready(Duration::from_secs(5)).await?;
    for number in 0..KEYS {
        client.set(format!("user:{number}"), "Ada").await?;
    }
    println!("{KEYS} keys on {} nodes", client.nodes().len());

    // The list grows: about a third of the keys belong to the new node from now on.
    endpoint.configure(ClusterConfiguration::new(2, &nodes));
    while client.nodes().len() < nodes.len() {
        // Or wait for `Event::ListTaken`, or do nothing at all: calls go where they belong by themselves.
        let event = events.recv().await.ok_or("the client was closed")?;
        println!("{event:?}");
    }
    let keys: Vec<String> = (0..KEYS).map(|number| format!("user:{number}")).collect();
    let read = client.get_many(&keys).await;
    assert!(read.failed.is_empty(), "no call fails by a change");
    println!(
        "then {} nodes: {} keys where they were, {} belong to the new one",
        client.nodes().len(),
        read.found.len(),
        read.missing.len()
    );

    // An older list is one that came late, and nothing changes.
    endpoint.configure(ClusterConfiguration::new(1, &nodes[..1]));
    client.get("user:0").await?;
    assert_eq!(client.nodes().len(), nodes.len());
    client.close().await;
    Ok(())
}
