//! What all handles and calls of a client hold: the cluster, and its beginning and end.

use std::panic::catch_unwind;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::cluster::Cluster;
use crate::deadline::Deadline;
use crate::discovery::{DynDiscovery, Follower, Progress};
use crate::error::{Error, ErrorKind, Result, Stage};
use crate::events::{self, Handler};
use crate::fill::Flights;
use crate::keys;
use crate::node::Node;
use crate::options::Options;

/// The cluster, and when its background work starts and ends. Dropped with the last handle.
pub(crate) struct Shared {
    pub(crate) cluster: Arc<Cluster>,
    /// Waits here until there is a runtime to call it on.
    handler: Mutex<Option<Handler>>,
    discovery: Mutex<Following>,
    /// Callers that wait for a value which one of them loads.
    pub(crate) flights: Arc<Flights>,
}

/// Where the discovery of nodes has got to.
enum Following {
    /// There is none, or it has ended.
    Not,
    /// It waits for a runtime.
    Unstarted(Follower),
    Running(AbortHandle),
}

impl Shared {
    pub(crate) fn new(
        cluster: Arc<Cluster>,
        handler: Option<Handler>,
        discovery: Option<Box<dyn DynDiscovery>>,
    ) -> Self {
        let discovery = match discovery {
            Some(discovery) => Following::Unstarted(Follower::new(discovery)),
            None => Following::Not,
        };
        Self {
            cluster,
            handler: Mutex::new(handler),
            discovery: Mutex::new(discovery),
            flights: Arc::default(),
        }
    }

    pub(crate) fn options(&self) -> &Options {
        &self.cluster.options
    }

    /// The node that owns a caller's key.
    pub(crate) fn owner(&self, key: &[u8]) -> Result<Arc<Node>> {
        self.cluster
            .route(&keys::sent(self.options().keys.as_ref(), key)?)
    }

    /// Starts the background work on `runtime`, once.
    pub(crate) fn start_on(&self, runtime: &Handle) -> Result<()> {
        if !keeps_time(runtime) {
            return Err(Error::runtime_without_time());
        }
        let handler = self
            .handler
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(handler) = handler {
            runtime.spawn(events::dispatch(self.cluster.events.subscribe(), handler));
        }
        self.cluster.start(runtime);
        let mut discovery = self.following();
        *discovery = match std::mem::replace(&mut *discovery, Following::Not) {
            Following::Unstarted(follower) => {
                let cluster = Arc::downgrade(&self.cluster);
                let task = runtime.spawn(follower.follow(cluster));
                Following::Running(task.abort_handle())
            }
            other => other,
        };
        Ok(())
    }

    fn following(&self) -> MutexGuard<'_, Following> {
        self.discovery
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for no more lists of nodes.
    pub(crate) fn end_discovery(&self) {
        if let Following::Running(task) = std::mem::replace(&mut *self.following(), Following::Not)
        {
            task.abort();
        }
    }

    /// Starts the background work on the current runtime if it has none yet; gives the one that it
    /// runs on.
    pub(crate) fn ensure_started(&self) -> Result<&Handle> {
        if let Some(runtime) = self.cluster.runtime() {
            return Ok(runtime);
        }
        let runtime = Handle::try_current().map_err(|error| {
            Error::new(
                ErrorKind::Runtime,
                Stage::Routing,
                "there is no Tokio runtime here; call within one, or give the builder a `runtime`",
            )
            .with_source(error)
        })?;
        self.start_on(&runtime)?;
        self.cluster.runtime().ok_or_else(Error::runtime_gone)
    }

    /// Sees to it that there are nodes that can be asked; gives the runtime and what is left of `limit`.
    pub(crate) async fn begin(
        &self,
        limit: Option<Duration>,
    ) -> Result<(&Handle, Option<Duration>)> {
        let runtime = self.ensure_started()?;
        let limit = if self.cluster.awaits_first_list() {
            self.first_list(limit).await?
        } else {
            limit
        };
        Ok((runtime, limit))
    }

    /// Waits while there is no node because the first list of them is being asked for; returns what is
    /// left of `limit`.
    pub(crate) async fn first_list(&self, limit: Option<Duration>) -> Result<Option<Duration>> {
        let begun = Instant::now();
        let settled = || (!self.cluster.awaits_first_list()).then_some(());
        let late = self.wait_until(Deadline::new(limit), settled).await.err();
        match late {
            None => Ok(limit.map(|limit| limit.saturating_sub(begun.elapsed()))),
            Some(late) if late.kind() == ErrorKind::Timeout => {
                let source = self.cluster.discovery.as_ref().map_or("", Progress::source);
                let detail = format!(
                    "no list of nodes has come from {source} within {:?}",
                    limit.unwrap_or_default()
                );
                Err(Error::new(ErrorKind::Timeout, Stage::Routing, detail))
            }
            Some(late) => Err(late),
        }
    }

    /// Waits until `look` finds something; it looks again whenever a connection comes or goes, or a list
    /// of nodes.
    pub(crate) async fn wait_until<T>(
        &self,
        deadline: Deadline,
        look: impl Fn() -> Option<T>,
    ) -> Result<T> {
        let cluster = &self.cluster;
        let Some(runtime) = cluster.runtime() else {
            return Err(Error::runtime_gone());
        };
        let deadline = pin!(deadline);
        let work = async {
            loop {
                let mut changed = pin!(cluster.changed.notified());
                changed.as_mut().enable();
                if let Some(found) = look() {
                    return found;
                }
                changed.await;
                // Of thousands of nodes there is always one that changes meanwhile: others have their turn,
                // and the time is looked at.
                tokio::task::yield_now().await;
            }
        };
        let waited = deadline.bound(runtime, work).await;
        waited.map_err(|expired| expired.error(Stage::Connecting))
    }
}

/// Whether the runtime has its timers enabled. Only using them shows it.
fn keeps_time(runtime: &Handle) -> bool {
    let _inside = runtime.enter();
    catch_unwind(|| drop(tokio::time::sleep(Duration::ZERO))).is_ok()
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.end_discovery();
        for node in self.cluster.members().nodes() {
            node.close(&Error::closed());
        }
        self.cluster.events.close();
    }
}
