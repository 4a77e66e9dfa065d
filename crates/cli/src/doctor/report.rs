//! What was seen and found, for people and for scripts.

use std::io::{self, Write};
use std::time::Duration;

use serde_json::Value;
use steersman_memcached::ErrorKind;

use super::checks::{self, share};
use super::examination::{Answered, Examination};
use super::finding::{Finding, Severity};
use crate::context::Context;
use crate::errors;
use crate::json::Object;
use crate::printable::printable;
use crate::table::{Align, Table};
use crate::words::latency;

pub(super) fn write(
    nodes: &[Examination],
    findings: &[Finding],
    context: &Context,
    out: &mut dyn Write,
) -> io::Result<()> {
    if context.settings.json {
        let nodes: Vec<Value> = nodes
            .iter()
            .map(|node| object(node, context).into())
            .collect();
        let findings: Vec<Value> = findings.iter().map(finding).collect();
        return Object::default()
            .with("nodes", nodes)
            .with("findings", findings)
            .write_line(out);
    }
    table(nodes, context).write(out)?;
    for finding in findings {
        let Finding {
            severity,
            nodes,
            what,
            advice,
        } = finding;
        let nodes = nodes.join(", ");
        let line = format!("{:<8} {nodes}: {what}", severity.word());
        writeln!(out, "\n{}", printable(&line))?;
        writeln!(out, "{:8} {}", "", printable(advice))?;
    }
    writeln!(out, "\n{}", conclusion(findings))
}

fn conclusion(findings: &[Finding]) -> String {
    let of = |severity: Severity| {
        let count = findings
            .iter()
            .filter(|finding| finding.severity == severity);
        match (count.count(), severity.word()) {
            (0, _) => None,
            (1, word) => Some(format!("1 {word}")),
            (count, word) => Some(format!("{count} {word}s")),
        }
    };
    let bad = [Severity::Problem, Severity::Warning].into_iter();
    let bad: Vec<String> = bad.filter_map(of).collect();
    if bad.is_empty() {
        "All is well.".to_owned()
    } else {
        format!("{}.", bad.join(", "))
    }
}

fn table(nodes: &[Examination], context: &Context) -> Table<9> {
    let heading = [
        "NODE", "CONNECT", "TLS", "LOGIN", "ANSWER", "VERSION", "MEMORY", "CONNS", "CLOCK",
    ];
    let mut align = [Align::Right; 9];
    for column in [0, 2, 3, 5] {
        align[column] = Align::Left;
    }
    let mut table = Table::new(heading, align);
    for node in nodes {
        let dash = || "-".to_owned();
        let connect = connect_time(node).map_or_else(
            || match &node.addresses {
                Ok(_) => "failed".to_owned(),
                Err(_) => "no address".to_owned(),
            },
            latency,
        );
        let answered = node.answer.as_ref().ok();
        let show = |show: &dyn Fn(&Answered) -> Option<String>| {
            answered.and_then(show).unwrap_or_else(dash)
        };
        table.row([
            node.name.clone(),
            connect,
            tls(node, context).to_owned(),
            login(node, context).to_owned(),
            match answered {
                Some(answered) => latency(answered.took),
                None => "failed".to_owned(),
            },
            show(&|node| Some(node.version.clone())),
            show(&|node| {
                let limit = node.stats.number("limit_maxbytes")?;
                Some(format!(
                    "{} of {} MiB",
                    share(node.stats.number("bytes")?, limit),
                    limit >> 20
                ))
            }),
            show(&|node| {
                let now = node.stats.number("curr_connections")?;
                Some(match node.stats.number("max_connections") {
                    Some(limit) => format!("{now} of {limit}"),
                    None => now.to_string(),
                })
            }),
            show(&|node| node.skew.map(|skew| format!("{skew:+} s"))),
        ]);
    }
    table
}

/// How long it took to connect to the address that was there first.
fn connect_time(node: &Examination) -> Option<Duration> {
    let addresses = node.addresses.as_ref().ok()?;
    let times = addresses
        .iter()
        .filter_map(|address| address.connected.as_ref().ok());
    times.min().copied()
}

fn tls(node: &Examination, context: &Context) -> &'static str {
    of_step(node, context.given().tls.is_some(), ErrorKind::Tls)
}

fn login(node: &Examination, context: &Context) -> &'static str {
    of_step(
        node,
        context.given().user.is_some(),
        ErrorKind::Authentication,
    )
}

/// How a step of connecting went, that fails with an error of this kind.
fn of_step(node: &Examination, is_on: bool, kind: ErrorKind) -> &'static str {
    match &node.answer {
        Err(error) if error.kind() == kind => "failed",
        _ if !is_on => "off",
        Ok(_) => "ok",
        Err(_) => "-",
    }
}

fn object(node: &Examination, context: &Context) -> Object {
    let us = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    let object = Object::default()
        .with("name", node.name.as_str())
        .with("address", node.endpoint.to_string());
    let object = match &node.addresses {
        Err(why) => object.with("addresses_error", why.as_str()),
        Ok(addresses) => {
            let addresses = addresses.iter().map(|address| {
                let object = Object::default().with("address", address.address.as_str());
                Value::from(match &address.connected {
                    Ok(took) => object.with("connect_us", us(*took)),
                    Err(why) => object.with("error", why.as_str()),
                })
            });
            object.with("addresses", addresses.collect::<Vec<_>>())
        }
    };
    let object = object
        .with("tls", tls(node, context))
        .with("login", login(node, context));
    let answered = match &node.answer {
        Ok(answered) => answered,
        Err(error) => {
            let error = errors::described(&context.settings.command, &[], error);
            return object.with("error", error);
        }
    };
    let number = |name: &str| {
        let number = answered.stats.number(name);
        number.map_or(Value::Null, Value::from)
    };
    object
        .with("answer_us", us(answered.took))
        .with("version", answered.version.as_str())
        .with("lacks", checks::lacks(&answered.version))
        .with("memory_bytes", number("bytes"))
        .with("memory_limit_bytes", number("limit_maxbytes"))
        .with("evictions", number("evictions"))
        .with("connections", number("curr_connections"))
        .with("connections_limit", number("max_connections"))
        .with(
            "clock_skew_s",
            answered.skew.map_or(Value::Null, Value::from),
        )
}

fn finding(finding: &Finding) -> Value {
    let nodes = finding.nodes.iter().map(String::as_str);
    Object::default()
        .with("severity", finding.severity.word())
        .with("nodes", nodes.collect::<Vec<_>>())
        .with("what", finding.what.as_str())
        .with("advice", finding.advice.as_str())
        .into()
}
