//! How far discovery has come, for those who wait for the first list.

use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Error, ErrorKind, Stage};

/// Whether a list has come, and why not.
#[derive(Debug)]
pub(crate) struct Progress {
    source: String,
    state: Mutex<State>,
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
        }
    }

    pub(super) fn source(&self) -> &str {
        &self.source
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn listed(&self) {
        *self.lock() = State::Listed;
    }

    pub(super) fn failed(&self, why: &Arc<str>) {
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
