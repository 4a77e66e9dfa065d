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

use std::process::ExitCode;
use std::time::Duration;

use serde::Serialize;
use steersman_memcached::Client;
use tokio::runtime::{self, Runtime};

pub(crate) use self::alone::Alone;
pub(crate) use self::closed::Steersman;
pub(crate) use self::crowd::Crowd;
pub(crate) use self::due::Due;
pub(crate) use self::growth::{Growth, nodes};

/// The loads that keep no contract, by the name of their command; None for other names.
pub(crate) fn run(name: &str, args: &[String]) -> Option<ExitCode> {
    let printed = match name {
        "alone" => printed(alone::run(args)),
        "counted" => printed(counted::run(args)),
        "crowd" => printed(crowd::run(args)),
        "due" => printed(due::run(args)),
        "growth" => printed(growth::run(args)),
        _ => return None,
    };
    Some(match printed {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{name}: {error}");
            ExitCode::FAILURE
        }
    })
}

fn printed<T: Serialize>(outcome: Result<T, String>) -> Result<(), String> {
    outcome.map(|outcome| println!("{}", serde_json::json!(outcome)))
}

/// The argument of that number.
fn argument<T: std::str::FromStr>(args: &[String], index: usize, name: &str) -> Result<T, String> {
    let text = args
        .get(index)
        .ok_or_else(|| format!("{name} is missing"))?;
    text.parse().map_err(|_| format!("{name}: {text} is none"))
}

/// Tokio's default runtime.
fn runtime() -> Result<Runtime, String> {
    runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("no runtime: {error}"))
}

/// A client of one server with so many connections, once they stand.
async fn connect(server: &str, connections: usize) -> Result<Client, String> {
    let client = Client::builder()
        .node(server)
        .min_connections(connections)
        .max_connections(connections)
        .build()
        .map_err(|error| error.to_string())?;
    let ready = client.ready(Duration::from_secs(5)).await;
    ready.map_err(|error| error.to_string())?;
    Ok(client)
}
