//! The future of a call: from routing to reply.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use steersman_memcached_protocol::{Reply, Request};
use tokio::task::coop::poll_proceed;

use super::{Call, sealed, server_error, unfit_reply};
use crate::deadline::{Deadline, Expired};
use crate::error::{Error, ErrorKind, Result, Stage};
use crate::node::{Ask, Node, Started, Ticket, Token, Told, Waiter};
use crate::replication::{Command, Limit, Replicated, Replicator};

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
    pub(super) fn new(call: Call<O>) -> Self {
        Self {
            deadline: Deadline::new(call.limit()),
            node: None,
            state: State::Fresh,
            call,
        }
    }

    /// Takes the request out of its queue if it is still there; says how far it has come.
    pub(crate) fn withdraw(&self) -> Stage {
        self.state.withdraw()
    }
}

enum State {
    Fresh,
    /// Waits for the reply. With a ticket the request may still be in the queue, and the call keeps
    /// its time itself; without, the connection does.
    Sent {
        reply: Waiter,
        ticket: Option<Ticket>,
    },
    /// A noreply request waits for its place on a connection, and for nothing else.
    Queued(Ticket),
    /// On its way to several nodes; it keeps the time itself.
    Replicated(Replicated),
    Done,
}

impl State {
    /// Whether somebody else keeps the time.
    fn is_timed(&self) -> bool {
        matches!(self, Self::Replicated(_) | Self::Sent { ticket: None, .. })
    }

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
            Poll::Pending if this.state.is_timed() => return Poll::Pending,
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
                return reply.poll(cx).map(|told| match told {
                    Told::Reply(reply) => read::<O>(reply),
                    Told::Failed(error) => Err(error),
                    Told::TimedOut => Err(Expired::TimeOut(call.limit().unwrap_or_default())
                        .error(Stage::Exchange)
                        .executed(true)),
                    // The connection's driver was dropped with its runtime.
                    Told::Forgotten => Err(Error::runtime_gone().executed(true)),
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
        let (token, reply) = if noreply {
            (Token::Quiet, None)
        } else {
            let (token, reply) = Token::one();
            (token, Some(reply))
        };
        let started = node.start(Ask::One(request, token), call.limit());
        *chosen = Some(node);
        return match started {
            Ok(started) => Ok(match (started, reply) {
                (Started::OnConnection, None) => State::Done,
                (Started::OnConnection, Some(reply)) => State::Sent {
                    reply,
                    ticket: None,
                },
                (Started::Queued(ticket), None) => State::Queued(ticket),
                (Started::Queued(ticket), Some(reply)) => State::Sent {
                    reply,
                    ticket: Some(ticket),
                },
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
    let limit = Limit::new(call.limit());
    let quiet = O::unanswered().is_some();
    Some(Replicator::start(shared, command, limit, quiet))
}

fn read<O: sealed::Operation>(reply: Reply) -> Result<O::Output> {
    match reply {
        Reply::Error(error) => Err(server_error(error)),
        reply => O::read(reply).map_err(|reply| unfit_reply(&reply)),
    }
}
