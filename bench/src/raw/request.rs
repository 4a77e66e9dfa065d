//! Prepared requests, and how long their replies are.

use steersman_bench_contract::{Operation, Order, key_count, keys, value};

/// The most operations that share a request.
const BATCH: usize = 32;

/// How many different requests each connection sends in turn.
const REQUESTS: usize = 512;

/// How operations are put on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One command for each operation, many of them under way.
    Pipelined,
    /// `get` lines of many keys.
    Lines,
    /// Quiet meta commands, with `mn` after so many of them.
    Quiet,
}

impl Kind {
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "pipelined" => Some(Self::Pipelined),
            "lines" => Some(Self::Lines),
            "quiet" => Some(Self::Quiet),
            _ => None,
        }
    }
}

/// One request and its reply.
pub(crate) struct Request {
    pub(crate) bytes: Vec<u8>,
    pub(crate) operations: usize,
    /// The bytes of the reply.
    pub(crate) reply: usize,
    /// How the reply ends.
    pub(crate) end: &'static str,
}

/// The requests of a connection; all have as many operations and replies of the same length.
pub(crate) fn prepare(
    kind: Kind,
    order: &Order,
    connection: usize,
    outstanding: usize,
) -> Vec<Request> {
    let batch = match kind {
        Kind::Pipelined => 1,
        Kind::Lines | Kind::Quiet => BATCH.min(outstanding),
    };
    let count = (key_count(order.value_size) / batch).clamp(1, REQUESTS);
    (0..count)
        .map(|index| {
            let keys = keys(connection * REQUESTS + index, batch, order.value_size);
            match order.operation {
                Operation::Get => read(kind, &keys, order.value_size),
                Operation::Set => write(kind, &keys, order.value_size),
            }
        })
        .collect()
}

fn read(kind: Kind, keys: &[String], size: usize) -> Request {
    let (text, reply, end) = if kind == Kind::Quiet {
        let lines = keys.iter().map(|key| format!("mg {key} v q\r\n"));
        let header = format!("VA {size}\r\n").len();
        (lines.collect::<String>() + "mn\r\n", header, "MN\r\n")
    } else {
        let line = format!("get {}\r\n", keys.join(" "));
        let header = format!("VALUE {} 0 {size}\r\n", keys[0]).len();
        (line, header, "END\r\n")
    };
    Request {
        bytes: text.into_bytes(),
        operations: keys.len(),
        reply: keys.len() * (reply + size + 2) + end.len(),
        end,
    }
}

fn write(kind: Kind, keys: &[String], size: usize) -> Request {
    let quiet = kind == Kind::Quiet;
    let mut bytes = Vec::new();
    for key in keys {
        let line = if quiet {
            format!("ms {key} {size} q\r\n")
        } else {
            format!("set {key} 0 0 {size}\r\n")
        };
        bytes.extend_from_slice(line.as_bytes());
        bytes.extend_from_slice(&value(size));
        bytes.extend_from_slice(b"\r\n");
    }
    let end = if quiet { "MN\r\n" } else { "STORED\r\n" };
    if quiet {
        bytes.extend_from_slice(b"mn\r\n");
    }
    Request {
        bytes,
        operations: keys.len(),
        reply: if quiet {
            end.len()
        } else {
            keys.len() * end.len()
        },
        end,
    }
}
