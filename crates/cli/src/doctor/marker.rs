//! A marker at each node: whether it keeps what is stored, and whether two nodes are one server.

use std::time::Duration;

use futures_util::future::join_all;
use steersman_memcached::{Client, Error};

/// Markers that cannot be deleted are gone after this.
const TTL: Duration = Duration::from_secs(60);

/// What became of a node's marker.
#[derive(Debug)]
pub(super) enum Mark {
    /// None was left, as the node does not answer.
    None,
    /// It is the marker of this node, by its number, that was found; it should be its own.
    Of(usize),
    /// It was not there when it was read.
    Lost,
    Failed(Error),
}

/// Leaves a marker at each node that has a client, reads them all, and takes them away.
///
/// All have the same key, so that of two nodes that are one server one finds the other's.
pub(super) async fn leave(clients: &[Option<&Client>]) -> Vec<Mark> {
    let key = format!("steersman:doctor:{:016x}", fastrand::u64(..));
    let key = key.as_str();
    let stored = clients.iter().enumerate().map(async |(at, client)| {
        let client = (*client)?;
        Some(client.set(key, at.to_string()).expires_in(TTL).await)
    });
    let stored = join_all(stored).await;
    let read = clients
        .iter()
        .zip(stored)
        .map(async |(client, stored)| match (client, stored) {
            (_, Some(Err(error))) => Mark::Failed(error),
            (Some(client), Some(Ok(()))) => found(client, key).await,
            _ => Mark::None,
        });
    let marks = join_all(read).await;
    let deleted = clients.iter().flatten().map(async |client| {
        // Otherwise it expires.
        let _ = client.delete(key).await;
    });
    join_all(deleted).await;
    marks
}

async fn found(client: &Client, key: &str) -> Mark {
    match client.get(key).await {
        Err(error) => Mark::Failed(error),
        Ok(None) => Mark::Lost,
        Ok(Some(value)) => {
            let number = str::from_utf8(&value.data).ok();
            let number = number.and_then(|digits| digits.parse().ok());
            number.map_or(Mark::Lost, Mark::Of)
        }
    }
}
