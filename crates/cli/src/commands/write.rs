//! `set`, `add`, `replace`, `append`, `prepend`, `cas`, `delete`, `incr`, `decr` and `touch`.

use std::ffi::OsString;
use std::io::{self, Read};

use futures_util::future::join_all;
use serde_json::Value;
use steersman_memcached::call::{Call, WriteItem};
use steersman_memcached::{CasOutcome, Client, Error, StoreOutcome};

use super::expires;
use crate::answer::{Answer, Failure, note};
use crate::args::{Arithmetic, Item, ItemOptions, Write};
use crate::context::Context;
use crate::errors;
use crate::json::Object;

/// The most bytes taken from stdin for a value: what the client would send. Servers take 1 MiB
/// unless told otherwise.
const MAX_VALUE: u64 = 128 * 1024 * 1024;

/// What became of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Stored,
    Deleted,
    Touched,
    NotStored,
    Exists,
    NotFound,
}

impl Outcome {
    fn is_success(self) -> bool {
        matches!(self, Self::Stored | Self::Deleted | Self::Touched)
    }

    /// As `--json` says it.
    fn name(self) -> &'static str {
        match self {
            Self::Stored => "stored",
            Self::Deleted => "deleted",
            Self::Touched => "touched",
            Self::NotStored => "not_stored",
            Self::Exists => "exists",
            Self::NotFound => "not_found",
        }
    }

    fn found(found: bool, outcome: Self) -> Self {
        if found { outcome } else { Self::NotFound }
    }
}

impl From<StoreOutcome> for Outcome {
    fn from(outcome: StoreOutcome) -> Self {
        match outcome {
            StoreOutcome::Stored => Self::Stored,
            StoreOutcome::NotStored => Self::NotStored,
        }
    }
}

impl From<CasOutcome> for Outcome {
    fn from(outcome: CasOutcome) -> Self {
        match outcome {
            CasOutcome::Stored => Self::Stored,
            CasOutcome::Exists => Self::Exists,
            CasOutcome::NotFound => Self::NotFound,
        }
    }
}

pub(super) async fn run(
    command: Write,
    context: &Context,
    out: &mut dyn io::Write,
) -> Result<Answer, Failure> {
    let client = context.client()?;
    let (keys, outcomes) = match command {
        Write::Set(args) => {
            let (key, value) = read(args.item)?;
            let call = with(client.set(&key, value), &args.options);
            let outcome = call.await.map(|()| Outcome::Stored);
            (vec![key], vec![outcome])
        }
        Write::Add(args) => {
            let (key, value) = read(args.item)?;
            let call = with(client.add(&key, value), &args.options);
            let outcome = call.await.map(Outcome::from);
            (vec![key], vec![outcome])
        }
        Write::Replace(args) => {
            let (key, value) = read(args.item)?;
            let call = with(client.replace(&key, value), &args.options);
            let outcome = call.await.map(Outcome::from);
            (vec![key], vec![outcome])
        }
        Write::Append(item) => {
            let (key, value) = read(item)?;
            let outcome = client.append(&key, value).await.map(Outcome::from);
            (vec![key], vec![outcome])
        }
        Write::Prepend(item) => {
            let (key, value) = read(item)?;
            let outcome = client.prepend(&key, value).await.map(Outcome::from);
            (vec![key], vec![outcome])
        }
        Write::Cas(args) => {
            let (key, value) = read(args.item)?;
            let call = with(client.cas(&key, value, args.number), &args.options);
            let outcome = call.await.map(Outcome::from);
            (vec![key], vec![outcome])
        }
        Write::Delete(keys) => {
            let keys = bytes_of(keys.keys);
            let calls = keys.iter().map(async |key| client.delete(key).await);
            let deleted = join_all(calls).await.into_iter();
            let outcome = |found| Outcome::found(found, Outcome::Deleted);
            let outcomes = deleted.map(|found| found.map(outcome)).collect();
            (keys, outcomes)
        }
        Write::Touch(args) => {
            let keys = bytes_of(args.keys.keys);
            let expires = expires(args.ttl);
            let calls = keys
                .iter()
                .map(async |key| client.touch(key, expires).await);
            let touched = join_all(calls).await.into_iter();
            let outcome = |found| Outcome::found(found, Outcome::Touched);
            let outcomes = touched.map(|found| found.map(outcome)).collect();
            (keys, outcomes)
        }
        Write::Incr(args) => return count(&client, args, false, context, out).await,
        Write::Decr(args) => return count(&client, args, true, context, out).await,
    };
    tell(context, &keys, &outcomes, out)
}

fn with<O: WriteItem>(call: Call<O>, options: &ItemOptions) -> Call<O> {
    call.flags(options.flags).expires(expires(options.ttl))
}

fn bytes_of(keys: Vec<OsString>) -> Vec<Vec<u8>> {
    keys.into_iter().map(OsString::into_encoded_bytes).collect()
}

/// The key and the value that are meant.
fn read(item: Item) -> Result<(Vec<u8>, Vec<u8>), Failure> {
    let value = if item.value == "-" {
        let mut value = Vec::new();
        io::stdin()
            .lock()
            .take(MAX_VALUE + 1)
            .read_to_end(&mut value)
            .map_err(|error| Failure::told(format!("cannot read the value from stdin: {error}")))?;
        value
    } else {
        item.value.into_encoded_bytes()
    };
    Ok((item.key.into_encoded_bytes(), value))
}

fn tell(
    context: &Context,
    keys: &[Vec<u8>],
    outcomes: &[Result<Outcome, Error>],
    out: &mut dyn io::Write,
) -> Result<Answer, Failure> {
    let command = &context.settings.command;
    let mut all = true;
    for (key, outcome) in keys.iter().zip(outcomes) {
        let line = Object::bytes_of("key", key);
        let line = match outcome {
            Ok(outcome) => {
                if !outcome.is_success() {
                    all = false;
                    note(key, &outcome.name().replace('_', " "));
                }
                line.with("outcome", outcome.name())
            }
            Err(error) => line.with("error", errors::described(command, &[], error)),
        };
        if context.settings.json {
            line.write_line(out)?;
        }
    }
    let failed = keys.iter().zip(outcomes);
    let mut failed = failed
        .filter_map(|(key, outcome)| Some((key.as_slice(), outcome.as_ref().err()?)))
        .peekable();
    match failed.peek() {
        Some(_) => Err(context.failure_of_keys(failed)),
        None => Ok(Answer::of(all)),
    }
}

/// `incr` and `decr`.
async fn count(
    client: &Client,
    args: Arithmetic,
    down: bool,
    context: &Context,
    out: &mut dyn io::Write,
) -> Result<Answer, Failure> {
    let key = args.key.into_encoded_bytes();
    let call = if down {
        client.decrement(&key, args.delta)
    } else {
        client.increment(&key, args.delta)
    };
    let number = call.await;
    if context.settings.json {
        let command = &context.settings.command;
        let line = Object::bytes_of("key", &key);
        let line = match &number {
            Ok(number) => line.with("value", number.map_or(Value::Null, Value::from)),
            Err(error) => line.with("error", errors::described(command, &[], error)),
        };
        line.write_line(out)?;
    }
    match number {
        Ok(Some(number)) => {
            if !context.settings.json {
                writeln!(out, "{number}")?;
            }
            Ok(Answer::Yes)
        }
        Ok(None) => {
            note(&key, "not found");
            Ok(Answer::No)
        }
        Err(error) => Err(context.failure_of_keys([(key.as_slice(), &error)])),
    }
}
