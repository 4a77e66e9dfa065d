//! Nodes that are found where `--discovery`, a URL or a file says.

use steersman_memcached::{Builder, Client, DiscoverySource, Event, NodeConfig};

use crate::errors::reason;

/// Asks once which nodes there are, or says why that is not known; `builder` has the options of a
/// client of that source.
pub(crate) fn discover(
    builder: Builder,
    source: &DiscoverySource,
) -> Result<Vec<NodeConfig>, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| format!("cannot start: {error}"))?;
    let nodes = runtime.block_on(first_list(builder, source));
    // A name that is still being resolved must not hold up the command.
    runtime.shutdown_background();
    nodes
}

async fn first_list(builder: Builder, source: &DiscoverySource) -> Result<Vec<NodeConfig>, String> {
    let client: Client = builder.build().map_err(|error| reason(&error))?;
    let mut events = client.events();
    while let Some(event) = events.recv().await {
        match event {
            Event::ListTaken { .. } => return Ok(client.nodes()),
            Event::ListRefused { reason } => return Err(format!("{source}: {reason}")),
            _ => {}
        }
    }
    Err(format!("{source}: it ended without a list"))
}
