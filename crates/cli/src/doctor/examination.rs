//! One node from the outside in: its name, its addresses, and what it says of itself.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use steersman_memcached::{
    Client, Connector, Endpoint, Error, NodeConfig, Resolver, Sockets, SystemResolver,
};
use tokio::time::Instant;

use super::stats::Stats;
use crate::context::Context;
use crate::duration::within;

/// What was seen of one node.
#[derive(Debug)]
pub(super) struct Examination {
    pub(super) name: String,
    pub(super) endpoint: Endpoint,
    /// What its name stands for, or why it stands for nothing.
    pub(super) addresses: Result<Vec<Address>, String>,
    /// What it said to a client with the given options.
    pub(super) answer: Result<Answered, Error>,
}

/// One of the addresses that a node's name stands for.
#[derive(Debug)]
pub(super) struct Address {
    pub(super) address: String,
    /// How long it took to connect, or why it was not possible.
    pub(super) connected: Result<Duration, String>,
}

/// What a node said of itself.
#[derive(Debug)]
pub(super) struct Answered {
    /// How long it took, a connection being there.
    pub(super) took: Duration,
    pub(super) version: String,
    /// The general statistics and the settings; empty if it has none.
    pub(super) stats: Stats,
    pub(super) settings: Stats,
    /// How far its clock is ahead of ours, in seconds, if it tells.
    pub(super) skew: Option<i64>,
}

pub(super) async fn examine(node: &NodeConfig, client: &Client, context: &Context) -> Examination {
    let limit = context.settings.timeout;
    let (addresses, answer) =
        futures_util::future::join(addresses(node.endpoint(), limit), ask(client, node.name()))
            .await;
    Examination {
        name: node.name().to_owned(),
        endpoint: node.endpoint().clone(),
        addresses,
        answer,
    }
}

async fn addresses(endpoint: &Endpoint, limit: Option<Duration>) -> Result<Vec<Address>, String> {
    let Endpoint::Tcp { host, port } = endpoint else {
        let connected = connect(endpoint, None, limit).await;
        let address = endpoint.to_string();
        return Ok(vec![Address { address, connected }]);
    };
    let resolved = if let Ok(address) = host.parse::<IpAddr>() {
        vec![SocketAddr::new(address, *port)]
    } else {
        let resolved = answer(limit, SystemResolver.resolve(host, *port)).await?;
        resolved.addresses().to_vec()
    };
    let connected = resolved.into_iter().map(async |address| Address {
        address: address.to_string(),
        connected: connect(endpoint, Some(address), limit).await,
    });
    Ok(futures_util::future::join_all(connected).await)
}

async fn connect(
    endpoint: &Endpoint,
    address: Option<SocketAddr>,
    limit: Option<Duration>,
) -> Result<Duration, String> {
    let sockets = Sockets::default();
    let started = Instant::now();
    let connecting = match address {
        Some(address) => sockets.connect_to(endpoint, address),
        None => sockets.connect(endpoint),
    };
    answer(limit, connecting).await?;
    Ok(started.elapsed())
}

async fn answer<T>(
    limit: Option<Duration>,
    work: impl Future<Output = io::Result<T>>,
) -> Result<T, String> {
    match within(limit, work).await {
        Ok(done) => done.map_err(|error| error.to_string()),
        Err(limit) => Err(format!("no answer within {limit:?}")),
    }
}

async fn ask(client: &Client, name: &str) -> Result<Answered, Error> {
    let node = client.node(name)?;
    // The first answer takes a connection too.
    node.version().await?;
    let started = Instant::now();
    let version = node.version().await?;
    let took = started.elapsed();
    let before = SystemTime::now();
    // A proxy may have none. Then it is known less about it, and that is all.
    let stats = Stats::from(node.stats("").await.unwrap_or_default());
    let after = SystemTime::now();
    let settings = Stats::from(node.stats("settings").await.unwrap_or_default());
    Ok(Answered {
        took,
        version,
        skew: stats
            .number("time")
            .and_then(|time| skew(time, before, after)),
        stats,
        settings,
    })
}

/// How far a clock is ahead that showed `time` between two times of ours, at the least.
///
/// memcached's clock has whole seconds and moves a little late: what it shows may be up to 2 seconds
/// behind what it means.
fn skew(time: u64, before: SystemTime, after: SystemTime) -> Option<i64> {
    const LATE: i64 = 2;
    let seconds = |time: SystemTime| {
        let since = time.duration_since(UNIX_EPOCH).ok()?;
        i64::try_from(since.as_secs()).ok()
    };
    let time = i64::try_from(time).ok()?;
    let (before, after) = (seconds(before)?, seconds(after)?);
    if time > after {
        return time.checked_sub(after);
    }
    let latest = time.checked_add(LATE)?;
    Some(if latest < before { latest - before } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_skewed_by_what_its_lateness_does_not_explain() {
        let at = |seconds| UNIX_EPOCH + Duration::from_secs(seconds);
        for (time, ahead) in [
            (100, 0),
            (98, 0),
            (97, -1),
            (40, -58),
            (101, 0),
            (102, 1),
            (160, 59),
        ] {
            assert_eq!(skew(time, at(100), at(101)), Some(ahead), "{time}");
        }
        assert_eq!(skew(u64::MAX, at(100), at(101)), None);
    }
}
