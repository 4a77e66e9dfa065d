//! The events that wait for one listener: bounded, and the latest are kept.
//!
//! Whoever lags behind wants to know how things are now. So it is the oldest events that make room,
//! unlike in a channel, which refuses the latest when it is full.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use super::Event;

/// How many events wait for one listener at most.
pub(super) const CAPACITY: usize = 16 * 1024;

/// A queue that has had room for more lets it go once it is empty.
const KEPT: usize = 256;

#[derive(Debug, Default)]
pub(super) struct Queue(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    events: VecDeque<Event>,
    missed: u64,
    /// Who waits for the next event.
    waker: Option<Waker>,
    closed: bool,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn push(&self, event: Event) {
        let mut state = self.lock();
        if state.events.len() == CAPACITY {
            state.events.pop_front();
            state.missed += 1;
        }
        state.events.push_back(event);
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// No event comes any more.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// The next event; `None` once there is none and none comes any more.
    pub(super) fn poll_next(&self, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        let mut state = self.lock();
        if let Some(event) = state.events.pop_front() {
            if state.events.is_empty() && state.events.capacity() > KEPT {
                state.events = VecDeque::new();
            }
            return Poll::Ready(Some(event));
        }
        if state.closed {
            return Poll::Ready(None);
        }
        match &mut state.waker {
            Some(waker) => waker.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
        Poll::Pending
    }

    pub(super) fn missed(&self) -> u64 {
        self.lock().missed
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn taken(nodes: usize) -> Event {
        Event::ListTaken {
            nodes,
            version: None,
        }
    }

    #[test]
    fn the_latest_are_kept() {
        let queue = Queue::default();
        let mut cx = Context::from_waker(Waker::noop());
        assert!(queue.poll_next(&mut cx).is_pending());
        for number in 0..CAPACITY + 3 {
            queue.push(taken(number));
        }
        assert_eq!(queue.missed(), 3);
        for number in 3..CAPACITY + 3 {
            assert_eq!(queue.poll_next(&mut cx), Poll::Ready(Some(taken(number))));
        }
        assert!(queue.poll_next(&mut cx).is_pending());
        queue.push(taken(7));
        queue.close();
        assert_eq!(queue.poll_next(&mut cx), Poll::Ready(Some(taken(7))));
        assert_eq!(queue.poll_next(&mut cx), Poll::Ready(None));
        assert_eq!(queue.missed(), 3);
    }

    #[tokio::test]
    async fn who_waits_is_woken() {
        let queue = Arc::new(Queue::default());
        let next = |queue: &Arc<Queue>| {
            let queue = Arc::clone(queue);
            tokio::spawn(async move { std::future::poll_fn(|cx| queue.poll_next(cx)).await })
        };
        let waiting = next(&queue);
        tokio::task::yield_now().await;
        queue.push(taken(1));
        assert_eq!(waiting.await.unwrap(), Some(taken(1)));
        let waiting = next(&queue);
        tokio::task::yield_now().await;
        queue.close();
        assert_eq!(waiting.await.unwrap(), None);
    }
}
