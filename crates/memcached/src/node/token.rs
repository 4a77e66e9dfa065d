//! Who waits for a reply: the token that travels with each request through the connection.

use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use steersman_memcached_protocol::Reply;
use tokio::time::Instant;
use tracing::debug;

use super::waiter::{self, Teller, Told, Waiter};
use crate::error::{Error, Result};

/// The waiter of one request, or of one key of a multi-key read.
#[derive(Debug)]
pub(crate) enum Token {
    /// One caller waits for one reply.
    One(Caller),
    /// One of the keys of a `get_many`.
    Many(Share),
    /// A noreply write: the reply is counted and discarded.
    Quiet,
}

/// Who waits for one reply, until it is told.
#[derive(Debug)]
pub(crate) struct Caller {
    teller: Teller,
    /// From then on it is late; `None` if nobody keeps its time here.
    deadline: Option<Instant>,
}

impl Token {
    /// A token for one caller, and where that one waits.
    pub(crate) fn one() -> (Self, Waiter) {
        let (teller, waiter) = waiter::meet();
        let caller = Caller {
            teller,
            deadline: None,
        };
        (Self::One(caller), waiter)
    }

    /// From `deadline` on its caller is late.
    pub(super) fn expires(&mut self, deadline: Option<Instant>) {
        if let Self::One(caller) = self {
            caller.deadline = deadline;
        }
    }

    /// Its caller is late only so much later.
    pub(super) fn postpone(&mut self, delay: Duration) {
        if let Self::One(caller) = self {
            caller.deadline = caller.deadline.and_then(|at| at.checked_add(delay));
        }
    }

    /// Tells its caller if that one is late. Otherwise says when it will be.
    pub(super) fn expire(&mut self, now: Instant) -> Option<Instant> {
        let Self::One(caller) = self else {
            return None;
        };
        let is_late = caller.deadline? <= now;
        if is_late {
            caller.deadline = None;
            caller.teller.tell(Told::TimedOut);
        }
        caller.deadline
    }

    /// Hands over the server's reply. Returns how many of the connection's places come free by it.
    pub(super) fn answer(self, reply: Reply) -> usize {
        match self {
            Self::One(mut caller) => caller.teller.tell(Told::Reply(reply)),
            Self::Many(share) => return share.settle(Ok(reply)),
            Self::Quiet => {
                if let Reply::Error(error) = reply {
                    debug!(%error, "the server refused a noreply request");
                }
            }
        }
        1
    }

    /// Tells the caller that there will be no reply.
    pub(super) fn fail(self, error: Error) {
        match self {
            Self::One(mut caller) => caller.teller.tell(Told::Failed(error)),
            Self::Many(share) => drop(share.settle(Err(error))),
            Self::Quiet => debug!(%error, "a noreply request was lost"),
        }
    }

    pub(super) fn is_quiet(&self) -> bool {
        matches!(self, Self::Quiet)
    }

    /// Whether nobody waits for the reply any more.
    pub(super) fn is_abandoned(&self) -> bool {
        match self {
            Self::One(caller) => caller.teller.is_over(),
            // The caller holds the gather once, every outstanding share once more.
            Self::Many(share) => {
                let outstanding = share.gather.lock().outstanding;
                Arc::strong_count(&share.gather) <= outstanding
            }
            Self::Quiet => true,
        }
    }
}

/// Collects the replies to the keys of one multi-key request.
#[derive(Debug)]
pub(crate) struct Gather {
    state: Mutex<GatherState>,
}

#[derive(Debug)]
struct GatherState {
    replies: Vec<Option<Result<Reply>>>,
    outstanding: usize,
    waker: Option<Waker>,
}

impl Gather {
    /// A gather for `keys` replies, and the share of each.
    pub(crate) fn new(keys: usize) -> (Arc<Self>, impl Iterator<Item = Share>) {
        let state = GatherState {
            replies: (0..keys).map(|_| None).collect(),
            outstanding: keys,
            waker: None,
        };
        let gather = Arc::new(Self {
            state: Mutex::new(state),
        });
        let shares = {
            let gather = Arc::clone(&gather);
            (0..keys).map(move |index| Share {
                gather: Arc::clone(&gather),
                index,
            })
        };
        (gather, shares)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, GatherState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ready when every key has its reply, or was dropped without one.
    pub(crate) fn poll_complete(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        if state.outstanding == 0 {
            return Poll::Ready(());
        }
        match &mut state.waker {
            Some(waker) => waker.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
        Poll::Pending
    }

    /// Takes what has come so far, by key.
    pub(crate) fn take(&self) -> Vec<Option<Result<Reply>>> {
        std::mem::take(&mut self.lock().replies)
    }
}

/// The waiter of one key of a [`Gather`].
#[derive(Debug)]
pub(crate) struct Share {
    gather: Arc<Gather>,
    index: usize,
}

impl Share {
    /// One line of keys is one request and has one place, which its last answer gives back.
    fn settle(self, outcome: Result<Reply>) -> usize {
        let mut state = self.gather.lock();
        if let Some(slot) = state.replies.get_mut(self.index) {
            *slot = Some(outcome);
        }
        // Dropping the share counts it.
        usize::from(state.outstanding == 1)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut state = self.gather.lock();
        state.outstanding = state.outstanding.saturating_sub(1);
        if state.outstanding == 0
            && let Some(waker) = state.waker.take()
        {
            drop(state);
            waker.wake();
        }
    }
}
