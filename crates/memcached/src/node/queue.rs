//! Requests on their way to a connection: borrowed while there is a place for them, owned while
//! they wait for one.
//!
//! A request that waits is whole: when its turn comes it goes on a connection without its caller
//! being polled, so a caller that does not look holds up nobody. A caller that waits for a reply
//! learns of its place by that reply; only who waits for the place itself is told of it.

use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use steersman_memcached_protocol::meta::Requirement;
use steersman_memcached_protocol::{Key, Limits, Outbox, ReadKind, Request};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::Node;
use super::token::{Tally, Token};
use crate::error::{Error, Result, Stage};
use crate::metrics::Ended;

/// A request with its waiter, or the reads of one line with theirs.
pub(crate) enum Ask<'a> {
    One(&'a Request<'a>, Token),
    Reads(ReadKind, Vec<(Key<'a>, Token)>),
}

impl Ask<'_> {
    /// Whether it is a noreply write.
    pub(super) fn is_quiet(&self) -> bool {
        matches!(self, Self::One(_, Token::Quiet))
    }

    /// Whether it is an operation, and not a part of one that counts itself.
    pub(super) fn counts(&self) -> bool {
        matches!(self, Self::One(..))
    }

    /// What the server has to be for it, if not every server will do.
    #[inline]
    pub(super) fn requirement(&self) -> Option<Requirement> {
        match self {
            Self::One(Request::Meta(command), _) => Some(command.requirement()),
            _ => None,
        }
    }

    /// Whether whoever asks waits for its place on a connection, and not just for the reply.
    fn waits_for_place(&self) -> bool {
        !matches!(self, Self::One(_, Token::One(_)))
    }

    /// From `deadline` on a single request is late.
    pub(super) fn expires(&mut self, deadline: Option<Instant>) {
        if let Self::One(_, token) = self {
            token.expires(deadline);
        }
    }

    fn deadline(&self) -> Option<Instant> {
        match self {
            Self::One(_, token) => token.deadline(),
            Self::Reads(..) => None,
        }
    }

    pub(super) fn encode(self, outbox: &mut Outbox<Token>) -> Result<()> {
        match self {
            Self::One(request, token) => outbox.submit(request, token).map_err(Error::cannot_send),
            Self::Reads(kind, reads) => {
                outbox.submit_reads(kind, reads);
                Ok(())
            }
        }
    }

    fn into_parcel(self, limits: Limits) -> Result<Parcel> {
        let own = |(key, token): (Key<'_>, Token)| (key.as_bytes().into(), token);
        Ok(match self {
            Self::One(&Request::Get { key, cas }, token) => {
                let kind = if cas { ReadKind::Gets } else { ReadKind::Get };
                let (key, token) = own((key, token));
                Parcel::Read(kind, key, token)
            }
            Self::Reads(kind, reads) => Parcel::Reads(kind, reads.into_iter().map(own).collect()),
            Self::One(request, token) => {
                let mut outbox = Outbox::new(limits);
                outbox.submit(request, token).map_err(Error::cannot_send)?;
                Parcel::Encoded(Box::new(outbox))
            }
        })
    }
}

/// What a waiting request consists of.
enum Parcel {
    /// Reads stay readable, so that they can share lines when their turn comes.
    Read(ReadKind, Box<[u8]>, Token),
    Reads(ReadKind, Vec<(Box<[u8]>, Token)>),
    Encoded(Box<Outbox<Token>>),
}

impl Parcel {
    /// Hands out the tokens of what is not going to be sent.
    fn give_up(self, sink: &mut impl FnMut(Token)) {
        match self {
            Self::Read(_, _, token) => sink(token),
            Self::Reads(_, reads) => reads.into_iter().for_each(|(_, token)| sink(token)),
            Self::Encoded(mut encoded) => encoded.clear(sink),
        }
    }
}

/// A request in the node's queue.
pub(super) struct Queued {
    parcel: Parcel,
    pub(super) quiet: bool,
    /// Whether it is an operation, and not a part of one that counts itself.
    pub(super) counts: bool,
    pub(super) requirement: Option<Requirement>,
    /// From then on it is late; none if its caller keeps the time, or has all of it.
    pub(super) deadline: Option<Instant>,
    /// Whoever waits for the place.
    admitted: Option<oneshot::Sender<Result<()>>>,
}

impl Queued {
    /// The request, and where its place is told of if that is waited for.
    pub(super) fn new(
        ask: Ask<'_>,
        limits: Limits,
    ) -> Result<(Self, Option<oneshot::Receiver<Result<()>>>)> {
        let (admitted, receiver) = ask.waits_for_place().then(oneshot::channel).unzip();
        let (quiet, counts, deadline) = (ask.is_quiet(), ask.counts(), ask.deadline());
        let requirement = ask.requirement();
        let parcel = ask.into_parcel(limits)?;
        Ok((
            Self {
                parcel,
                quiet,
                counts,
                requirement,
                deadline,
                admitted,
            },
            receiver,
        ))
    }

    /// Puts it on a connection. What is returned is to be told after the lock is released.
    pub(super) fn encode(self, outbox: &mut Outbox<Token>) -> Option<Admitted> {
        let mut submit = |kind, key: &[u8], token| {
            let key = Key::new(key).expect("it was a key when it was asked for");
            outbox.submit_reads(kind, [(key, token)]);
        };
        match self.parcel {
            Parcel::Read(kind, key, token) => submit(kind, &key, token),
            Parcel::Reads(kind, reads) => {
                for (key, token) in reads {
                    submit(kind, &key, token);
                }
            }
            Parcel::Encoded(mut encoded) => outbox.absorb(&mut encoded),
        }
        self.admitted.map(Admitted)
    }

    /// Tells its caller that its time is up at the node of that name.
    pub(super) fn time_out(self, node: &Arc<str>, tally: &mut Tally) {
        self.parcel
            .give_up(&mut |mut token| token.time_out(node, Stage::Waiting, tally));
    }

    /// Tells its caller.
    pub(super) fn fail(self, error: &Error, tally: &mut Tally) {
        if self.quiet {
            tally.operations.count(Ended::Failed);
        }
        if let Some(admitted) = self.admitted {
            // Whoever left meanwhile needs no answer.
            let _ = admitted.send(Err(error.clone()));
        }
        self.parcel
            .give_up(&mut |token| token.fail(error.clone(), tally));
    }
}

/// Tells a caller that its request has left the queue for a connection.
pub(super) struct Admitted(oneshot::Sender<Result<()>>);

impl Admitted {
    pub(super) fn tell(self) {
        let _ = self.0.send(Ok(()));
    }
}

/// A caller's hold on its request in the queue. Dropping it takes the request out again.
pub(crate) struct Ticket {
    node: Arc<Node>,
    id: u64,
    /// None if a reply is what it waits for.
    admitted: Option<oneshot::Receiver<Result<()>>>,
    /// When its time is up; none if its caller keeps the time, or has all of it.
    deadline: Option<Instant>,
    /// It is known to have left the queue.
    spent: bool,
}

impl Ticket {
    pub(super) fn new(
        node: Arc<Node>,
        id: u64,
        admitted: Option<oneshot::Receiver<Result<()>>>,
        deadline: Option<Instant>,
    ) -> Self {
        Self {
            node,
            id,
            admitted,
            deadline,
            spent: false,
        }
    }

    /// Ready when the request is on a connection, or will never be; of one that waits for its reply,
    /// that tells.
    pub(crate) fn poll_admitted(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let Some(admitted) = &mut self.admitted else {
            return Poll::Pending;
        };
        let told = ready!(std::pin::Pin::new(admitted).poll(cx));
        self.spent = true;
        Poll::Ready(told.unwrap_or_else(|_| Err(Error::runtime_gone())))
    }

    /// The request has been answered, so it waits no longer.
    pub(crate) fn answered(mut self) {
        self.spent = true;
    }

    /// Takes the request out of the queue, by which it has ended in that way. Says whether it was
    /// still there, so that no connection has seen it.
    pub(crate) fn withdraw(&self, ended: Ended) -> bool {
        self.node.leave_queue(self.id, ended)
    }

    /// What is left of its time; none if that is all.
    pub(crate) fn left(&self) -> Option<Duration> {
        let deadline = self.deadline?;
        Some(deadline.saturating_duration_since(Instant::now()))
    }

    /// The name of the node in whose queue it is.
    pub(crate) fn node(&self) -> &Arc<str> {
        self.node.name()
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if !self.spent {
            self.withdraw(Ended::Cancelled);
        }
    }
}
