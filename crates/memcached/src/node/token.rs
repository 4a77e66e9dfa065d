//! Who waits for a reply: the token that travels with each request through the connection.

use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use steersman_memcached_protocol::Reply;
use tokio::time::Instant;
use tracing::debug;

use super::version::Version;
use super::waiter::{self, Heard, Teller, Told, Waiter};
use crate::call::server_error;
use crate::error::{Error, Result, Stage};
use crate::metrics::{Ended, OperationCounters};
use crate::observe::targets;
use crate::sync::{Mutex, MutexGuard};

/// What has come of telling callers: how their operations have ended, and whom to wake. They are woken
/// when that has been counted and their places are free, so that a caller that goes on finds it so.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) operations: OperationCounters,
    /// What the server has said of its version.
    pub(super) version: Option<Version>,
    wakers: Vec<Waker>,
}

/// The waiter of one request, or of one key of a multi-key read.
#[derive(Debug)]
pub(crate) enum Token {
    /// One caller waits for one reply.
    One(Caller),
    /// One of the keys of a `get_many`.
    Many(Share),
    /// A noreply write: the reply is counted and discarded.
    Quiet,
    /// The connection itself wants to know the server's version.
    Version,
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

    /// Tells its caller that its time is up at the node of that name, and how far it has come.
    pub(super) fn time_out(&mut self, node: &Arc<str>, stage: Stage, tally: &mut Tally) {
        if let Self::One(caller) = self {
            caller.deadline = None;
            let told = Told::TimedOut(Arc::clone(node), stage);
            caller.tell(told, Ended::Failed, tally);
        }
    }

    /// Hands over the reply of the node of that name. Returns how many of the connection's places
    /// come free by it.
    pub(super) fn answer(self, reply: Reply, node: &Arc<str>, tally: &mut Tally) -> usize {
        match self {
            Self::One(mut caller) => match reply {
                Reply::Error(error) => {
                    let error = server_error(error).at_node(node);
                    caller.tell(Told::Failed(error), Ended::Failed, tally);
                }
                reply => caller.tell(Told::Reply(reply), Ended::Executed, tally),
            },
            Self::Many(share) => return share.settle(Ok(reply), tally),
            Self::Version => tally.version = Some(Version::answered(reply)),
            Self::Quiet => {
                if let Reply::Error(error) = reply {
                    let error = server_error(error).at_node(node);
                    let error = error.for_log();
                    debug!(target: targets::UNANSWERED, node = %node, %error, "the server refused a noreply request");
                }
            }
        }
        1
    }

    /// Tells the caller that there will be no reply.
    pub(super) fn fail(self, error: Error, tally: &mut Tally) {
        match self {
            Self::One(mut caller) => caller.tell(Told::Failed(error), Ended::Failed, tally),
            Self::Many(share) => drop(share.settle(Err(error), tally)),
            Self::Quiet => {
                let error = error.for_log();
                debug!(target: targets::UNANSWERED, %error, "a noreply request was lost");
            }
            // Another connection asks for itself.
            Self::Version => {}
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
            // Nobody waits, but nobody has given it up either.
            Self::Quiet | Self::Version => false,
        }
    }
}

impl Tally {
    /// Wakes the callers.
    pub(super) fn wake(&mut self) {
        for waker in self.wakers.drain(..) {
            waker.wake();
        }
    }
}

impl Caller {
    /// Tells it, unless it was told already, that its operation has ended.
    fn tell(&mut self, told: Told, ended: Ended, tally: &mut Tally) {
        match self.teller.tell(told) {
            Some(Heard::Yes(waker)) => {
                tally.operations.count(ended);
                tally.wakers.push(waker);
            }
            Some(Heard::No(ended)) => tally.operations.count(ended),
            None => {}
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

impl GatherState {
    /// One of the replies has come, or never will; says whether it was the last.
    fn end_one(&mut self) -> bool {
        self.outstanding = self.outstanding.saturating_sub(1);
        self.outstanding == 0
    }
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
                settled: false,
            })
        };
        (gather, shares)
    }

    fn lock(&self) -> MutexGuard<'_, GatherState> {
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
    settled: bool,
}

impl Share {
    /// One line of keys is one request and has one place, which its last answer gives back.
    fn settle(mut self, outcome: Result<Reply>, tally: &mut Tally) -> usize {
        self.settled = true;
        let mut state = self.gather.lock();
        if let Some(slot) = state.replies.get_mut(self.index) {
            *slot = Some(outcome);
        }
        let last = state.end_one();
        tally
            .wakers
            .extend(last.then(|| state.waker.take()).flatten());
        usize::from(last)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        if self.settled {
            return;
        }
        let mut state = self.gather.lock();
        if state.end_one()
            && let Some(waker) = state.waker.take()
        {
            drop(state);
            waker.wake();
        }
    }
}
