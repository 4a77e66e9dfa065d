//! A caller that waits for one reply, and the connection that is going to tell it.
//!
//! This is a one-shot channel made for its place: a call would otherwise spend more on making and
//! freeing its channel than on anything else. The slot in which both ends meet is used again for
//! later calls of the same thread.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use steersman_memcached_protocol::Reply;

use crate::error::Error;

/// How many unused slots a thread keeps: 1,024, which are about 150 KiB.
const KEPT: usize = 1024;

thread_local! {
    static UNUSED: RefCell<Vec<Arc<Slot>>> = const { RefCell::new(Vec::new()) };
}

/// What a caller is told.
#[derive(Debug)]
pub(crate) enum Told {
    Reply(Reply),
    Failed(Error),
    /// Its time was up. When the reply comes it is discarded.
    TimedOut,
    /// Whoever was to answer is gone, with its runtime.
    Forgotten,
}

#[derive(Debug)]
enum Meeting {
    Waiting(Option<Waker>),
    Told(Told),
    /// The caller has left, or has been told.
    Over,
}

#[derive(Debug)]
struct Slot(Mutex<Meeting>);

impl Slot {
    fn lock(&self) -> MutexGuard<'_, Meeting> {
        // Nothing in here panics while it holds the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The end of whoever waits.
#[derive(Debug)]
pub(crate) struct Waiter {
    /// Always there until it is dropped.
    slot: Option<Arc<Slot>>,
}

/// The end of whoever tells. Dropped without a word, it tells that.
#[derive(Debug)]
pub(super) struct Teller {
    /// Until it has told.
    slot: Option<Arc<Slot>>,
}

/// The two ends.
pub(super) fn meet() -> (Teller, Waiter) {
    let unused = UNUSED.try_with(|unused| unused.borrow_mut().pop());
    let slot = match unused {
        Ok(Some(slot)) => slot,
        _ => Arc::new(Slot(Mutex::new(Meeting::Waiting(None)))),
    };
    let teller = Teller {
        slot: Some(Arc::clone(&slot)),
    };
    (teller, Waiter { slot: Some(slot) })
}

impl Waiter {
    /// Ready once it has been told, and then never again.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Told> {
        let Some(slot) = &self.slot else {
            return Poll::Pending;
        };
        let mut meeting = slot.lock();
        match &mut *meeting {
            Meeting::Waiting(Some(waker)) => waker.clone_from(cx.waker()),
            Meeting::Waiting(none) => *none = Some(cx.waker().clone()),
            Meeting::Told(_) => {
                if let Meeting::Told(told) = std::mem::replace(&mut *meeting, Meeting::Over) {
                    return Poll::Ready(told);
                }
            }
            Meeting::Over => {}
        }
        Poll::Pending
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let Some(mut slot) = self.slot.take() else {
            return;
        };
        let Some(alone) = Arc::get_mut(&mut slot) else {
            // What it was told meanwhile, and its waker, are dropped without the lock.
            let _left = std::mem::replace(&mut *slot.lock(), Meeting::Over);
            return;
        };
        // Only this end is left, so that nobody can tell another caller by mistake. What it was told
        // and did not look at is as large as a value, and goes with this end.
        let meeting = alone.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        let _unseen = std::mem::replace(meeting, Meeting::Waiting(None));
        // A thread that ends keeps nothing.
        let _ = UNUSED.try_with(|unused| {
            let mut unused = unused.borrow_mut();
            if unused.len() < KEPT {
                unused.push(slot);
            }
        });
    }
}

impl Teller {
    /// Tells the caller, once; one that has left is not missed.
    pub(super) fn tell(&mut self, told: Told) {
        let Some(slot) = self.slot.take() else {
            return;
        };
        let mut meeting = slot.lock();
        if let Meeting::Waiting(waker) = &mut *meeting {
            let waker = waker.take();
            *meeting = Meeting::Told(told);
            drop(meeting);
            // Before the caller runs, so that it finds itself alone.
            drop(slot);
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }

    /// Whether nobody waits any more, or it has told already.
    pub(super) fn is_over(&self) -> bool {
        let waits = |slot: &Arc<Slot>| matches!(&*slot.lock(), Meeting::Waiting(_));
        !self.slot.as_ref().is_some_and(waits)
    }
}

impl Drop for Teller {
    fn drop(&mut self) {
        self.tell(Told::Forgotten);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn poll(waiter: &mut Waiter, waker: &Waker) -> Poll<Told> {
        waiter.poll(&mut Context::from_waker(waker))
    }

    #[test]
    fn a_caller_is_woken_and_told_once() {
        let (first, second) = (Arc::new(Count::default()), Arc::new(Count::default()));
        let (mut teller, mut waiter) = meet();
        let earlier = Waker::from(Arc::clone(&first));
        assert!(poll(&mut waiter, &earlier).is_pending());
        let waker = Waker::from(Arc::clone(&second));
        assert!(poll(&mut waiter, &waker).is_pending());
        assert!(!teller.is_over());
        teller.tell(Told::Reply(Reply::Stored));
        teller.tell(Told::TimedOut);
        assert!(teller.is_over());
        drop(teller);
        // The latest waker counts.
        let woken = [&first, &second].map(|count| count.0.load(Ordering::Relaxed));
        assert_eq!(woken, [0, 1]);
        let told = poll(&mut waiter, &waker);
        assert!(matches!(told, Poll::Ready(Told::Reply(Reply::Stored))));
        assert!(poll(&mut waiter, &waker).is_pending());
    }

    #[test]
    fn who_drops_its_end_is_noticed_at_the_other() {
        let (teller, mut waiter) = meet();
        drop(teller);
        let told = poll(&mut waiter, Waker::noop());
        assert!(matches!(told, Poll::Ready(Told::Forgotten)));

        let (mut teller, waiter) = meet();
        drop(waiter);
        assert!(teller.is_over());
        teller.tell(Told::TimedOut);
    }

    #[test]
    fn a_slot_is_used_again_only_when_both_ends_are_gone() {
        let address = |waiter: &Waiter| waiter.slot.as_ref().map(Arc::as_ptr);
        let (mut late, waiter) = meet();
        let taken = address(&waiter);
        drop(waiter);
        let (mut teller, mut waiter) = meet();
        assert_ne!(address(&waiter), taken, "its teller may still speak");
        late.tell(Told::Reply(Reply::Stored));
        assert!(poll(&mut waiter, Waker::noop()).is_pending());

        let free = address(&waiter);
        teller.tell(Told::Reply(Reply::Stored));
        drop(waiter);
        let (_teller, mut waiter) = meet();
        assert_eq!(address(&waiter), free);
        assert!(poll(&mut waiter, Waker::noop()).is_pending(), "it is clean");
    }

    #[test]
    fn what_nobody_looked_at_goes_with_its_caller() {
        let data = bytes::Bytes::from(vec![0; 100]);
        let (mut teller, waiter) = meet();
        let value = steersman_memcached_protocol::Value {
            data: data.clone(),
            flags: 0,
            cas: None,
        };
        teller.tell(Told::Reply(Reply::Value(value)));
        assert!(!data.is_unique());
        drop(waiter);
        assert!(data.is_unique());
    }

    #[test]
    fn threads_that_race_lose_nothing() {
        std::thread::scope(|scope| {
            let (sender, receiver) = std::sync::mpsc::channel::<(Teller, usize)>();
            scope.spawn(move || {
                for (mut teller, number) in receiver {
                    teller.tell(Told::Reply(Reply::Number(number as u64)));
                }
            });
            for number in 0..10_000 {
                let (teller, mut waiter) = meet();
                sender.send((teller, number)).unwrap();
                let told = loop {
                    let waker = Waker::from(Arc::new(Unpark::here()));
                    match poll(&mut waiter, &waker) {
                        Poll::Ready(told) => break told,
                        Poll::Pending => std::thread::park(),
                    }
                };
                assert!(matches!(told, Told::Reply(Reply::Number(told)) if told == number as u64));
            }
        });
    }

    struct Unpark(std::thread::Thread);

    impl Unpark {
        fn here() -> Self {
            Self(std::thread::current())
        }
    }

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
}
