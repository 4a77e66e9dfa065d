//! The node that is asked where none is given.

use std::io;
use std::thread;

use steersman_testkit::Server;
use tokio::sync::oneshot;

use crate::answer::Failure;

/// A node inside this process, until it is dropped. It runs on a thread of its own: the load's threads
/// are the load's alone.
pub(super) struct Embedded {
    node: String,
    /// The thread ends when this is gone.
    _keep: oneshot::Sender<()>,
}

impl Embedded {
    /// Starts a node that holds so many bytes of items.
    pub(super) async fn start(memory: usize) -> Result<Self, Failure> {
        let (keep, until_dropped) = oneshot::channel();
        let (tell, told) = oneshot::channel();
        let spawned = thread::Builder::new()
            .name("embedded node".to_owned())
            .spawn(move || serve(memory, tell, until_dropped));
        let started = match spawned {
            // Gone without a word is a panic, which has its own message.
            Ok(_) => told
                .await
                .unwrap_or_else(|gone| Err(io::Error::other(gone))),
            Err(error) => Err(error),
        };
        match started {
            Ok(node) => Ok(Self { node, _keep: keep }),
            Err(error) => Err(Failure::told(format!(
                "cannot start a node on 127.0.0.1: {error}"
            ))),
        }
    }

    /// As `--node` takes it.
    pub(super) fn node(&self) -> &str {
        &self.node
    }
}

fn serve(
    memory: usize,
    tell: oneshot::Sender<io::Result<String>>,
    until_dropped: oneshot::Receiver<()>,
) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let started = runtime.and_then(|runtime| {
        let server = Server::builder().memory_limit(memory).start();
        let server = runtime.block_on(server)?;
        Ok((runtime, server))
    });
    // If nobody waits for the outcome any more, nobody needs it.
    match started {
        Ok((runtime, server)) => {
            let _ = tell.send(Ok(server.node()));
            let _ = runtime.block_on(until_dropped);
        }
        Err(error) => {
            let _ = tell.send(Err(error));
        }
    }
}
