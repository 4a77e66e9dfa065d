//! What a program is told, and what it prints.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What each task does over and over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// Reads one key.
    Get,
    /// Writes one key.
    Set,
}

impl Operation {
    /// As it is written on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Set => "set",
        }
    }
}

/// What a program is told to do.
#[derive(Debug, Clone)]
pub struct Order {
    /// The server, `HOST:PORT`.
    pub server: String,
    /// How many connections share the work.
    pub connections: usize,
    /// How many operations are outstanding: one for each task.
    pub tasks: usize,
    /// How long operations are counted.
    pub span: Duration,
    /// What each task does.
    pub operation: Operation,
    /// The bytes of each value.
    pub value_size: usize,
    /// Threads of the Tokio runtime; by default as many as it takes itself.
    pub workers: Option<usize>,
}

impl Order {
    /// The form of the arguments.
    pub const USAGE: &str = "[--workers N] HOST:PORT CONNECTIONS TASKS SECONDS get|set VALUE_SIZE";

    /// Reads the arguments of the program, without its name.
    pub fn from_args(args: impl IntoIterator<Item = String>) -> Result<Self, String> {
        Self::read(&mut args.into_iter()).ok_or_else(|| format!("usage: {}", Self::USAGE))
    }

    fn read(args: &mut impl Iterator<Item = String>) -> Option<Self> {
        let mut first = args.next()?;
        let mut workers = None;
        if first == "--workers" {
            workers = Some(positive(args)?);
            first = args.next()?;
        }
        let order = Self {
            server: first,
            workers,
            connections: positive(args)?,
            tasks: positive(args)?,
            span: Duration::try_from_secs_f64(args.next()?.parse().ok()?).ok()?,
            operation: match args.next()?.as_str() {
                "get" => Operation::Get,
                "set" => Operation::Set,
                _ => return None,
            },
            value_size: positive(args)?,
        };
        args.next().is_none().then_some(order)
    }
}

fn positive(args: &mut impl Iterator<Item = String>) -> Option<usize> {
    args.next()?.parse().ok().filter(|&number| number > 0)
}

/// What a program prints.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Operations that did what they should.
    pub operations: u64,
    /// How long they were counted.
    pub seconds: f64,
    /// Misses, values of a wrong length, and failures.
    pub errors: u64,
}

impl Outcome {
    /// Operations a second.
    pub fn rate(&self) -> f64 {
        self.operations as f64 / self.seconds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(line: &str) -> Result<Order, String> {
        Order::from_args(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn an_order_is_read() {
        let order = order("--workers 1 localhost:1 2 64 0.5 set 100").unwrap();
        assert_eq!(order.workers, Some(1));
        assert_eq!(order.server, "localhost:1");
        assert_eq!((order.connections, order.tasks), (2, 64));
        assert_eq!(order.span, Duration::from_millis(500));
        assert_eq!(order.operation, Operation::Set);
        assert_eq!(order.value_size, 100);
    }

    #[test]
    fn what_is_no_order_is_refused() {
        let wrong = [
            "",
            "localhost:1 2 64 0.5 set",
            "localhost:1 2 64 0.5 set 100 more",
            "localhost:1 0 64 0.5 set 100",
            "localhost:1 2 64 -1 set 100",
            "localhost:1 2 64 0.5 take 100",
            "--workers localhost:1 2 64 0.5 set 100",
        ];
        for line in wrong {
            assert!(order(line).is_err(), "{line}");
        }
    }
}
