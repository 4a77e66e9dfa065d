//! Each key on two of three nodes: reads go on when a node is slow, and when it is gone.
//!
//! ```sh
//! cargo run -p steersman-memcached --example replication
//! ```

use std::error::Error;
use std::time::{Duration, Instant};

use steersman_memcached::{Client, NodeConfig, Replication};
use steersman_testkit::Server;

const KEYS: usize = 200;

/// How late the slow node answers.
const LATE: Duration = Duration::from_millis(200);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    run().await
}

pub(crate) async fn run() -> Result<(), Box<dyn Error>> {
    let mut servers = Vec::new();
    for _ in 0..3 {
        servers.push(Server::start().await?);
    }
    let client = Client::builder()
        .nodes(servers.iter().map(Server::node))
        .replicas(Replication::new(2))
        .build()?;
    client.ready(Duration::from_secs(5)).await?;

    for number in 0..KEYS {
        // Stored on both nodes, or an error that says on which it is not.
        client.set(key(number), "Ada").await?;
    }
    let owners = client.replicas_for_key(key(0))?;
    let names: Vec<_> = owners.iter().map(NodeConfig::name).collect();
    println!("{} is on {} and {}", key(0), names[0], names[1]);

    // A read that is not answered soon is asked of the other replica, too; that is what hedging is. A
    // node that is slow for long is not asked first any more.
    servers[0].faults().set_latency(LATE);
    let began = Instant::now();
    read_all(&client).await?;
    let hedges = client.replication_metrics().hedges;
    println!(
        "one node answers {LATE:?} late: {KEYS} reads in {:.0?}, {hedges} of them hedged",
        began.elapsed()
    );
    servers[0].faults().clear();

    // Without one of its nodes a key is still on the other.
    servers[1].stop().await;
    read_all(&client).await?;
    println!("one node is gone: all {KEYS} keys are read all the same");
    client.close().await;
    Ok(())
}

/// Reads every key, and finds it.
async fn read_all(client: &Client) -> Result<(), Box<dyn Error>> {
    for number in 0..KEYS {
        let value = client.get(key(number)).await?;
        assert_eq!(
            value.map(|value| value.data).as_deref(),
            Some(&b"Ada"[..]),
            "an outage is never a miss"
        );
    }
    Ok(())
}

fn key(number: usize) -> String {
    format!("user:{number}")
}
