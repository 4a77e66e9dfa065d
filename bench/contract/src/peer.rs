//! The whole of a measured program, for a client on Tokio.

use std::process::ExitCode;

use bytes::Bytes;

use crate::{
    KEYS_PER_TASK, Operation, Order, Outcome, Phase, keys, printed, runtime, value, within,
};

/// A client that is measured. Each task has a clone.
pub trait Peer: Clone + Send + Sync + 'static {
    /// Connects as often as it is told.
    fn connect(
        server: String,
        connections: usize,
    ) -> impl Future<Output = Result<Self, String>> + Send;

    /// What task of that number gets; for clients that bind tasks to connections.
    #[must_use]
    fn for_task(&self, _number: usize) -> Self {
        self.clone()
    }

    /// The length of the value, None for a miss or a failure.
    fn get(&self, key: &str) -> impl Future<Output = Option<usize>> + Send;

    /// Whether the value was stored.
    fn set(&self, key: &str, value: &Bytes) -> impl Future<Output = bool> + Send;
}

/// The main function of the program: does what its arguments say, and prints what came of it.
pub fn run<P: Peer>(args: impl IntoIterator<Item = String>) -> ExitCode {
    printed(Order::from_args(args).and_then(|order| measure::<P>(&order)))
}

fn measure<P: Peer>(order: &Order) -> Result<Outcome, String> {
    let runtime = runtime(order.workers)?;
    let connecting = P::connect(order.server.clone(), order.connections);
    let peer = within(&runtime, connecting)?;
    let phase = Phase::default();
    let tasks: Vec<_> = (0..order.tasks)
        .map(|number| {
            let task = Task {
                peer: peer.for_task(number),
                operation: order.operation,
                keys: keys(number, KEYS_PER_TASK, order.value_size),
                value: value(order.value_size),
            };
            runtime.spawn(task.run(phase.clone()))
        })
        .collect();
    let mut outcome = Outcome {
        seconds: phase.conduct(order.span),
        ..Outcome::default()
    };
    for task in tasks {
        let (operations, errors) = runtime.block_on(task).map_err(|error| error.to_string())?;
        outcome.operations += operations;
        outcome.errors += errors;
    }
    Ok(outcome)
}

struct Task<P> {
    peer: P,
    operation: Operation,
    keys: Vec<String>,
    value: Bytes,
}

impl<P: Peer> Task<P> {
    /// Returns how many operations of the counted span succeeded and failed.
    async fn run(self, phase: Phase) -> (u64, u64) {
        let mut keys = self.keys.iter().cycle();
        let (mut operations, mut errors) = (0, 0);
        while phase.is_warming() {
            self.once(keys.next()).await;
        }
        while phase.is_counting() {
            if self.once(keys.next()).await {
                operations += 1;
            } else {
                errors += 1;
            }
        }
        (operations, errors)
    }

    async fn once(&self, key: Option<&String>) -> bool {
        let Some(key) = key else { return false };
        match self.operation {
            Operation::Get => self.peer.get(key).await == Some(self.value.len()),
            Operation::Set => self.peer.set(key, &self.value).await,
        }
    }
}
