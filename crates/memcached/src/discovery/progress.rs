//! How far discovery has come, for those who wait for the first list.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::DiscoveryError;
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
    /// The first attempt to get a list is in progress.
    First,
    /// There is none yet.
    Failed(Trouble),
    Listed,
}

/// Why there is no list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Trouble {
    pub(super) why: Arc<str>,
    /// Whether the source refuses the client for a reason that waiting does not mend.
    pub(super) refused: bool,
}

impl Trouble {
    pub(super) fn new(why: impl Into<Arc<str>>) -> Self {
        Self {
            why: why.into(),
            refused: false,
        }
    }
}

impl From<DiscoveryError> for Trouble {
    fn from(error: DiscoveryError) -> Self {
        Self {
            why: error.to_string().into(),
            refused: error.downcast_ref().is_some_and(Error::is_refusal),
        }
    }
}

impl Progress {
    pub(crate) fn new(source: String) -> Self {
        Self {
            source,
            state: Mutex::new(State::First),
            counts: Mutex::default(),
        }
    }

    pub(crate) fn source(&self) -> &str {
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

    pub(super) fn failed(&self, trouble: &Trouble) {
        self.counts().failed += 1;
        self.ended(trouble);
    }

    /// For those who wait for the first list there will be none, as far as is known.
    pub(super) fn ended(&self, trouble: &Trouble) {
        let mut state = self.lock();
        if !matches!(*state, State::Listed) {
            *state = State::Failed(trouble.clone());
        }
    }

    /// Whether nobody knows yet if there will be a list.
    pub(crate) fn is_first_attempt(&self) -> bool {
        matches!(*self.lock(), State::First)
    }

    /// Whether no list has come yet.
    pub(crate) fn is_awaited(&self) -> bool {
        !matches!(*self.lock(), State::Listed)
    }

    /// Why there is no list and waiting will bring none.
    pub(crate) fn refusal(&self) -> Option<Error> {
        let refused = matches!(&*self.lock(), State::Failed(trouble) if trouble.refused);
        if refused { self.missing() } else { None }
    }

    /// Why there is no list yet, if there is none.
    pub(crate) fn missing(&self) -> Option<Error> {
        let missing = |reason: &str| {
            let detail = format!("no list of nodes has come from {} yet{reason}", self.source);
            Error::new(ErrorKind::NoNodeReachable, Stage::Routing, detail)
        };
        match &*self.lock() {
            State::First => Some(missing("").passing()),
            State::Failed(trouble) => Some(missing(&format!(": {}", trouble.why))),
            State::Listed => None,
        }
    }
}
