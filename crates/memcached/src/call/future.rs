//! The future of a call: from routing to reply.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use steersman_memcached_protocol::{Reply, Request};
use tokio::task::coop::poll_proceed;

use super::{Call, sealed, unfit_reply};
use crate::deadline::{Deadline, Expired, Patience};
use crate::error::{Error, ErrorKind, Result, Stage};
use crate::metrics::Ended;
use crate::node::{Ask, Node, Started, Ticket, Token, Told, Waiter};
use crate::observe::CallWatch;
use crate::replication::{Command, Limit, Replicated, Replicator};

/// The future of a [`Call`].
#[must_use = "futures do nothing until they are awaited"]
pub struct CallFuture<O: sealed::Operation> {
    call: Call<O>,
    state: State,
    watch: CallWatch,
}

// The operation is not pinned: nothing points into it.
impl<O: sealed::Operation> Unpin for CallFuture<O> {}

enum State {
    Fresh,
    /// Waits for the reply on a connection, which keeps the time.
    Sent(Waiter),
    /// Was put in the node's queue and may still be there; the node keeps the time.
    Queued(Waiter, Ticket),
    /// A noreply write in the queue: waits for its place, and keeps its time itself.
    Quiet(Box<Quiet>),
    /// There is no node yet: waits for the first list of them, and keeps its time itself.
    Unlisted(FirstList),
    /// On its way to several nodes; that keeps the time.
    Replicated(Replicated),
    Done,
}

impl State {
    /// What is left of a time-out that was `limit`; none if that is all.
    fn left(&self, limit: Option<Duration>) -> Option<Duration> {
        match self {
            Self::Queued(_, ticket) => ticket.left(),
            Self::Quiet(quiet) => quiet.ticket.left(),
            _ => limit,
        }
    }
}

/// The first list of nodes, with what it leaves of the time-out.
type FirstList = Pin<Box<dyn Future<Output = Result<Option<Duration>>> + Send>>;

/// A noreply write that found no place on a connection.
struct Quiet {
    ticket: Ticket,
    deadline: Pin<Box<Deadline>>,
}

impl<O: sealed::Operation> CallFuture<O> {
    pub(super) fn new(call: Call<O>) -> Self {
        Self {
            state: State::Fresh,
            watch: CallWatch::default(),
            call,
        }
    }

    /// Takes the request out of its queue if it is still there, by which it has ended in that way; says how
    /// far it has come.
    pub(crate) fn withdraw(&self, ended: Ended) -> Stage {
        match &self.state {
            State::Fresh | State::Unlisted(_) | State::Done => Stage::Routing,
            State::Sent(_) | State::Replicated(_) => Stage::Exchange,
            State::Queued(_, ticket) => withdraw(ticket, ended),
            State::Quiet(quiet) => withdraw(&quiet.ticket, ended),
        }
    }

    /// Comes to an answer, of which whoever looks at it has yet to say by [`end`](Self::end) whether it
    /// is one.
    #[inline]
    pub(crate) fn poll_answer(&mut self, cx: &mut Context<'_>) -> Poll<Result<O::Output>> {
        let Self { call, state, watch } = self;
        loop {
            let outcome = ready!(match state {
                State::Sent(reply) => reply.poll(cx).map(|told| call.read(told, watch)),
                State::Fresh => call.begin(state, watch, cx),
                State::Queued(reply, _) => reply.poll(cx).map(|told| call.read(told, watch)),
                State::Quiet(quiet) => call.poll_quiet(quiet, cx),
                State::Replicated(replicated) => poll_replicated::<O>(replicated, watch, cx),
                State::Unlisted(list) => match ready!(list.as_mut().poll(cx)) {
                    Ok(left) => {
                        call.patience = Patience::Own(left);
                        call.begin(state, watch, cx)
                    }
                    Err(error) => Poll::Ready(Err(error)),
                },
                State::Done => Poll::Pending,
            });
            let next = match &outcome {
                // The key has another owner now.
                Err(error) if error.node_left() && call.node.is_none() => {
                    call.patience = Patience::Own(state.left(call.limit()));
                    State::Fresh
                }
                Err(error)
                    if error.kind() == ErrorKind::Unsupported && call.operation.fall_back() =>
                {
                    State::Fresh
                }
                _ => State::Done,
            };
            if let State::Queued(_, ticket) = std::mem::replace(state, next) {
                ticket.answered();
            }
            if let State::Done = state {
                return Poll::Ready(outcome.map_err(|error| call.explain(error)));
            }
        }
    }

    /// The call has ended, with that error if it failed.
    #[inline]
    pub(crate) fn end(&mut self, error: Option<&Error>) {
        self.watch.end(error);
    }

    /// Says of an error that was found in the answer what was asked, and of which node.
    #[cold]
    pub(crate) fn explain_answer(&self, error: Error) -> Error {
        let Call {
            shared, operation, ..
        } = &self.call;
        let error = error.asked(operation.name());
        // Any replica may have answered.
        if shared.cluster.replicator.is_some() {
            return error;
        }
        match shared.owner(operation.key().unwrap_or_default()) {
            Ok(node) => error.at_node(node.name()),
            Err(_) => error,
        }
    }
}

impl<O: sealed::Operation> Future for CallFuture<O> {
    type Output = Result<O::Output>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = ready!(self.poll_answer(cx));
        self.end(answer.as_ref().err());
        Poll::Ready(answer)
    }
}

impl<O: sealed::Operation> Call<O> {
    /// Sends the request, and looks after it as far as that has to be done at once.
    #[inline]
    fn begin(
        &self,
        state: &mut State,
        watch: &mut CallWatch,
        cx: &mut Context<'_>,
    ) -> Poll<Result<O::Output>> {
        // A loop of calls that are done at once (refused, or noreply) must not keep the client's own
        // tasks from running: those count against the task's budget.
        let budget = ready!(poll_proceed(cx));
        watch.begin(&self.shared.options().observer, &self.operation);
        match self.start(watch, cx) {
            Ok(State::Done) => {
                budget.made_progress();
                Poll::Ready(O::unanswered().ok_or_else(Error::closed))
            }
            Ok(started) => {
                *state = started;
                match state {
                    State::Quiet(quiet) => self.poll_quiet(quiet, cx),
                    State::Replicated(replicated) => poll_replicated::<O>(replicated, watch, cx),
                    _ => Poll::Pending,
                }
            }
            Err(error) if error.awaits_list() => {
                let (shared, limit) = (Arc::clone(&self.shared), self.limit());
                *state = State::Unlisted(Box::pin(async move { shared.first_list(limit).await }));
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            Err(error) => {
                budget.made_progress();
                Poll::Ready(Err(error))
            }
        }
    }

    /// Sends the request; [`State::Done`] if there is nothing to wait for.
    #[inline]
    fn start(&self, watch: &mut CallWatch, cx: &Context<'_>) -> Result<State> {
        let shared = &self.shared;
        let sent;
        let mut key = self.operation.key().unwrap_or_default();
        // What goes to a given node is of no key, or was made from a request that has the key as sent.
        if self.node.is_none()
            && let Some(rules) = &shared.options().keys
        {
            sent = rules.sent(key)?;
            key = &sent;
        }
        let request = self.operation.request(key)?;
        request
            .check(&shared.options().limits)
            .map_err(Error::cannot_send)?;
        shared.ensure_started()?;
        if let Some(replicated) = replicate(self, &request) {
            return replicated.map(State::Replicated);
        }
        let mut start = |node: &Arc<Node>| {
            watch.at(node);
            self.start_at(node, &request, cx)
        };
        match &self.node {
            Some(node) => start(node),
            None => shared.cluster.at_owner(key, start),
        }
    }

    #[inline]
    fn start_at(&self, node: &Arc<Node>, request: &Request<'_>, cx: &Context<'_>) -> Result<State> {
        let limit = self.limit();
        let (token, reply) = if O::unanswered().is_some() {
            (Token::Quiet, None)
        } else {
            let (token, reply) = Token::one(cx.waker().clone());
            (token, Some(reply))
        };
        Ok(
            match (node.start(Ask::One(request, token), limit)?, reply) {
                (Started::OnConnection, Some(reply)) => State::Sent(reply),
                (Started::OnConnection, None) => State::Done,
                (Started::Queued(ticket), Some(reply)) => State::Queued(reply, ticket),
                (Started::Queued(ticket), None) => State::Quiet(Box::new(Quiet {
                    ticket,
                    deadline: Box::pin(Deadline::new(limit)),
                })),
            },
        )
    }

    fn poll_quiet(&self, quiet: &mut Quiet, cx: &mut Context<'_>) -> Poll<Result<O::Output>> {
        if let Poll::Ready(admitted) = quiet.ticket.poll_admitted(cx) {
            let done = admitted.and_then(|()| O::unanswered().ok_or_else(Error::closed));
            return Poll::Ready(done);
        }
        let Some(runtime) = self.shared.cluster.runtime() else {
            return Poll::Pending;
        };
        let expired = ready!(quiet.deadline.as_mut().poll_expired(cx, runtime));
        let stage = withdraw(&quiet.ticket, Ended::Failed);
        let error = expired.error(stage).executed(stage == Stage::Exchange);
        Poll::Ready(Err(error.at_node(quiet.ticket.node())))
    }

    /// What comes of what the caller was told.
    #[inline]
    fn read(&self, told: Told, watch: &mut CallWatch) -> Result<O::Output> {
        match told {
            Told::Reply(reply) => {
                watch.replied(&reply);
                match O::read(reply) {
                    Ok(answer) => Ok(self.operation.in_own_words(answer)),
                    Err(reply) => Err(self.unfit(&reply)),
                }
            }
            Told::Failed(error) => Err(error),
            Told::TimedOut(node, stage) => {
                let expired = Expired::TimeOut(self.limit().unwrap_or_default());
                let error = expired.error(stage).executed(stage == Stage::Exchange);
                Err(error.at_node(&node))
            }
            // The connection's driver was dropped with its runtime.
            Told::Forgotten => Err(Error::runtime_gone().executed(true)),
        }
    }

    /// What a reply comes to that says nothing the operation could give back.
    #[cold]
    fn unfit(&self, reply: &Reply) -> Error {
        let error = unfit_reply(reply);
        let key = self.operation.key().unwrap_or_default();
        match &self.node {
            Some(node) => unfit_at(node, error),
            // The key's owner, unless it has another one since the call began.
            None => match self.shared.owner(key) {
                Ok(node) => unfit_at(&node, error),
                Err(_) => error,
            },
        }
    }

    #[cold]
    fn explain(&self, error: Error) -> Error {
        let error = match self.node {
            Some(_) => error,
            None => self.shared.cluster.explain()(error),
        };
        error.asked(self.operation.name())
    }
}

/// Takes a request out of the queue, by which it has ended in that way; says how far it has come.
fn withdraw(ticket: &Ticket, ended: Ended) -> Stage {
    if ticket.withdraw(ended) {
        Stage::Waiting
    } else {
        Stage::Exchange
    }
}

fn unfit_at(node: &Node, error: Error) -> Error {
    node.recount();
    error.at_node(node.name())
}

fn poll_replicated<O: sealed::Operation>(
    replicated: &mut Replicated,
    watch: &mut CallWatch,
    cx: &mut Context<'_>,
) -> Poll<Result<O::Output>> {
    let answer = ready!(watch.within(|| replicated.as_mut().poll(cx)))?;
    watch.replied(&answer.reply);
    let read = O::read_replicated(answer.reply, answer.replicas);
    Poll::Ready(read.map_err(|reply| unfit_reply(&reply)))
}

/// Hands a call of a key over to the replicas, if there are any.
fn replicate<O: sealed::Operation>(
    call: &Call<O>,
    request: &Request<'_>,
) -> Option<Result<Replicated>> {
    let shared = &call.shared;
    if shared.cluster.replicator.is_none() || call.node.is_some() {
        return None;
    }
    let command = Command::copy(call.operation.name(), request)?;
    let limit = Limit::new(call.limit());
    let quiet = O::unanswered().is_some();
    Some(Replicator::start(shared, command, limit, quiet))
}
