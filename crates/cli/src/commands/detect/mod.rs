//! `detect`: which client's placement explains where the keys are.

mod candidates;

use std::io::Write;
use std::net::SocketAddr;

use serde_json::Value;
use steersman_memcached::{Client, Endpoint, Error};

use self::candidates::{Explanation, Found, Naming};
use crate::answer::{Answer, Failure};
use crate::args::Detect;
use crate::context::Context;
use crate::json::Object;
use crate::table::{Align, Table};
use crate::words::{grouped, percent};

/// How many placements are shown.
const SHOWN: usize = 8;

pub(super) async fn run(
    args: &Detect,
    context: &Context,
    out: &mut dyn Write,
) -> Result<Answer, Failure> {
    if context.nodes.len() < 2 {
        return Err(Failure::told(format!(
            "{}: a single node has all keys, whatever the placement; name all nodes of the cluster",
            context.source
        )));
    }
    let client = context.client_without_prefix()?;
    let prefix = args.without_prefix.as_ref();
    let prefix = prefix.map_or(&b""[..], |prefix| prefix.as_encoded_bytes());
    let mut found = Vec::new();
    let mut failed = Vec::new();
    for (holder, node) in context.nodes.iter().enumerate() {
        match sample(&client, node.name(), args.sample, prefix).await {
            Ok(keys) => found.extend(keys.into_iter().map(|key| Found { key, holder })),
            Err(error) => failed.push(error),
        }
    }
    if !failed.is_empty() {
        return Err(context.failure_of_nodes(&failed));
    }
    if found.is_empty() {
        return Err(Failure::told(
            "there are no such keys on the nodes: nothing can be told from none",
        ));
    }
    let namings = Naming::all(&context.nodes, &addresses(context).await);
    let mut explanations = candidates::explain(&namings, &found);
    let best = explanations.first().map_or(0, |best| best.explained);
    explanations.truncate(SHOWN);
    if context.settings.json {
        json(&explanations, found.len()).write_line(out)?;
    } else {
        write_table(&explanations, found.len(), out)?;
    }
    Ok(Answer::of(best * 10 >= found.len() * 9))
}

/// Some keys of a node, without the prefix that they begin with.
async fn sample(
    client: &Client,
    node: &str,
    most: u32,
    prefix: &[u8],
) -> Result<Vec<Vec<u8>>, Error> {
    let mut sample = Vec::new();
    let mut keys = client.node(node)?.keys().await?;
    while sample.len() < most as usize
        && let Some(item) = keys.next().await?
    {
        if let Some(key) = item.key.strip_prefix(prefix) {
            sample.push(key.to_vec());
        }
    }
    Ok(sample)
}

/// The first address of each node whose host has one.
async fn addresses(context: &Context) -> Vec<Option<SocketAddr>> {
    let mut addresses = Vec::new();
    for node in &context.nodes {
        let Endpoint::Tcp { host, port } = node.endpoint() else {
            addresses.push(None);
            continue;
        };
        // A host without address was reached by none of its keys: there is a name less to try.
        let found = tokio::net::lookup_host((host.as_str(), *port)).await;
        addresses.push(found.ok().and_then(|mut found| found.next()));
    }
    addresses
}

fn json(explanations: &[Explanation], keys: usize) -> Object {
    let one = |explanation: &Explanation| {
        Value::from(
            Object::default()
                .with("placement", explanation.scheme.to_string())
                .with("nodes", explanation.nodes.clone())
                .with("explained", explanation.explained),
        )
    };
    let candidates: Vec<Value> = explanations.iter().map(one).collect();
    Object::default()
        .with("keys", keys)
        .with("candidates", candidates)
}

fn write_table(
    explanations: &[Explanation],
    keys: usize,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let mut table = Table::new(
        ["EXPLAINED", "PLACEMENT", "NODES"],
        [Align::Right, Align::Left, Align::Left],
    );
    for explanation in explanations {
        table.row([
            percent(explanation.explained, keys),
            explanation.scheme.to_string(),
            explanation.nodes.join(","),
        ]);
    }
    table.write(out)?;
    writeln!(out, "of {} keys", grouped(keys as u64))?;
    Ok(())
}
