//! Each operation is counted once, as its caller saw it end, and before that one goes on.

use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use steersman_memcached::{Client, ErrorKind, Stage};

use crate::network::{client, settle};

/// What callers would find the moment they are woken.
struct Moment {
    client: Client,
    seen: Mutex<Vec<(u64, usize)>>,
}

impl Wake for Moment {
    fn wake(self: Arc<Self>) {
        let metrics = self.client.node("n").unwrap().metrics();
        let seen = (metrics.operations_executed, metrics.in_flight);
        self.seen.lock().unwrap().push(seen);
    }
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_is_woken_finds_its_call_counted_and_its_place_free() {
    let (client, mut attempts) = client(|builder| builder.max_connections(1));
    let mut peer = attempts.next().await.accept();
    settle().await;
    let moment = Arc::new(Moment {
        client: client.clone(),
        seen: Mutex::default(),
    });
    let waker = Waker::from(Arc::clone(&moment));

    let mut read = pin!(client.get("k").into_future());
    let begun = read.as_mut().poll(&mut Context::from_waker(&waker));
    assert!(begun.is_pending());
    peer.exchange("get k\r\n", "END\r\n").await;
    settle().await;
    assert_eq!(moment.seen.lock().unwrap()[..], [(1, 0)]);
    assert_eq!(read.await.unwrap(), None);

    // Of a call of many keys its line is counted by the caller.
    let mut many = pin!(client.get_many(["k", "l"]).into_future());
    let begun = many.as_mut().poll(&mut Context::from_waker(&waker));
    assert!(begun.is_pending());
    peer.exchange("get k l\r\n", "END\r\n").await;
    settle().await;
    assert_eq!(moment.seen.lock().unwrap()[1..], [(1, 0)]);
    assert_eq!(many.await.missing, ["k", "l"]);
}

#[tokio::test(start_paused = true)]
async fn how_an_operation_ended_is_counted_as_its_caller_saw_it() {
    let (client, mut attempts) = client(|builder| builder.max_connections(1).max_in_flight(1));
    let mut peer = attempts.next().await.accept();
    settle().await;
    let counts = || {
        let metrics = client.node("n").unwrap().metrics();
        (
            metrics.operations_executed,
            metrics.operations_executed_with_error,
            metrics.operations_cancelled,
        )
    };
    // Admitted from the queue, then late.
    let first = tokio::spawn(client.get("a").timeout(None).into_future());
    settle().await;
    let second = client.get("b").timeout(Duration::from_millis(130));
    let second = tokio::spawn(second.into_future());
    tokio::time::sleep(Duration::from_millis(100)).await;
    peer.exchange("get a\r\n", "END\r\n").await;
    first.await.unwrap().unwrap();
    let late = second.await.unwrap().unwrap_err();
    assert_eq!(
        (late.kind(), late.stage()),
        (ErrorKind::Timeout, Stage::Exchange)
    );
    peer.exchange("get b\r\n", "END\r\n").await;
    settle().await;
    assert_eq!(counts(), (1, 1, 0));
    // An answer that says nothing of use.
    let (odd, ()) = tokio::join!(
        client.set("k", "v").into_future(),
        peer.exchange("set k 0 0 1\r\nv\r\n", "NOT_STORED\r\n")
    );
    let odd = odd.unwrap_err();
    assert_eq!((odd.kind(), odd.node()), (ErrorKind::Server, Some("n")));
    assert_eq!(counts(), (1, 2, 0));
}
