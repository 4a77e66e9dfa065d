//! Requests on their way to a connection: borrowed while there is a place for them, owned while
//! they wait for one.
//!
//! A request that waits is whole: when its turn comes it goes on a connection without its caller
//! being polled, so a caller that does not look holds up nobody.

use std::sync::Arc;
use std::task::{Context, Poll};

use steersman_memcached_protocol::{Key, Limits, Outbox, ReadKind, Request};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::Node;
use super::token::{Tally, Token};
use crate::error::{Error, Result};
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

    /// From `deadline` on a single request is late.
    pub(super) fn expires(&mut self, deadline: Option<Instant>) {
        if let Self::One(_, token) = self {
            token.expires(deadline);
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
                Parcel::Reads(kind, vec![own((key, token))])
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
    Reads(ReadKind, Vec<(Box<[u8]>, Token)>),
    Encoded(Box<Outbox<Token>>),
}

/// A request in the node's queue.
pub(super) struct Queued {
    parcel: Parcel,
    pub(super) quiet: bool,
    /// Whether it is an operation, and not a part of one that counts itself.
    pub(super) counts: bool,
    admitted: oneshot::Sender<Result<()>>,
}

impl Queued {
    pub(super) fn new(
        ask: Ask<'_>,
        limits: Limits,
    ) -> Result<(Self, oneshot::Receiver<Result<()>>)> {
        let (admitted, receiver) = oneshot::channel();
        let (quiet, counts) = (ask.is_quiet(), ask.counts());
        let parcel = ask.into_parcel(limits)?;
        Ok((
            Self {
                parcel,
                quiet,
                counts,
                admitted,
            },
            receiver,
        ))
    }

    /// Puts it on a connection. What is returned is to be told after the lock is released.
    pub(super) fn encode(self, outbox: &mut Outbox<Token>) -> Admitted {
        match self.parcel {
            Parcel::Reads(kind, reads) => {
                for (key, token) in reads {
                    let key = Key::new(&key).expect("it was a key when it was asked for");
                    outbox.submit_reads(kind, [(key, token)]);
                }
            }
            Parcel::Encoded(mut encoded) => outbox.absorb(&mut encoded),
        }
        Admitted(self.admitted)
    }

    /// Tells its caller.
    pub(super) fn fail(self, error: &Error, tally: &mut Tally) {
        if self.quiet {
            tally.operations.count(Ended::Failed);
        }
        // Whoever left meanwhile needs no answer.
        let _ = self.admitted.send(Err(error.clone()));
        let mut fail = |token: Token| token.fail(error.clone(), tally);
        match self.parcel {
            Parcel::Reads(_, reads) => reads.into_iter().for_each(|(_, token)| fail(token)),
            Parcel::Encoded(mut encoded) => encoded.clear(&mut fail),
        }
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
    admitted: oneshot::Receiver<Result<()>>,
}

impl Ticket {
    pub(super) fn new(node: Arc<Node>, id: u64, admitted: oneshot::Receiver<Result<()>>) -> Self {
        Self { node, id, admitted }
    }

    /// Ready when the request is on a connection, or will never be.
    pub(crate) fn poll_admitted(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let admitted = std::pin::Pin::new(&mut self.admitted);
        admitted
            .poll(cx)
            .map(|told| told.unwrap_or_else(|_| Err(Error::runtime_gone())))
    }

    /// Takes the request out of the queue, by which it has ended in that way. Says whether it was
    /// still there, so that no connection has seen it.
    pub(crate) fn withdraw(&self, ended: Ended) -> bool {
        self.node.leave_queue(self.id, ended)
    }

    /// The name of the node in whose queue it is.
    pub(crate) fn node(&self) -> &Arc<str> {
        self.node.name()
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.withdraw(Ended::Cancelled);
    }
}
