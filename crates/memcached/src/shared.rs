//! What all handles and calls of a client hold: the cluster, and its beginning and end.

use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;

use crate::cluster::Cluster;
use crate::deadline::Deadline;
use crate::error::{Error, ErrorKind, Result, Stage};
use crate::events::{self, Handler};
use crate::options::Options;

/// The cluster, and when its background work starts and ends. Dropped with the last handle.
pub(crate) struct Shared {
    pub(crate) cluster: Arc<Cluster>,
    /// Waits here until there is a runtime to call it on.
    handler: Mutex<Option<Handler>>,
}

impl Shared {
    pub(crate) fn new(cluster: Arc<Cluster>, handler: Option<Handler>) -> Self {
        Self {
            cluster,
            handler: Mutex::new(handler),
        }
    }

    pub(crate) fn options(&self) -> &Options {
        &self.cluster.options
    }

    /// Starts the background work on `runtime`, once.
    pub(crate) fn start_on(&self, runtime: &Handle) {
        let handler = self
            .handler
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(handler) = handler {
            runtime.spawn(events::dispatch(self.cluster.events.subscribe(), handler));
        }
        self.cluster.start(runtime);
    }

    /// Starts the background work on the current runtime if it has none yet.
    pub(crate) fn ensure_started(&self) -> Result<()> {
        if self.cluster.runtime().is_some() {
            return Ok(());
        }
        let runtime = Handle::try_current().map_err(|error| {
            Error::new(
                ErrorKind::Runtime,
                Stage::Routing,
                "there is no Tokio runtime here; call within one, or give the builder a `runtime`",
            )
            .with_source(error)
        })?;
        self.start_on(&runtime);
        Ok(())
    }

    /// Waits until `done` holds; it is asked again whenever a connection comes or goes.
    pub(crate) async fn wait_until(
        &self,
        patience: Duration,
        done: impl Fn() -> bool,
    ) -> Result<()> {
        let cluster = &self.cluster;
        let Some(runtime) = cluster.runtime() else {
            return Ok(());
        };
        let deadline = pin!(Deadline::new(Some(patience)));
        let work = async {
            loop {
                let mut changed = pin!(cluster.changed.notified());
                changed.as_mut().enable();
                if done() {
                    return;
                }
                changed.await;
            }
        };
        let waited = deadline.bound(runtime, work).await;
        waited.map_err(|expired| expired.error(Stage::Connecting))
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        for node in self.cluster.members().nodes() {
            node.close(&Error::closed());
        }
        self.cluster.events.close();
    }
}
