//! `stats`, `version`, `flush` and `verbosity`: what is asked of every node.

use std::io::Write;
use std::time::Duration;

use serde_json::Value;
use steersman_memcached::PerNode;

use crate::answer::{Answer, Failure};
use crate::args::Admin;
use crate::context::Context;
use crate::errors;
use crate::json::Object;
use crate::source::{NODES_VARIABLE, Source};
use crate::table::{Align, Table};

/// What a table says of a node that failed. The reason is on stderr.
const FAILED: &str = "failed";

pub(super) async fn run(
    command: Admin,
    context: &Context,
    out: &mut dyn Write,
) -> Result<Answer, Failure> {
    if matches!(command, Admin::Flush { .. }) && context.source == Source::Default {
        return Err(Failure::told(format!(
            "flush empties every node, so it has no default: say which by --node or \
             {NODES_VARIABLE}"
        )));
    }
    let client = context.client()?;
    match command {
        Admin::Stats { args } => {
            let answers = client.stats(args.join(" ")).await;
            write_stats(context, &answers, out)?;
            conclude(context, &answers)
        }
        Admin::Version => {
            let answers = client.version().await;
            write_each(context, "VERSION", &answers, String::clone, out)?;
            conclude(context, &answers)
        }
        Admin::Flush { delay } => {
            let answers = client.flush_all().delay(delay).await;
            write_each(context, "FLUSH", &answers, |&()| flushed(delay), out)?;
            conclude(context, &answers)
        }
        Admin::Verbosity { level } => {
            let answers = client.verbosity(level).await;
            write_each(context, "VERBOSITY", &answers, |&()| level, out)?;
            conclude(context, &answers)
        }
    }
}

/// What a flush after this delay does, which the client rounds up to whole seconds.
fn flushed(delay: Duration) -> String {
    match delay.as_millis().div_ceil(1000) {
        0 => "flushed".to_owned(),
        seconds => format!("will be flushed in {seconds}s"),
    }
}

/// One answer of each node, as `show` shows it.
fn write_each<T, S: ToString + Into<Value>>(
    context: &Context,
    heading: &str,
    answers: &PerNode<T>,
    show: impl Fn(&T) -> S,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    if context.settings.json {
        let field = heading.to_ascii_lowercase();
        return write_json(context, &field, answers, |answer| show(answer).into(), out);
    }
    let mut table = Table::new(["NODE", heading], [Align::Left; 2]);
    for (node, answer) in answers {
        let cell = match answer {
            Ok(answer) => show(answer).to_string(),
            Err(_) => FAILED.to_owned(),
        };
        table.row([node.to_string(), cell]);
    }
    Ok(table.write(out)?)
}

fn write_stats(
    context: &Context,
    answers: &PerNode<Vec<(String, String)>>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    if context.settings.json {
        let object = |stats: &Vec<(String, String)>| {
            let fields = stats.iter();
            let object = fields.fold(Object::default(), |object, (name, value)| {
                object.with(name, value.as_str())
            });
            Value::from(object)
        };
        return write_json(context, "stats", answers, object, out);
    }
    let mut table = Table::new(["NODE", "NAME", "VALUE"], [Align::Left; 3]);
    for (node, answer) in answers {
        let mut row = |name: &str, value: &str| {
            table.row([node.to_string(), name.to_owned(), value.to_owned()]);
        };
        match answer {
            // `stats reset` has nothing to tell.
            Ok(stats) if stats.is_empty() => row("-", "none"),
            Ok(stats) => stats.iter().for_each(|(name, value)| row(name, value)),
            Err(_) => row("-", FAILED),
        }
    }
    Ok(table.write(out)?)
}

/// `{"nodes":[{"name":...,FIELD:...},{"name":...,"error":...}]}`
fn write_json<T>(
    context: &Context,
    field: &str,
    answers: &PerNode<T>,
    value: impl Fn(&T) -> Value,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let nodes = answers.iter().map(|(node, answer)| {
        let object = Object::default().with("name", &**node);
        Value::from(match answer {
            Ok(answer) => object.with(field, value(answer)),
            Err(error) => {
                let error = errors::described(&context.settings.command, &[], error);
                object.with("error", error)
            }
        })
    });
    let nodes: Vec<Value> = nodes.collect();
    Ok(Object::default().with("nodes", nodes).write_line(out)?)
}

fn conclude<T>(context: &Context, answers: &PerNode<T>) -> Result<Answer, Failure> {
    let failed = answers.iter();
    let mut failed = failed
        .filter_map(|(_, answer)| answer.as_ref().err())
        .peekable();
    match failed.peek() {
        Some(_) => Err(context.failure_of_nodes(failed)),
        None => Ok(Answer::Yes),
    }
}
