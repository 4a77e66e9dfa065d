//! What measured programs in Rust have in common beside their clients: the runtime, and how they end.

use std::process::ExitCode;

use serde::Serialize;
use tokio::runtime::{self, Runtime};

/// Tokio's runtime with so many threads; by default as many as it takes itself.
pub fn runtime(workers: Option<usize>) -> Result<Runtime, String> {
    let mut builder = runtime::Builder::new_multi_thread();
    if let Some(workers) = workers {
        builder.worker_threads(workers);
    }
    builder
        .enable_all()
        .build()
        .map_err(|error| format!("no runtime: {error}"))
}

/// Does it within a task of the runtime: what is polled by `block_on` itself runs on a thread more than
/// the workers.
pub fn within<T: Send + 'static>(
    runtime: &Runtime,
    work: impl Future<Output = Result<T, String>> + Send + 'static,
) -> Result<T, String> {
    let done = runtime.block_on(runtime.spawn(work));
    done.map_err(|error| error.to_string())?
}

/// Prints what came of it as a line of JSON, or else why nothing did, and says how the program ends.
pub fn printed<T: Serialize>(outcome: Result<T, String>) -> ExitCode {
    match outcome {
        Ok(outcome) => {
            println!("{}", serde_json::json!(outcome));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
