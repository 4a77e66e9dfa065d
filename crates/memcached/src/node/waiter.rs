//! A caller that waits for one reply, and the connection that is going to tell it.
//!
//! This is a one-shot channel made for its place: a call would otherwise spend more on making and
//! freeing its channel than on anything else. The slot in which both ends meet is used again for
//! later calls of the same thread, and whom to wake goes along with the request, so that the slot is
//! locked twice in a call: to put in what the caller is told, and to take it out.

use std::cell::RefCell;
use std::sync::PoisonError;
use std::task::{Context, Poll, Waker};

use steersman_memcached_protocol::Reply;

use crate::error::{Error, Stage};
use crate::metrics::Ended;
use crate::sync::{Arc, Mutex, MutexGuard};

/// How many unused slots a thread keeps: 1,024, which are about 150 KiB.
const KEPT: usize = 1024;

#[cfg(not(loom))]
thread_local! {
    static UNUSED: RefCell<Vec<Arc<Slot>>> = const { RefCell::new(Vec::new()) };
}

#[cfg(loom)]
loom::thread_local! {
    static UNUSED: RefCell<Vec<Arc<Slot>>> = RefCell::new(Vec::new());
}

/// What a caller is told.
#[derive(Debug)]
pub(crate) enum Told {
    Reply(Reply),
    Failed(Error),
    /// Its time was up, at the node of that name, when it had come so far. If a reply comes it is
    /// discarded.
    TimedOut(std::sync::Arc<str>, Stage),
    /// Whoever was to answer is gone, with its runtime.
    Forgotten,
}

#[derive(Debug)]
enum Meeting {
    /// With another waker if the caller has a new one since the beginning.
    Waiting(Option<Waker>),
    Told(Told),
    /// The caller has left, and its operation has ended like that.
    Left(Ended),
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
    /// Until it has been told.
    slot: Option<Arc<Slot>>,
}

/// The end of whoever tells. Dropped without a word, it tells that.
#[derive(Debug)]
pub(super) struct Teller {
    /// Where to tell it and whom to wake, until it has told.
    end: Option<(Arc<Slot>, Waker)>,
}

/// The two ends. The caller is woken by `waker`, unless it has looked again with another one.
pub(super) fn meet(waker: Waker) -> (Teller, Waiter) {
    let unused = UNUSED.try_with(|unused| unused.borrow_mut().pop());
    let slot = match unused {
        Ok(Some(slot)) => slot,
        _ => Arc::new(Slot(Mutex::new(Meeting::Waiting(None)))),
    };
    let teller = Teller {
        end: Some((Arc::clone(&slot), waker)),
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
            Meeting::Waiting(Some(waker)) if waker.will_wake(cx.waker()) => {}
            Meeting::Waiting(waker) => {
                let _earlier = waker.replace(cx.waker().clone());
                // What a waker drops with it may be whoever waits here: not under the lock.
                drop(meeting);
            }
            Meeting::Told(_) => {
                if let Meeting::Told(told) =
                    std::mem::replace(&mut *meeting, Meeting::Waiting(None))
                {
                    drop(meeting);
                    if let Some(slot) = self.slot.take() {
                        put_by(slot);
                    }
                    return Poll::Ready(told);
                }
            }
            Meeting::Left(_) => {}
        }
        Poll::Pending
    }

    /// Leaves, by which the operation has ended like that, unless it has been told meanwhile.
    pub(crate) fn leave(&mut self, ended: Ended) -> Option<Told> {
        let slot = self.slot.take()?;
        let before = std::mem::replace(&mut *slot.lock(), Meeting::Left(ended));
        // What it was told, or its waker, is used or dropped without the lock.
        match before {
            Meeting::Told(told) => Some(told),
            Meeting::Waiting(_) | Meeting::Left(_) => None,
        }
    }
}

/// Keeps a slot for a later call, if the other end is gone: nobody can tell another caller by mistake.
fn put_by(slot: Arc<Slot>) {
    if Arc::strong_count(&slot) > 1 {
        return;
    }
    // A thread that ends keeps nothing.
    let _ = UNUSED.try_with(|unused| {
        let mut unused = unused.borrow_mut();
        if unused.len() < KEPT {
            unused.push(slot);
        }
    });
}

impl Drop for Waiter {
    fn drop(&mut self) {
        self.leave(Ended::Cancelled);
    }
}

/// Whether a caller that was told something was there to hear it.
#[derive(Debug)]
pub(super) enum Heard {
    /// It is to be woken by this.
    Yes(Waker),
    /// It had left, by which its operation had ended like that.
    No(Ended),
}

impl Teller {
    /// Tells the caller, once, and leaves it to others to wake it. Says whether it was heard; `None`
    /// if it had told already.
    pub(super) fn tell(&mut self, told: Told) -> Option<Heard> {
        let (slot, waker) = self.end.take()?;
        let mut meeting = slot.lock();
        let newer = match &mut *meeting {
            Meeting::Waiting(newer) => newer.take(),
            Meeting::Left(ended) => return Some(Heard::No(*ended)),
            Meeting::Told(_) => return None,
        };
        *meeting = Meeting::Told(told);
        drop(meeting);
        // The caller is going to find itself alone. And what a waker drops with it may be whoever waits
        // here, so the one that is not used goes without the lock, too.
        drop(slot);
        Some(Heard::Yes(newer.unwrap_or(waker)))
    }

    /// Whether nobody waits any more, or it has told already.
    pub(super) fn is_over(&self) -> bool {
        let waits = |(slot, _): &(Arc<Slot>, Waker)| matches!(&*slot.lock(), Meeting::Waiting(_));
        !self.end.as_ref().is_some_and(waits)
    }
}

impl Drop for Teller {
    fn drop(&mut self) {
        if let Some(Heard::Yes(waker)) = self.tell(Told::Forgotten) {
            waker.wake();
        }
    }
}

#[cfg(all(test, loom))]
mod models;

#[cfg(all(test, not(loom)))]
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

    fn tell(teller: &mut Teller) {
        match teller.tell(Told::Reply(Reply::Stored)) {
            Some(Heard::Yes(waker)) => waker.wake(),
            heard => panic!("{heard:?}"),
        }
    }

    /// A task that lives by its wakers alone and owns its waiter.
    struct Owner(Mutex<Option<Waiter>>);

    impl Wake for Owner {
        fn wake(self: Arc<Self>) {}
    }

    #[test]
    fn a_waker_that_takes_its_task_along_is_dropped_without_the_lock() {
        for looks in 1..3 {
            let (sender, done) = std::sync::mpsc::channel();
            std::thread::spawn(move || {
                let owner = Arc::new(Owner(Mutex::new(None)));
                let (mut teller, mut waiter) = meet(Waker::from(Arc::clone(&owner)));
                for look in 0..looks {
                    // With another waker each time, at last with one that owns nothing.
                    let last = look + 1 == looks;
                    let own = Waker::from(Arc::clone(&owner));
                    let waker = if last { Waker::noop() } else { &own };
                    assert!(poll(&mut waiter, waker).is_pending());
                }
                *owner.0.lock().unwrap() = Some(waiter);
                drop(owner);
                teller.tell(Told::Forgotten);
                sender.send(()).unwrap();
            });
            let told = done.recv_timeout(std::time::Duration::from_secs(20));
            assert!(told.is_ok(), "it waits for itself");
        }
    }

    fn meet_idly() -> (Teller, Waiter) {
        meet(Waker::noop().clone())
    }

    #[test]
    fn a_caller_is_woken_and_told_once() {
        let counts = [(); 3].map(|()| Arc::new(Count::default()));
        let wakers = counts
            .each_ref()
            .map(|count| Waker::from(Arc::clone(count)));
        // The latest waker counts, and the first one if the caller never looked.
        for looks in 0..3 {
            let [first, others @ ..] = &wakers;
            let (mut teller, mut waiter) = meet(first.clone());
            for waker in &others[..looks] {
                assert!(poll(&mut waiter, waker).is_pending());
            }
            assert!(!teller.is_over());
            tell(&mut teller);
            assert!(teller.tell(Told::Forgotten).is_none());
            assert!(teller.is_over());
            drop(teller);
            let woken = counts
                .each_ref()
                .map(|count| count.0.swap(0, Ordering::Relaxed));
            let expected: Vec<_> = (0..3).map(|index| usize::from(index == looks)).collect();
            assert_eq!(woken[..], expected);
            let told = poll(&mut waiter, first);
            assert!(matches!(told, Poll::Ready(Told::Reply(Reply::Stored))));
            assert!(poll(&mut waiter, first).is_pending());
        }
    }

    #[test]
    fn who_drops_its_end_is_noticed_at_the_other() {
        let (teller, mut waiter) = meet_idly();
        drop(teller);
        let told = poll(&mut waiter, Waker::noop());
        assert!(matches!(told, Poll::Ready(Told::Forgotten)));

        let (mut teller, waiter) = meet_idly();
        drop(waiter);
        assert!(teller.is_over());
        let heard = teller.tell(Told::Forgotten);
        assert!(matches!(heard, Some(Heard::No(Ended::Cancelled))));

        let (mut teller, mut waiter) = meet_idly();
        assert!(waiter.leave(Ended::Failed).is_none());
        let heard = teller.tell(Told::Forgotten);
        assert!(matches!(heard, Some(Heard::No(Ended::Failed))));

        let (mut teller, mut waiter) = meet_idly();
        tell(&mut teller);
        assert!(matches!(
            waiter.leave(Ended::Failed),
            Some(Told::Reply(Reply::Stored))
        ));
    }

    #[test]
    fn a_slot_is_used_again_only_when_both_ends_are_done_with_it() {
        let address = |waiter: &Waiter| waiter.slot.as_ref().map(Arc::as_ptr);
        let (mut late, waiter) = meet_idly();
        let taken = address(&waiter);
        drop(waiter);
        let (mut teller, mut waiter) = meet_idly();
        assert_ne!(address(&waiter), taken, "its teller may still speak");
        late.tell(Told::Reply(Reply::Stored));
        assert!(poll(&mut waiter, Waker::noop()).is_pending());

        let free = address(&waiter);
        tell(&mut teller);
        assert!(poll(&mut waiter, Waker::noop()).is_ready());
        let (_teller, mut waiter) = meet_idly();
        assert_eq!(address(&waiter), free);
        assert!(poll(&mut waiter, Waker::noop()).is_pending(), "it is clean");
    }

    #[test]
    fn what_nobody_looked_at_goes_with_its_caller() {
        let data = bytes::Bytes::from(vec![0; 100]);
        let (mut teller, waiter) = meet_idly();
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
                    let told = Told::Reply(Reply::Number(number as u64));
                    if let Some(Heard::Yes(waker)) = teller.tell(told) {
                        waker.wake();
                    }
                }
            });
            for number in 0..10_000 {
                let waker = Waker::from(Arc::new(Unpark::here()));
                let (teller, mut waiter) = meet(waker.clone());
                sender.send((teller, number)).unwrap();
                let told = loop {
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
