//! A call: an operation that is configured, then awaited.
//!
//! [`Call`] carries what all operations share (time-out, target), the operations themselves are
//! small types that say which request they make and how its reply reads. [`CallFuture`] takes one
//! from routing to reply; dropping it at any point is harmless.

mod admin;
mod many;
mod read;
mod write;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use pin_project_lite::pin_project;
use steersman_memcached_protocol::{Key, Reply, Request, ServerError};
use tokio::sync::oneshot;
use tokio::task::coop::poll_proceed;

pub use self::admin::{AllNodes, CacheMemlimit, FlushAll, Stats, Verbosity, Version};
pub use self::many::{GetMany, GetManyFuture};
pub use self::read::Get;
pub(crate) use self::read::ReadOf;
pub use self::write::{
    Arithmetic, Cas, Concat, Delete, Item, NoReply, Set, SetIf, Touch, Write, WriteItem,
};
use crate::deadline::{Deadline, Patience};
use crate::error::{Error, ErrorKind, Result, Stage};
use crate::node::{Ask, Node, Started, Ticket, Token};
use crate::replication::{Command, Limit, Replicated, Replicator};
use crate::shared::Shared;

/// One request and how its reply is read. Implemented by this crate's operations only.
pub trait Operation: sealed::Operation<Output = <Self as Operation>::Answer> {
    /// What the operation gives back.
    type Answer;
}

impl<O: sealed::Operation> Operation for O {
    type Answer = O::Output;
}

pub(crate) mod sealed {
    use steersman_memcached_protocol::{Reply, Request};

    use crate::error::Result;
    use crate::outcome::PerNode;

    pub trait Operation {
        type Output;

        /// The name of the client's method.
        fn name(&self) -> &'static str;

        /// The key whose owner is asked; none for a node's own operations.
        fn key(&self) -> Option<&[u8]>;

        /// The request, or why its arguments cannot be sent.
        fn request(&self) -> Result<Request<'_>>;

        /// Reads the reply; gives it back if it is none that fits.
        fn read(reply: Reply) -> std::result::Result<Self::Output, Reply>;

        /// Reads the reply that the replicas came to, and what became of the call at each.
        fn read_replicated(
            reply: Reply,
            _replicas: PerNode<()>,
        ) -> std::result::Result<Self::Output, Reply> {
            Self::read(reply)
        }

        /// For operations that do not wait for the reply: what they give instead.
        fn unanswered() -> Option<Self::Output> {
            None
        }
    }
}

/// An operation that can be configured and then awaited; from [`Client`](crate::Client)'s and
/// [`NodeHandle`](crate::NodeHandle)'s methods.
///
/// ```no_run
/// # async fn example(client: steersman_memcached::Client) -> steersman_memcached::Result<()> {
/// use std::time::Duration;
///
/// let value = client.get("key").timeout(Duration::from_millis(50)).await?;
/// # Ok(()) }
/// ```
///
/// It is no future itself but turns into one. To spawn it, turn it explicitly, or await it in an
/// `async` block:
///
/// ```no_run
/// # async fn example(client: steersman_memcached::Client) {
/// let one = tokio::spawn(client.get("key").into_future());
/// let other = tokio::spawn(async move { client.get("key").await });
/// # }
/// ```
#[must_use = "a call does nothing until it is awaited"]
pub struct Call<O> {
    shared: Arc<Shared>,
    /// The node to ask; none is the key's owner.
    node: Option<Arc<Node>>,
    patience: Patience,
    operation: O,
}

impl<O> Call<O> {
    pub(crate) fn new(shared: Arc<Shared>, node: Option<Arc<Node>>, operation: O) -> Self {
        Self {
            shared,
            node,
            patience: Patience::Default,
            operation,
        }
    }

    /// Replaces the client's time-out for this call; `None` waits for ever.
    pub fn timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.patience = Patience::Own(timeout.into());
        self
    }

    pub(crate) fn map<P>(self, change: impl FnOnce(O) -> P) -> Call<P> {
        let Self {
            shared,
            node,
            patience,
            operation,
        } = self;
        Call {
            shared,
            node,
            patience,
            operation: change(operation),
        }
    }
}

impl<O: sealed::Operation> fmt::Debug for Call<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("operation", &self.operation.name())
            .finish_non_exhaustive()
    }
}

impl<O: sealed::Operation> IntoFuture for Call<O> {
    type Output = Result<O::Output>;
    type IntoFuture = CallFuture<O>;

    fn into_future(self) -> CallFuture<O> {
        let limit = self.patience.or(self.shared.options().timeout);
        CallFuture {
            deadline: Deadline::new(limit),
            node: None,
            state: State::Fresh,
            call: self,
        }
    }
}

pin_project! {
    /// The future of a [`Call`].
    #[must_use = "futures do nothing until they are awaited"]
    pub struct CallFuture<O: sealed::Operation> {
        call: Call<O>,
        // The node that was chosen, until the outcome has been counted there.
        node: Option<Arc<Node>>,
        state: State,
        #[pin]
        deadline: Deadline,
    }

    impl<O: sealed::Operation> PinnedDrop for CallFuture<O> {
        fn drop(this: Pin<&mut Self>) {
            if let Some(node) = this.project().node.take() {
                node.operations.cancelled();
            }
        }
    }
}

impl<O: sealed::Operation> CallFuture<O> {
    /// Takes the request out of its queue if it is still there; says how far it has come.
    pub(crate) fn withdraw(&self) -> Stage {
        self.state.withdraw()
    }
}

enum State {
    Fresh,
    /// Waits for the reply; with a ticket the request may still be in the queue.
    Sent {
        reply: oneshot::Receiver<Result<Reply>>,
        ticket: Option<Ticket>,
    },
    /// A noreply request waits for its place on a connection, and for nothing else.
    Queued(Ticket),
    /// On its way to several nodes; it keeps the time itself.
    Replicated(Replicated),
    Done,
}

impl State {
    /// How far a call that is given up has come.
    fn withdraw(&self) -> Stage {
        match self {
            Self::Fresh | Self::Done => Stage::Routing,
            Self::Sent { ticket: None, .. } | Self::Replicated(_) => Stage::Exchange,
            Self::Sent {
                ticket: Some(ticket),
                ..
            }
            | Self::Queued(ticket) => {
                if ticket.withdraw() {
                    Stage::Waiting
                } else {
                    Stage::Exchange
                }
            }
        }
    }
}

impl<O: sealed::Operation> Future for CallFuture<O> {
    type Output = Result<O::Output>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let call = &*this.call;
        let outcome = match advance(call, this.node, this.state, cx) {
            Poll::Ready(outcome) => outcome,
            Poll::Pending if matches!(this.state, State::Replicated(_)) => return Poll::Pending,
            Poll::Pending => {
                let Some(runtime) = call.shared.cluster.runtime() else {
                    return Poll::Pending;
                };
                let expired = ready!(this.deadline.poll_expired(cx, runtime));
                let stage = this.state.withdraw();
                Err(expired.error(stage).executed(stage == Stage::Exchange))
            }
        };
        *this.state = State::Done;
        let outcome = match this.node.take() {
            None => outcome,
            Some(node) => {
                node.operations.ended(outcome.is_err());
                outcome.map_err(|error| error.at_node(node.name()))
            }
        };
        Poll::Ready(outcome.map_err(|error| {
            let error = match call.node {
                Some(_) => error,
                None => call.shared.cluster.explain(error),
            };
            error.asked(call.operation.name())
        }))
    }
}

/// Takes the call as far as it can go now.
fn advance<O: sealed::Operation>(
    call: &Call<O>,
    chosen: &mut Option<Arc<Node>>,
    state: &mut State,
    cx: &mut Context<'_>,
) -> Poll<Result<O::Output>> {
    loop {
        match state {
            State::Fresh => {
                // A loop of calls that are done at once (refused, or noreply) must not keep the
                // client's own tasks from running: those count against the task's budget.
                let budget = ready!(poll_proceed(cx));
                match start(call, chosen) {
                    Ok(State::Done) => {
                        budget.made_progress();
                        return Poll::Ready(O::unanswered().ok_or_else(Error::closed));
                    }
                    Ok(started) => *state = started,
                    Err(error) => {
                        budget.made_progress();
                        return Poll::Ready(Err(error));
                    }
                }
            }
            State::Sent { reply, .. } => {
                return Pin::new(reply).poll(cx).map(|reply| match reply {
                    Ok(reply) => reply.and_then(read::<O>),
                    // The connection's driver was dropped with its runtime.
                    Err(_) => Err(Error::runtime_gone().executed(true)),
                });
            }
            State::Queued(ticket) => {
                return ticket.poll_admitted(cx).map(|admitted| {
                    admitted.and_then(|()| O::unanswered().ok_or_else(Error::closed))
                });
            }
            State::Replicated(replicated) => {
                return replicated.as_mut().poll(cx).map(|answer| {
                    let answer = answer?;
                    O::read_replicated(answer.reply, answer.replicas)
                        .map_err(|reply| unfit_reply(&reply))
                });
            }
            State::Done => return Poll::Pending,
        }
    }
}

/// Sends the request of a call; [`State::Done`] if there is nothing to wait for.
fn start<O: sealed::Operation>(call: &Call<O>, chosen: &mut Option<Arc<Node>>) -> Result<State> {
    let shared = &call.shared;
    let noreply = O::unanswered().is_some();
    loop {
        let request = call.operation.request()?;
        request
            .check(&shared.options().limits)
            .map_err(Error::cannot_send)?;
        shared.ensure_started()?;
        if let Some(replicated) = replicate(call, &request) {
            return Ok(State::Replicated(replicated));
        }
        let node = match &call.node {
            Some(node) => Arc::clone(node),
            None => shared
                .cluster
                .route(call.operation.key().unwrap_or_default())?,
        };
        let (caller, reply) = oneshot::channel();
        let token = if noreply {
            Token::Quiet
        } else {
            Token::One(caller)
        };
        let started = node.start(Ask::One(request, token));
        *chosen = Some(node);
        return match started {
            Ok(Started::OnConnection) if noreply => Ok(State::Done),
            Ok(Started::OnConnection) => Ok(State::Sent {
                reply,
                ticket: None,
            }),
            Ok(Started::Queued(ticket)) if noreply => Ok(State::Queued(ticket)),
            Ok(Started::Queued(ticket)) => Ok(State::Sent {
                reply,
                ticket: Some(ticket),
            }),
            // It was removed between being chosen and being asked: the key has a new owner.
            Err(error) if error.kind() == ErrorKind::UnknownNode && call.node.is_none() => continue,
            Err(error) => Err(error),
        };
    }
}

/// Hands a call of a key over to the replicas, if there are any.
fn replicate<O: sealed::Operation>(call: &Call<O>, request: &Request<'_>) -> Option<Replicated> {
    let shared = &call.shared;
    if shared.cluster.replicator.is_none() || call.node.is_some() {
        return None;
    }
    let command = Command::copy(call.operation.name(), request)?;
    let limit = Limit::new(call.patience.or(shared.options().timeout));
    let quiet = O::unanswered().is_some();
    Some(Replicator::start(shared, command, limit, quiet))
}

fn read<O: sealed::Operation>(reply: Reply) -> Result<O::Output> {
    match reply {
        Reply::Error(error) => Err(server_error(error)),
        reply => O::read(reply).map_err(|reply| unfit_reply(&reply)),
    }
}

/// A reply that the protocol allows and that says nothing the operation could give back, such as
/// `NOT_STORED` to a `set`.
pub(crate) fn unfit_reply(reply: &Reply) -> Error {
    let said = match reply {
        Reply::NotStored => "NOT_STORED".to_owned(),
        other => format!("{other:?}"),
    };
    Error::new(
        ErrorKind::Server,
        Stage::Exchange,
        format!("the server answered {said}"),
    )
}

fn server_error(error: ServerError) -> Error {
    Error::new(ErrorKind::Server, Stage::Exchange, error.to_string()).with_source(error)
}

/// Checks a key.
pub(crate) fn key(bytes: &[u8]) -> Result<Key<'_>> {
    Key::new(bytes).map_err(|error| {
        Error::new(ErrorKind::InvalidKey, Stage::Validation, error.to_string()).with_source(error)
    })
}
