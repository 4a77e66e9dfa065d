//! `keys`: what is on the nodes.

use std::fmt::Write as _;
use std::io::{self, Write};

use serde_json::Value;
use steersman_memcached::{Client, DumpedItem, Error};

use crate::answer::{Answer, Failure};
use crate::args::ListKeys;
use crate::context::Context;
use crate::json::Object;

pub(super) async fn run(
    args: ListKeys,
    context: &Context,
    out: &mut dyn Write,
) -> Result<Answer, Failure> {
    let client = context.client()?;
    let mut wanted = Wanted {
        prefix: args
            .prefix
            .map(std::ffi::OsString::into_encoded_bytes)
            .unwrap_or_default(),
        left: args.limit.unwrap_or(u64::MAX),
    };
    let mut failed = Vec::new();
    for node in &context.nodes {
        if wanted.left == 0 {
            break;
        }
        let mut print = |item: &DumpedItem| {
            if context.settings.json {
                json(node.name(), item).write_line(out)
            } else {
                write_line(node.name(), item, out)
            }
        };
        match list(&client, node.name(), &mut wanted, &mut print).await {
            Ok(printed) => printed?,
            Err(error) => failed.push(error),
        }
        out.flush()?;
    }
    if failed.is_empty() {
        Ok(Answer::Yes)
    } else {
        Err(context.failure_of_nodes(&failed))
    }
}

/// Which keys are listed.
struct Wanted {
    prefix: Vec<u8>,
    /// How many more.
    left: u64,
}

/// Prints the keys of one node as they come, as long as that is possible.
async fn list(
    client: &Client,
    node: &str,
    wanted: &mut Wanted,
    print: &mut impl FnMut(&DumpedItem) -> io::Result<()>,
) -> Result<io::Result<()>, Error> {
    let mut keys = client.node(node)?.keys().await?;
    while wanted.left > 0
        && let Some(item) = keys.next().await?
    {
        if item.key.starts_with(&wanted.prefix) {
            wanted.left -= 1;
            if let Err(error) = print(&item) {
                return Ok(Err(error));
            }
        }
    }
    Ok(Ok(()))
}

fn write_line(node: &str, item: &DumpedItem, out: &mut dyn Write) -> io::Result<()> {
    for part in item
        .key
        .chunk_by(|one, next| is_plain(*one) && is_plain(*next))
    {
        match part {
            [byte] if !is_plain(*byte) => write!(out, "%{byte:02X}")?,
            plain => out.write_all(plain)?,
        }
    }
    let mut line = format!("\t{node}");
    let numbers = [
        item.expires_at,
        item.last_access,
        item.size,
        item.class.map(u64::from),
    ];
    for number in numbers {
        // Writing to a string cannot fail.
        let _ = match number {
            Some(number) => write!(line, "\t{number}"),
            None => write!(line, "\t-"),
        };
    }
    writeln!(out, "{line}")
}

/// Whether a byte neither ends a column nor steers a terminal.
fn is_plain(byte: u8) -> bool {
    !byte.is_ascii_control()
}

fn json(node: &str, item: &DumpedItem) -> Object {
    let or_null = |number: Option<u64>| number.map_or(Value::Null, Value::from);
    Object::bytes_of("key", &item.key)
        .with("node", node)
        .with("expires_at", or_null(item.expires_at))
        .with("last_access", or_null(item.last_access))
        .with("fetched", item.fetched.map_or(Value::Null, Value::from))
        .with("cas", or_null(item.cas))
        .with("size", or_null(item.size))
        .with("class", or_null(item.class.map(u64::from)))
}
