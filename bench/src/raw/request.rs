//! Prepared requests, and how long their replies are.

use steersman_bench_contract::{KEYS_PER_TASK, Operation, Order, key_count, keys, value};

/// The most operations that share a request.
const BATCH: usize = 32;

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

/// The requests of a connection; all have as many operations and replies of the same length. They ask for
/// the keys that so many tasks ask for, as those would: each its first one, then each its second. Other keys,
/// or fewer, would be another load for the server.
pub(crate) fn prepare(
    kind: Kind,
    order: &Order,
    connection: usize,
    outstanding: usize,
) -> Vec<Request> {
    let size = order.value_size;
    let batch = match kind {
        Kind::Pipelined => 1,
        Kind::Lines | Kind::Quiet => BATCH.min(outstanding),
    };
    let tasks: Vec<Vec<String>> = (0..outstanding)
        .map(|task| keys(connection * outstanding + task, KEYS_PER_TASK, size))
        .collect();
    // Of large values there are few, and each is sent often enough.
    let enough = (key_count(size) / batch).max(1);
    (0..KEYS_PER_TASK)
        .flat_map(|turn| {
            let of_each: Vec<&str> = tasks.iter().map(|keys| keys[turn].as_str()).collect();
            let requests = of_each
                .chunks_exact(batch)
                .map(|keys| match order.operation {
                    Operation::Get => read(kind, keys, size),
                    Operation::Set => write(kind, keys, size),
                });
            requests.collect::<Vec<_>>()
        })
        .take(enough)
        .collect()
}

fn read(kind: Kind, keys: &[&str], size: usize) -> Request {
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

fn write(kind: Kind, keys: &[&str], size: usize) -> Request {
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
