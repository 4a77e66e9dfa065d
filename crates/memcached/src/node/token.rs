//! Who waits for a reply: the token that travels with each request through the connection.

use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use steersman_memcached_protocol::Reply;
use tokio::time::Instant;
use tracing::debug;

use super::waiter::{self, Heard, Teller, Told, Waiter};
use crate::call::server_error;
use crate::error::{Error, Result};
use crate::metrics::Ended;

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
    /// A token for one caller, who is woken by `waker`, and where that one waits.
    pub(crate) fn one(waker: Waker) -> (Self, Waiter) {
        let (teller, waiter) = waiter::meet(waker);
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

    /// When its caller is late.
    pub(super) fn deadline(&self) -> Option<Instant> {
        match self {
            Self::One(caller) => caller.deadline,
            _ => None,
        }
    }

    /// Tells its caller that its time is up at the node of that name.
    pub(super) fn time_out(&mut self, node: &Arc<str>) -> Option<Ended> {
        let Self::One(caller) = self else {
            return None;
        };
        caller.deadline = None;
        caller.tell(Told::TimedOut(Arc::clone(node)), Ended::Failed)
    }

    /// Hands over the reply of the node of that name. Returns how many of the connection's places
    /// come free by it, and how the operation has ended if it has by that.
    pub(super) fn answer(self, reply: Reply, node: &Arc<str>) -> (usize, Option<Ended>) {
        match self {
            Self::One(mut caller) => {
                let ended = match reply {
                    Reply::Error(error) => {
                        let error = server_error(error).at_node(node);
                        caller.tell(Told::Failed(error), Ended::Failed)
                    }
                    reply => caller.tell(Told::Reply(reply), Ended::Executed),
                };
                (1, ended)
            }
            Self::Many(share) => (share.settle(Ok(reply)), None),
            Self::Quiet => {
                if let Reply::Error(error) = reply {
                    debug!(%error, "the server refused a noreply request");
                }
                (1, None)
            }
        }
    }

    /// Tells the caller that there will be no reply; says how its operation has ended.
    pub(super) fn fail(self, error: Error) -> Option<Ended> {
        match self {
            Self::One(mut caller) => caller.tell(Told::Failed(error), Ended::Failed),
            Self::Many(share) => {
                share.settle(Err(error));
                None
            }
            Self::Quiet => {
                debug!(%error, "a noreply request was lost");
                None
            }
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

impl Caller {
    /// Tells it, unless it was told already; says how the operation has ended.
    fn tell(&mut self, told: Told, ended: Ended) -> Option<Ended> {
        Some(match self.teller.tell(told)? {
            Heard::Yes => ended,
            Heard::No => Ended::Cancelled,
        })
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
