//! The client against real memcached servers, and the same operations against the embedded one.

mod allocations;
mod auth;
mod cancelled;
mod failures;
mod fill;
mod hazards;
mod load;
mod members;
mod operations;
mod recorder;
mod replicas;
mod tls;
mod values;

use std::time::Duration;

use steersman_e2e::memcached::RealMemcached;
use steersman_memcached::{Backoff, Builder, Client};

fn memcached() -> RealMemcached {
    RealMemcached::start().unwrap_or_else(|error| panic!("{error}"))
}

/// A client's options with waits that suit a test.
fn quick(nodes: impl IntoIterator<Item = String>) -> Builder {
    let backoff = Backoff {
        initial: Duration::from_millis(20),
        max: Duration::from_millis(100),
        jitter: 0.5,
    };
    Client::builder()
        .nodes(nodes)
        .backoff(backoff)
        .timeout(Duration::from_secs(5))
}

fn client(server: &RealMemcached) -> Client {
    quick([server.node()]).build().unwrap()
}

/// Stores so many keys, each as its own value.
async fn stored(client: &Client, count: usize) -> Vec<String> {
    let keys: Vec<String> = (0..count).map(|n| format!("key-{n}")).collect();
    for key in &keys {
        client.set(key, key).await.unwrap();
    }
    keys
}

/// A patience that only a fault exhausts.
const LONG: Duration = Duration::from_secs(20);
