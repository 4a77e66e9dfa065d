//! `get`, `gets` and `gat`.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};

use steersman_memcached::{Client, Error, Value};

use crate::answer::{Answer, Failure, note};
use crate::args::{Keys, KeysAndTtl, Read};
use crate::context::Context;
use crate::errors;
use crate::json::Object;

/// What became of one key.
type Outcome = Result<Option<Value>, Error>;

/// How values are printed where `--json` is not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// The bytes of the only value.
    Raw,
    /// `KEY<TAB>VALUE`
    Line,
    /// `KEY<TAB>FLAGS<TAB>CAS<TAB>VALUE`
    Full,
}

pub(super) async fn run(
    command: Read,
    context: &Context,
    out: &mut dyn Write,
) -> Result<Answer, Failure> {
    let client = context.client()?;
    let (Read::Get(Keys { keys })
    | Read::Gets(Keys { keys })
    | Read::Gat(KeysAndTtl {
        keys: Keys { keys },
        ..
    })) = &command;
    let keys: Vec<Vec<u8>> = keys
        .iter()
        .cloned()
        .map(OsString::into_encoded_bytes)
        .collect();
    let outcomes = fetch(&client, &command, &keys).await;
    let layout = match command {
        Read::Gets(_) => Layout::Full,
        _ if keys.len() == 1 => Layout::Raw,
        _ => Layout::Line,
    };
    for (key, outcome) in keys.iter().zip(&outcomes) {
        if context.settings.json {
            write_json(out, &context.settings.command, key, outcome)?;
        } else if let Ok(Some(value)) = outcome {
            write_text(out, layout, key, value)?;
        }
    }
    conclude(context, &keys, &outcomes)
}

/// What became of each key, in their order.
async fn fetch(client: &Client, command: &Read, keys: &[Vec<u8>]) -> Vec<Outcome> {
    if let [key] = keys {
        let call = match command {
            Read::Get(_) => client.get(key),
            Read::Gets(_) => client.gets(key),
            Read::Gat(args) => client.gat(key, super::expires(args.ttl)),
        };
        return vec![call.await];
    }
    let keys = keys.iter().map(Vec::as_slice);
    let call = match command {
        Read::Get(_) => client.get_many(keys.clone()),
        Read::Gets(_) => client.gets_many(keys.clone()),
        Read::Gat(args) => client.gat_many(keys.clone(), super::expires(args.ttl)),
    };
    let many = call.await;
    let failed: HashMap<&[u8], Error> = many.failed.into_iter().collect();
    let outcome = |key| match failed.get(key) {
        Some(error) => Err(error.clone()),
        None => Ok(many.found.get(key).cloned()),
    };
    keys.map(outcome).collect()
}

fn write_text(out: &mut dyn Write, layout: Layout, key: &[u8], value: &Value) -> io::Result<()> {
    match layout {
        Layout::Raw => {
            out.write_all(&value.data)?;
            if io::stdout().is_terminal() && !value.data.ends_with(b"\n") {
                out.write_all(b"\n")?;
            }
            return Ok(());
        }
        Layout::Line => {
            out.write_all(key)?;
            out.write_all(b"\t")?;
        }
        Layout::Full => {
            out.write_all(key)?;
            let cas = value.cas.unwrap_or_default();
            write!(out, "\t{}\t{cas}\t", value.flags)?;
        }
    }
    out.write_all(&value.data)?;
    out.write_all(b"\n")
}

fn write_json(out: &mut dyn Write, command: &str, key: &[u8], outcome: &Outcome) -> io::Result<()> {
    let line = Object::bytes_of("key", key);
    let line = match outcome {
        Ok(Some(value)) => {
            let line = line.bytes("value", &value.data).with("flags", value.flags);
            match value.cas {
                Some(cas) => line.with("cas", cas),
                None => line,
            }
        }
        Ok(None) => line.with("value", serde_json::Value::Null),
        Err(error) => line.with("error", errors::described(command, &[], error)),
    };
    line.write_line(out)
}

/// An outage outweighs a miss.
fn conclude(context: &Context, keys: &[Vec<u8>], outcomes: &[Outcome]) -> Result<Answer, Failure> {
    let failed = keys.iter().zip(outcomes);
    let mut failed = failed
        .filter_map(|(key, outcome)| Some((key.as_slice(), outcome.as_ref().err()?)))
        .peekable();
    if failed.peek().is_some() {
        return Err(context.failure_of_keys(failed));
    }
    let missing = |(key, outcome): &(&Vec<u8>, &Outcome)| {
        let missing = matches!(outcome, Ok(None));
        if missing {
            note(key, "not found");
        }
        missing
    };
    let missing = keys.iter().zip(outcomes).filter(missing).count();
    Ok(Answer::of(missing == 0))
}
