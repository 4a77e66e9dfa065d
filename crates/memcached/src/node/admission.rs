//! How a request gets a place on a connection, and how places come back.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::sync::oneshot;
use tokio::time::Instant;

use super::Node;
use super::state::Admitted;
use crate::error::{Error, Result};

/// A place on a connection, granted to one request. Dropped unused, it goes to the next in line.
#[derive(Debug)]
pub(crate) struct Place {
    node: Option<Arc<Node>>,
    pub(super) lane: u64,
    /// Whether it is for a noreply write.
    quiet: bool,
}

impl Place {
    pub(super) fn new(node: Arc<Node>, lane: u64, quiet: bool) -> Self {
        Self {
            node: Some(node),
            lane,
            quiet,
        }
    }

    /// The place is accounted for elsewhere now: by the request put on it, or, its connection
    /// being gone, by nobody.
    pub(super) fn forget(mut self) {
        self.node = None;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(node) = self.node.take() {
            node.release(self.lane, 1, usize::from(self.quiet), Instant::now());
        }
    }
}

/// A request in the node's queue. Dropping it leaves the queue.
#[derive(Debug)]
pub(crate) struct Waiting {
    // Dropped before the receiver, so that no place is granted to a caller that has left.
    ticket: Ticket,
    receiver: oneshot::Receiver<Admitted>,
}

#[derive(Debug)]
struct Ticket {
    node: Arc<Node>,
    id: u64,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.node.leave_queue(self.id);
    }
}

impl Waiting {
    pub(super) fn new(node: Arc<Node>, (id, receiver): (u64, oneshot::Receiver<Admitted>)) -> Self {
        Self {
            ticket: Ticket { node, id },
            receiver,
        }
    }
}

impl Future for Waiting {
    type Output = Result<Place>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.receiver)
            .poll(cx)
            .map(|granted| match granted {
                Ok(outcome) => outcome,
                Err(_) => Err(Error::runtime_gone().at_node(self.ticket.node.name())),
            })
    }
}
