//! A frame for scripts and for those without a terminal.

use std::io::{self, Write};
use std::time::Duration;

use serde_json::Value;

use super::frame::{Frame, Seen};
use crate::json::Object;
use crate::table::{Align, Table};
use crate::words::{grouped, latency};

pub(super) const HEADING: [&str; 9] = [
    "NODE",
    "HEALTH",
    "OPS/S",
    "P50",
    "P99",
    "SCORE",
    "PENALISED",
    "CONNS",
    "IN FLIGHT",
];

pub(super) fn write(frame: &Frame, json: bool, out: &mut dyn Write) -> io::Result<()> {
    if json {
        let nodes = frame.nodes.iter().map(|node| Value::from(object(node)));
        let nodes: Vec<Value> = nodes.collect();
        return Object::default().with("nodes", nodes).write_line(out);
    }
    let mut align = [Align::Right; HEADING.len()];
    align[..2].fill(Align::Left);
    let mut table = Table::new(HEADING, align);
    for node in &frame.nodes {
        table.row(cells(node));
    }
    table.write(out)
}

/// A node's row; `-` is what is not known.
pub(super) fn cells(node: &Seen) -> [String; HEADING.len()] {
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let time = |time: Option<Duration>| or_dash(time.map(latency));
    [
        node.name.clone(),
        node.health().to_owned(),
        or_dash(node.ops_per_second.map(|rate| grouped(whole(rate)))),
        time(node.p50),
        time(node.p99),
        time(node.score),
        if node.penalised { "yes" } else { "no" }.to_owned(),
        or_dash(node.connections.map(grouped)),
        node.in_flight.to_string(),
    ]
}

fn object(node: &Seen) -> Object {
    let us = |time: Option<Duration>| {
        let us = time.map(|time| u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
        us.map_or(Value::Null, Value::from)
    };
    let rate = node.ops_per_second.map(whole);
    Object::default()
        .with("name", node.name.as_str())
        .with("health", node.health())
        .with("ops_per_second", rate.map_or(Value::Null, Value::from))
        .with("p50_us", us(node.p50))
        .with("p99_us", us(node.p99))
        .with("score_us", us(node.score))
        .with("penalised", node.penalised)
        .with(
            "connections",
            node.connections.map_or(Value::Null, Value::from),
        )
        .with("in_flight", node.in_flight)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rate is never negative and far below 2^64"
)]
fn whole(rate: f64) -> u64 {
    rate.round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_null_or_a_dash() {
        let frame = Frame {
            nodes: vec![
                Seen {
                    name: "a".to_owned(),
                    ops_per_second: Some(1_234.5),
                    p50: Some(Duration::from_micros(38)),
                    p99: Some(Duration::from_micros(1_500)),
                    score: Some(Duration::from_nanos(40_900)),
                    penalised: true,
                    connections: Some(12),
                    in_flight: 1,
                    ..Seen::default()
                },
                Seen {
                    name: "größe".to_owned(),
                    ..Seen::default()
                },
            ],
        };
        let written = |json| {
            let mut out = Vec::new();
            write(&frame, json, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(
            written(true),
            "{\"nodes\":[{\"name\":\"a\",\"health\":\"healthy\",\"ops_per_second\":1235,\
             \"p50_us\":38,\"p99_us\":1500,\"score_us\":40,\"penalised\":true,\
             \"connections\":12,\"in_flight\":1},\
             {\"name\":\"größe\",\"health\":\"healthy\",\"ops_per_second\":null,\
             \"p50_us\":null,\"p99_us\":null,\"score_us\":null,\"penalised\":false,\
             \"connections\":null,\"in_flight\":0}]}\n"
        );
        assert_eq!(
            written(false),
            "NODE   HEALTH   OPS/S    P50      P99  SCORE  PENALISED  CONNS  IN FLIGHT\n\
             a      healthy  1,235  38 µs  1.50 ms  40 µs        yes     12          1\n\
             größe  healthy      -      -        -      -         no      -          0\n"
        );
    }
}
