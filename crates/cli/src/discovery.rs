//! Nodes that are found where `--discovery` says.

use steersman_memcached::{
    AddressRecords, Builder, Client, ElastiCache, Event, NodeConfig, NodesFile,
};

use crate::answer::Failure;
use crate::errors::reason;

/// The forms of `--discovery`.
const FORMS: &str = "write elasticache://HOST[:PORT], dns://NAME[:PORT], dns+srv://NAME, or file:// and a whole PATH";

#[cfg(not(feature = "dns"))]
const NOT_IN_THIS_BUILD: &str =
    "dns+srv is not in this build: get it by `cargo install --path crates/cli --features dns`";

/// Asks once which nodes there are; `builder` has the options of a client of theirs.
pub(crate) fn discover(url: &str, builder: Builder) -> Result<Vec<NodeConfig>, Failure> {
    let builder = source(url, builder)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| Failure::told(format!("cannot start: {error}")))?;
    let nodes = runtime.block_on(first_list(url, builder));
    // A name that is still being resolved must not hold up the command.
    runtime.shutdown_background();
    nodes
}

async fn first_list(url: &str, builder: Builder) -> Result<Vec<NodeConfig>, Failure> {
    let client: Client = builder.build().map_err(|error| told(&reason(&error)))?;
    let mut events = client.events();
    while let Some(event) = events.recv().await {
        match event {
            Event::ListTaken { .. } => return Ok(client.nodes()),
            Event::ListRefused { reason } => return Err(told(&format!("{url}: {reason}"))),
            _ => {}
        }
    }
    Err(told(&format!("{url}: it ended without a list")))
}

/// The builder with the source that a URL names.
fn source(url: &str, builder: Builder) -> Result<Builder, Failure> {
    let Some((scheme, place)) = url.split_once("://") else {
        return Err(told(&format!("{url:?} is no source of nodes: {FORMS}")));
    };
    if place.is_empty() {
        return Err(told(&format!("{url:?} lacks the place: {FORMS}")));
    }
    let invalid = |error| told(&reason(&error));
    Ok(match scheme {
        "elasticache" => builder.discovery(ElastiCache::new(place).map_err(invalid)?),
        "dns" => builder.discovery(AddressRecords::new(place).map_err(invalid)?),
        #[cfg(feature = "dns")]
        "dns+srv" => {
            let records = steersman_memcached::SrvRecords::new(place).map_err(invalid)?;
            builder.discovery(records)
        }
        #[cfg(not(feature = "dns"))]
        "dns+srv" => return Err(told(NOT_IN_THIS_BUILD)),
        "file" if place.starts_with('/') => builder.discovery(NodesFile::new(place)),
        _ => return Err(told(&format!("{url:?} is no source of nodes: {FORMS}"))),
    })
}

fn told(why: &str) -> Failure {
    Failure::told(format!("--discovery: {why}"))
}
