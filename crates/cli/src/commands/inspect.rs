//! `inspect`: what the nodes of a key keep about its item.

use std::ffi::OsString;
use std::io::Write;

use futures_util::future::join_all;
use serde_json::Value;
use steersman_memcached::meta::Ttl;
use steersman_memcached::{Client, Error, Inspected};

use crate::answer::{Answer, Failure, note};
use crate::context::Context;
use crate::errors;
use crate::json::Object;
use crate::table::{Align, Table};

type Outcome = Result<Option<Inspected>, Error>;

pub(super) async fn run(
    key: OsString,
    context: &Context,
    out: &mut dyn Write,
) -> Result<Answer, Failure> {
    let client = context.client()?;
    let key = key.into_encoded_bytes();
    let replicas = client.replicas_for_key(&key)?;
    let asked = replicas
        .iter()
        .map(|node| inspect(&client, node.name(), &key));
    let outcomes = join_all(asked).await;
    let names = replicas.iter().map(|node| node.name().to_owned());
    let found: Vec<(String, Outcome)> = names.zip(outcomes).collect();
    if context.settings.json {
        let nodes = found.iter().map(|(name, outcome)| {
            let object = Object::default().with("name", name.as_str());
            Value::from(json(object, outcome, &context.settings.command))
        });
        let nodes: Vec<Value> = nodes.collect();
        Object::bytes_of("key", &key)
            .with("nodes", nodes)
            .write_line(out)?;
    } else {
        table(&found).write(out)?;
    }
    let mut failed = found
        .iter()
        .filter_map(|(_, outcome)| Some((&*key, outcome.as_ref().err()?)))
        .peekable();
    if failed.peek().is_some() {
        return Err(context.failure_of_keys(failed));
    }
    let exists = found
        .iter()
        .any(|(_, outcome)| matches!(outcome, Ok(Some(_))));
    if !exists {
        note(&key, "not found");
    }
    Ok(Answer::of(exists))
}

async fn inspect(client: &Client, node: &str, key: &[u8]) -> Outcome {
    client.node(node)?.inspect(key).await
}

fn table(found: &[(String, Outcome)]) -> Table<9> {
    let heading = [
        "NODE", "TTL", "ACCESSED", "FETCHED", "CAS", "FLAGS", "LENGTH", "SIZE", "CLASS",
    ];
    let mut align = [Align::Right; 9];
    align[0] = Align::Left;
    let mut table = Table::new(heading, align);
    for (name, outcome) in found {
        let mut cells = std::array::from_fn(|_| "-".to_owned());
        cells[0].clone_from(name);
        match outcome {
            Ok(Some(item)) => fill(&mut cells, item),
            Ok(None) => "missing".clone_into(&mut cells[1]),
            Err(_) => "failed".clone_into(&mut cells[1]),
        }
        table.row(cells);
    }
    table
}

fn fill(cells: &mut [String; 9], item: &Inspected) {
    let [_, ttl, accessed, fetched, cas, flags, length, size, class] = cells;
    let say = |cell: &mut String, text: Option<String>| {
        if let Some(text) = text {
            *cell = text;
        }
    };
    let number = |number: Option<u64>| number.map(|number| number.to_string());
    say(ttl, item.ttl.map(lifetime));
    say(accessed, item.last_access.map(|s| format!("{s}s ago")));
    let yes_or_no = |yes| if yes { "yes" } else { "no" }.to_owned();
    say(fetched, item.fetched.map(yes_or_no));
    say(cas, number(item.cas));
    say(flags, number(item.flags.map(u64::from)));
    say(length, number(item.length));
    say(size, number(item.size));
    say(class, number(item.class.map(u64::from)));
}

fn lifetime(ttl: Ttl) -> String {
    match ttl {
        Ttl::Never => "none".to_owned(),
        Ttl::Seconds(seconds) => format!("{seconds}s"),
    }
}

/// What is not known is left out: a `ttl` of null means that the item does not expire.
fn json(object: Object, outcome: &Outcome, command: &str) -> Object {
    let item = match outcome {
        Ok(Some(item)) => item,
        Ok(None) => return object.with("found", false),
        Err(error) => return object.with("error", errors::described(command, &[], error)),
    };
    let ttl = item.ttl.map(|ttl| match ttl {
        Ttl::Never => Value::Null,
        Ttl::Seconds(seconds) => seconds.into(),
    });
    [
        ("ttl", ttl),
        ("last_access", item.last_access.map(Value::from)),
        ("fetched", item.fetched.map(Value::from)),
        ("cas", item.cas.map(Value::from)),
        ("flags", item.flags.map(Value::from)),
        ("length", item.length.map(Value::from)),
        ("size", item.size.map(Value::from)),
        ("class", item.class.map(Value::from)),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name, value?)))
    .fold(object.with("found", true), |object, (name, value)| {
        object.with(name, value)
    })
}
