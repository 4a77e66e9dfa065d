//! All that happens, in its order: what is hashed to compare runs, and printed to look into one.

use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use std::sync::Mutex;
use std::time::Duration;

use tokio::time::Instant;
use xxhash_rust::xxh3::Xxh3;

use crate::lock;

/// When something happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment {
    /// Its place among all that happened, which tells apart what happened at the same time.
    pub order: u64,
    /// The virtual time since the beginning.
    pub at: Duration,
}

/// What happened in a run.
#[derive(Debug)]
pub(crate) struct Trace {
    begun: Instant,
    prints: bool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    events: u64,
    hash: Hash64,
}

#[derive(Default)]
struct Hash64(Xxh3);

impl Debug for Hash64 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0.digest())
    }
}

impl Trace {
    /// An empty one that begins now, and is printed as it grows or not.
    pub(crate) fn new(prints: bool) -> Self {
        Self {
            begun: Instant::now(),
            prints,
            state: Mutex::default(),
        }
    }

    /// Notes an event; says when it was.
    pub(crate) fn note(&self, event: &(impl Debug + Hash)) -> Moment {
        let mut state = lock(&self.state);
        state.events += 1;
        let moment = Moment {
            order: state.events,
            at: self.begun.elapsed(),
        };
        moment.hash(&mut state.hash.0);
        event.hash(&mut state.hash.0);
        drop(state);
        if self.prints {
            println!("{:>10.3} s  {event:?}", moment.at.as_secs_f64());
        }
        moment
    }

    /// How many events there were, and a hash of them all.
    pub(crate) fn summary(&self) -> (u64, u64) {
        let state = lock(&self.state);
        (state.events, state.hash.0.finish())
    }
}
