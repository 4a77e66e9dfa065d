//! How far discovery has come, for those who wait for the first list.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::{Error, ErrorKind, Stage};

/// Whether a list has come, and why not.
#[derive(Debug)]
pub(crate) struct Progress {
    source: String,
    state: Mutex<State>,
    counts: Mutex<DiscoveryMetrics>,
}

/// How often [discovery](crate::Discovery) has asked for the list of nodes since the client was built,
/// by what came of it; from [`Client::discovery_metrics`](crate::Client::discovery_metrics).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiscoveryMetrics {
    /// A list became the members of the cluster.
    pub taken: u64,
    /// The list was the one that was taken last.
    pub unchanged: u64,
    /// There was no list, or one that makes no sense.
    pub failed: u64,
}

#[derive(Debug)]
enum State {
    /// The first list is awaited; why the last attempt to get it failed.
    Awaited(Option<Arc<str>>),
    Listed,
}

impl Progress {
    pub(crate) fn new(source: String) -> Self {
        Self {
            source,
            state: Mutex::new(State::Awaited(None)),
            counts: Mutex::default(),
        }
    }

    pub(super) fn source(&self) -> &str {
        &self.source
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn counts(&self) -> MutexGuard<'_, DiscoveryMetrics> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What has come of it so far.
    pub(crate) fn metrics(&self) -> DiscoveryMetrics {
        *self.counts()
    }

    pub(super) fn listed(&self) {
        self.counts().taken += 1;
        *self.lock() = State::Listed;
    }

    pub(super) fn unchanged(&self) {
        self.counts().unchanged += 1;
    }

    pub(super) fn failed(&self, why: &Arc<str>) {
        self.counts().failed += 1;
        let mut state = self.lock();
        if let State::Awaited(last) = &mut *state {
            *last = Some(Arc::clone(why));
        }
    }

    /// Why there is no list yet, if there is none.
    pub(crate) fn missing(&self) -> Option<Error> {
        let state = self.lock();
        let State::Awaited(reason) = &*state else {
            return None;
        };
        let source = &self.source;
        let detail = match reason {
            Some(reason) => format!("no list of nodes has come from {source} yet: {reason}"),
            None => format!("no list of nodes has come from {source} yet"),
        };
        Some(Error::new(
            ErrorKind::NoNodeReachable,
            Stage::Routing,
            detail,
        ))
    }
}
