//! News of the cluster: a node became healthy or unhealthy, came or went; a list was discovered.
//!
//! Events are told in the order in which they happened. Each listener (the handler given to the
//! builder, and every [`EventStream`]) has a bounded queue of its own, so that a slow one delays
//! nobody; what does not fit is counted, never waited for.

mod queue;

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll};

use futures_core::Stream;
use tracing::{error, warn};

use self::queue::Queue;
use crate::observe::targets;

/// Something that happened to the cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// The node is connected again after it was unhealthy.
    NodeHealthy {
        /// The node's name.
        node: Arc<str>,
    },
    /// Connecting failed repeatedly and no connection to the node stands.
    NodeUnhealthy {
        /// The node's name.
        node: Arc<str>,
        /// Why the last attempt failed.
        reason: Arc<str>,
    },
    /// The node was added to the cluster.
    NodeAdded {
        /// The node's name.
        node: Arc<str>,
    },
    /// The node was removed from the cluster.
    NodeRemoved {
        /// The node's name.
        node: Arc<str>,
    },
    /// A list that [discovery](crate::Discovery) found became the members of the cluster. The nodes
    /// that it removed and added were told before.
    ListTaken {
        /// How many nodes it has.
        nodes: usize,
        /// Its version, if it has one.
        version: Option<u64>,
    },
    /// [Discovery](crate::Discovery) found no list, or one that makes no sense: the members stay as
    /// they are. A reason is told once, until it is another one or a list could be found again.
    ListRefused {
        /// Why.
        reason: Arc<str>,
    },
}

impl Event {
    /// What happened, and to which node. A reason may hold what a server sent, so it is not for logs.
    fn name(&self) -> (&'static str, Option<&str>) {
        match self {
            Self::NodeHealthy { node } => ("node healthy", Some(node)),
            Self::NodeUnhealthy { node, .. } => ("node unhealthy", Some(node)),
            Self::NodeAdded { node } => ("node added", Some(node)),
            Self::NodeRemoved { node } => ("node removed", Some(node)),
            Self::ListTaken { .. } => ("list taken", None),
            Self::ListRefused { .. } => ("list refused", None),
        }
    }
}

/// Receives the cluster's health events, one at a time and in order.
///
/// Both methods do nothing unless they are given. A slow handler delays its own next event only;
/// a panic in it is logged and the next event is told all the same.
///
/// ```
/// use std::sync::Arc;
/// use steersman_memcached::ClusterEvents;
///
/// struct Log;
///
/// impl ClusterEvents for Log {
///     async fn on_node_unhealthy(&self, node: Arc<str>, reason: Arc<str>) {
///         eprintln!("{node} is down: {reason}");
///     }
/// }
/// ```
pub trait ClusterEvents: Send + Sync + 'static {
    /// The node is connected again after it was unhealthy.
    fn on_node_healthy(&self, node: Arc<str>) -> impl Future<Output = ()> + Send {
        let _ = node;
        std::future::ready(())
    }

    /// The node cannot be reached; `reason` says why the last attempt failed.
    fn on_node_unhealthy(
        &self,
        node: Arc<str>,
        reason: Arc<str>,
    ) -> impl Future<Output = ()> + Send {
        let _ = (node, reason);
        std::future::ready(())
    }
}

/// Tells one event to a handler, whatever its type.
pub(crate) type Handler =
    Arc<dyn Fn(Event) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

pub(crate) fn erase(handler: impl ClusterEvents) -> Handler {
    let handler = Arc::new(handler);
    Arc::new(move |event| {
        let handler = Arc::clone(&handler);
        Box::pin(async move {
            match event {
                Event::NodeHealthy { node } => handler.on_node_healthy(node).await,
                Event::NodeUnhealthy { node, reason } => {
                    handler.on_node_unhealthy(node, reason).await;
                }
                Event::NodeAdded { .. }
                | Event::NodeRemoved { .. }
                | Event::ListTaken { .. }
                | Event::ListRefused { .. } => {}
            }
        })
    })
}

/// The cluster's events as a stream; from [`Client::events`](crate::Client::events).
///
/// It ends when the client is closed. Up to 16,384 events wait; when there are more, the oldest are
/// dropped, and [`missed`](Self::missed) counts them.
#[derive(Debug)]
pub struct EventStream(Arc<Queue>);

impl EventStream {
    /// The next event; `None` when the client is closed and all events were taken.
    pub async fn recv(&mut self) -> Option<Event> {
        poll_fn(|cx| self.0.poll_next(cx)).await
    }

    /// How many events were dropped since the stream was made, because too many waited.
    pub fn missed(&self) -> u64 {
        self.0.missed()
    }
}

impl Stream for EventStream {
    type Item = Event;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        self.0.poll_next(cx)
    }
}

/// Hands every event to every listener.
#[derive(Debug, Default)]
pub(crate) struct EventBus {
    listeners: Mutex<Listeners>,
}

#[derive(Debug, Default)]
struct Listeners {
    /// A stream that was dropped is gone.
    queues: Vec<Weak<Queue>>,
    closed: bool,
}

impl EventBus {
    fn lock(&self) -> std::sync::MutexGuard<'_, Listeners> {
        self.listeners
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn subscribe(&self) -> EventStream {
        let queue = Arc::new(Queue::default());
        let mut listeners = self.lock();
        if listeners.closed {
            queue.close();
        } else {
            // Events may be rare and streams many: those that are gone make room for the new ones.
            let queues = &mut listeners.queues;
            if queues.len() == queues.capacity() {
                queues.retain(|queue| queue.strong_count() > 0);
            }
            queues.push(Arc::downgrade(&queue));
        }
        EventStream(queue)
    }

    pub(crate) fn publish(&self, event: &Event) {
        self.lock().queues.retain(|queue| {
            let queue = queue.upgrade();
            queue.is_some_and(|queue| {
                queue.push(event.clone());
                true
            })
        });
    }

    /// Ends every stream once its queue is empty.
    pub(crate) fn close(&self) {
        let mut listeners = self.lock();
        listeners.closed = true;
        for queue in listeners
            .queues
            .drain(..)
            .filter_map(|queue| queue.upgrade())
        {
            queue.close();
        }
    }
}

impl Drop for EventBus {
    fn drop(&mut self) {
        self.close();
    }
}

/// Feeds `handler` from `events`, each call in a task of its own so that a panic ends only it.
pub(crate) async fn dispatch(mut events: EventStream, handler: Handler) {
    let mut reported = 0;
    while let Some(event) = events.recv().await {
        if let Err(failure) = tokio::spawn(handler(event.clone())).await
            && failure.is_panic()
        {
            let (event, node) = event.name();
            error!(target: targets::EVENTS, event, node, "the cluster event handler panicked");
        }
        let missed = events.missed();
        if missed > reported {
            warn!(
                target: targets::EVENTS,
                missed,
                "the cluster event handler is too slow: events were dropped"
            );
            reported = missed;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_that_are_gone_are_forgotten() {
        let bus = EventBus::default();
        let kept: Vec<_> = (0..10).map(|_| bus.subscribe()).collect();
        for _ in 0..10_000 {
            drop(bus.subscribe());
        }
        assert!(bus.lock().queues.capacity() <= 64);
        bus.publish(&Event::ListTaken {
            nodes: 1,
            version: None,
        });
        assert_eq!(bus.lock().queues.len(), kept.len());
    }
}
