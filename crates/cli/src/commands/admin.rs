//! `stats`, `version`, `flush` and `verbosity`: what is asked of every node.

use std::io::Write;
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::Value;
use steersman_memcached::{Client, Error};

use crate::answer::{Answer, Failure};
use crate::args::Admin;
use crate::context::Context;
use crate::json::Object;
use crate::table::{Align, Table};

/// What each node answered, by the node's name.
type Answers<T> = Vec<(String, Result<T, Error>)>;

pub(super) async fn run(
    command: Admin,
    context: &Context,
    out: &mut dyn Write,
) -> Result<Answer, Failure> {
    let client = context.client()?;
    match command {
        Admin::Stats { args } => {
            let answers = named(client.stats(&args.join(" ")).await);
            write_stats(context, &answers, out)?;
            conclude(context, &answers)
        }
        Admin::Version => {
            let answers = named(client.version().await);
            write_each(context, "VERSION", &answers, out)?;
            conclude(context, &answers)
        }
        Admin::Flush { delay } => {
            let answers = done(flush(&client, delay).await, "flushed");
            write_each(context, "FLUSH", &answers, out)?;
            conclude(context, &answers)
        }
        Admin::Verbosity { level } => {
            let answers = done(named(client.verbosity(level).await), "set");
            write_each(context, "VERBOSITY", &answers, out)?;
            conclude(context, &answers)
        }
    }
}

fn named<T>(answers: steersman_memcached::PerNode<T>) -> Answers<T> {
    let answers = answers.into_iter();
    answers
        .map(|(node, answer)| (node.to_string(), answer))
        .collect()
}

/// The answers of a command that has nothing to tell but that it is done.
fn done(answers: Answers<()>, word: &str) -> Answers<String> {
    let say = |()| word.to_owned();
    let answers = answers.into_iter();
    answers
        .map(|(node, answer)| (node, answer.map(say)))
        .collect()
}

async fn flush(client: &Client, delay: Duration) -> Answers<()> {
    let flushes = client.nodes().into_iter().map(async |node| {
        let answer = match client.node(node.name()) {
            Ok(handle) => handle.flush_all().delay(delay).await,
            Err(error) => Err(error),
        };
        (node.name().to_owned(), answer)
    });
    join_all(flushes).await
}

fn write_each(
    context: &Context,
    heading: &str,
    answers: &Answers<String>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    if context.json {
        return write_json(
            &heading.to_ascii_lowercase(),
            answers,
            |answer| answer.as_str().into(),
            out,
        );
    }
    let mut table = Table::new(["NODE", heading], [Align::Left; 2]);
    for (node, answer) in answers {
        let cell = match answer {
            Ok(answer) => answer.clone(),
            Err(error) => failed(error),
        };
        table.row([node.clone(), cell]);
    }
    Ok(table.write(out)?)
}

fn write_stats(
    context: &Context,
    answers: &Answers<Vec<(String, String)>>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    if context.json {
        let object = |stats: &Vec<(String, String)>| {
            let fields = stats.iter();
            let object = fields.fold(Object::default(), |object, (name, value)| {
                object.with(name, value.as_str())
            });
            Value::from(object)
        };
        return write_json("stats", answers, object, out);
    }
    let mut table = Table::new(["NODE", "NAME", "VALUE"], [Align::Left; 3]);
    for (node, answer) in answers {
        match answer {
            // `stats reset` has nothing to tell.
            Ok(stats) if stats.is_empty() => {
                table.row([node.clone(), "-".to_owned(), "none".to_owned()]);
            }
            Ok(stats) => {
                for (name, value) in stats {
                    table.row([node.clone(), name.clone(), value.clone()]);
                }
            }
            Err(error) => table.row([node.clone(), "-".to_owned(), failed(error)]),
        }
    }
    Ok(table.write(out)?)
}

fn failed(error: &Error) -> String {
    format!("failed: {error}")
}

/// `{"nodes":[{"name":...,FIELD:...},{"name":...,"error":...}]}`
fn write_json<T>(
    field: &str,
    answers: &Answers<T>,
    value: impl Fn(&T) -> Value,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let nodes = answers.iter().map(|(node, answer)| {
        let object = Object::default().with("name", node.as_str());
        Value::from(match answer {
            Ok(answer) => object.with(field, value(answer)),
            Err(error) => object.with("error", error.to_string()),
        })
    });
    let nodes: Vec<Value> = nodes.collect();
    Ok(Object::default().with("nodes", nodes).write_line(out)?)
}

fn conclude<T>(context: &Context, answers: &Answers<T>) -> Result<Answer, Failure> {
    let errors = answers
        .iter()
        .filter_map(|(_, answer)| answer.as_ref().err());
    match errors.clone().next() {
        Some(error) => Err(context.failure_of_some(error, errors.count(), answers.len(), "nodes")),
        None => Ok(Answer::Yes),
    }
}
