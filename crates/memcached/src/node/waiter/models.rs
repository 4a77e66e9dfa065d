//! Every order in which a caller and whoever answers it can meet, by loom.

use std::future::poll_fn;

use loom::future::block_on;
use loom::thread;

use super::*;

/// Tells a number, as a driver does.
fn tell(mut teller: Teller, number: u64) -> Option<Ended> {
    match teller.tell(Told::Reply(Reply::Number(number)))? {
        Heard::Yes(waker) => {
            waker.wake();
            None
        }
        Heard::No(ended) => Some(ended),
    }
}

/// Waits for what is told to `waiter`; the number, if it is one.
async fn told(mut waiter: Waiter) -> Option<u64> {
    match poll_fn(|cx| waiter.poll(cx)).await {
        Told::Reply(Reply::Number(number)) => Some(number),
        _ => None,
    }
}

/// A pair whose waiter is polled by this thread.
async fn meet_here() -> (Teller, Waiter) {
    poll_fn(|cx| Poll::Ready(meet(cx.waker().clone()))).await
}

#[test]
fn who_is_told_is_woken() {
    loom::model(|| {
        block_on(async {
            let (teller, waiter) = meet_here().await;
            let teller = thread::spawn(move || assert_eq!(tell(teller, 7), None));
            assert_eq!(told(waiter).await, Some(7));
            teller.join().unwrap();
        });
    });
}

#[test]
fn a_waiter_that_moves_to_another_task_is_woken_there() {
    loom::model(|| {
        let (teller, waiter) = meet(Waker::noop().clone());
        let teller = thread::spawn(move || assert_eq!(tell(teller, 7), None));
        assert_eq!(block_on(told(waiter)), Some(7));
        teller.join().unwrap();
    });
}

#[test]
fn who_is_forgotten_is_told_that() {
    loom::model(|| {
        block_on(async {
            let (teller, waiter) = meet_here().await;
            let teller = thread::spawn(move || drop(teller));
            assert_eq!(told(waiter).await, None);
            teller.join().unwrap();
        });
    });
}

#[test]
fn a_call_that_leaves_ends_in_one_way() {
    loom::model(|| {
        let (teller, mut waiter) = meet(Waker::noop().clone());
        let teller = thread::spawn(move || tell(teller, 7));
        let left = waiter.leave(Ended::Cancelled);
        let counted = teller.join().unwrap();
        // Either the caller has its answer, or its teller counts it as cancelled.
        match left {
            Some(Told::Reply(Reply::Number(7))) => assert_eq!(counted, None),
            None => assert_eq!(counted, Some(Ended::Cancelled)),
            other => panic!("{other:?}"),
        }
    });
}

#[test]
fn a_slot_that_is_used_again_tells_its_new_caller_only_what_is_its_own() {
    loom::model(|| {
        block_on(async {
            let (first, waiter) = meet_here().await;
            let first = thread::spawn(move || tell(first, 1));
            assert_eq!(told(waiter).await, Some(1));
            // The slot is this thread's again, if the other end had let go of it by then.
            let (second, waiter) = meet_here().await;
            let second = thread::spawn(move || tell(second, 2));
            assert_eq!(told(waiter).await, Some(2));
            assert_eq!(first.join().unwrap(), None);
            assert_eq!(second.join().unwrap(), None);
        });
    });
}

#[test]
fn a_late_answer_to_a_caller_that_left_reaches_nobody_else() {
    loom::model(|| {
        block_on(async {
            let (late, waiter) = meet_here().await;
            let late = thread::spawn(move || {
                tell(late, 1);
            });
            drop(waiter);
            let (teller, waiter) = meet_here().await;
            let teller = thread::spawn(move || {
                tell(teller, 2);
            });
            assert_eq!(told(waiter).await, Some(2));
            late.join().unwrap();
            teller.join().unwrap();
        });
    });
}
