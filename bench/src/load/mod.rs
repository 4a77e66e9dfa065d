//! What is asked of Steersman, each load in a process of its own.
//!
//! [`Steersman`] keeps the contract that the peers keep; the others print what only they find out.

mod alone;
mod closed;
mod counted;
mod crowd;
mod due;
mod growth;
mod latency;
mod sketch;

use std::process::ExitCode;
use std::time::Duration;

use steersman_bench_contract::printed;
use steersman_memcached::{Builder, Client};

pub(crate) use self::alone::Alone;
pub(crate) use self::closed::{Encrypted, Steersman};
pub(crate) use self::crowd::Crowd;
pub(crate) use self::due::Due;
pub(crate) use self::growth::{Growth, nodes};
pub(crate) use self::sketch::Sketch;
use crate::plan::VALUE;

/// The loads that keep no contract, by the name of their command; None for other names.
pub(crate) fn run(name: &str, args: &[String]) -> Option<ExitCode> {
    let named = |error| format!("{name}: {error}");
    Some(match name {
        "alone" => printed(alone::run(args).map_err(named)),
        "counted" => printed(counted::run(args).map_err(named)),
        "crowd" => printed(crowd::run(args).map_err(named)),
        "due" => printed(due::run(args).map_err(named)),
        "growth" => printed(growth::run(args).map_err(named)),
        _ => return None,
    })
}

/// The argument of that number.
fn argument<T: std::str::FromStr>(args: &[String], index: usize, name: &str) -> Result<T, String> {
    let text = args
        .get(index)
        .ok_or_else(|| format!("{name} is missing"))?;
    text.parse().map_err(|_| format!("{name}: {text} is none"))
}

/// A client of one server with so many connections, once they stand.
async fn connect(server: &str, connections: usize) -> Result<Client, String> {
    build(Client::builder(), server, connections).await
}

async fn build(builder: Builder, server: &str, connections: usize) -> Result<Client, String> {
    let client = builder
        .node(server)
        .min_connections(connections)
        .max_connections(connections)
        .build()
        .map_err(|error| error.to_string())?;
    let ready = client.ready(Duration::from_secs(5)).await;
    ready.map_err(|error| error.to_string())?;
    Ok(client)
}

/// Reads a key, which has a value of the usual length.
async fn read_one(client: &Client, key: &str) -> Result<(), String> {
    let value = client.get(key).await.map_err(|error| error.to_string())?;
    match value {
        Some(value) if value.data.len() == VALUE => Ok(()),
        _ => Err(format!("{key} has no value of {VALUE} bytes")),
    }
}
