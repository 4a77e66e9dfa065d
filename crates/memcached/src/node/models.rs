//! Whole calls through a connection, in every order in which callers, the connection's driver and
//! whoever closes the node can meet, by loom: the node's lock, the outbox, the wakers, the slots in
//! which callers wait, and the counts. Whoever would wait for ever is found as a deadlock.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use loom::future::block_on;
use loom::thread;
use steersman_memcached_protocol::{Key, Reply, Request};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::runtime::{Builder, Runtime};

use super::connect::Opened;
use super::driver::Driver;
use super::*;

/// A server that misses every read, at the other end of its connection.
#[derive(Default)]
struct Misses {
    owed: usize,
    reader: Option<Waker>,
}

impl AsyncRead for Misses {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.owed == 0 {
            self.reader = Some(cx.waker().clone());
            return Poll::Pending;
        }
        self.owed -= 1;
        buf.put_slice(b"END\r\n");
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Misses {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.owed += buf.iter().filter(|byte| **byte == b'\n').count();
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
        Poll::Ready(Ok(buf.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Nobody is told of changes.
struct Nobody;

impl Watcher for Nobody {
    fn connections_changed(&self) {}

    fn health_changed(&self, _: &Node, _: Option<&Error>) {}
}

/// A node with one connection, and the thread that drives it until the node is closed. Its time
/// stands still.
fn connected() -> (Arc<Node>, thread::JoinHandle<()>) {
    let options = Options {
        max_connections: 1,
        max_in_flight: 1,
        ..Options::default()
    };
    let config = "a:1".parse().unwrap();
    let nobody = Weak::<Nobody>::new();
    let node = Arc::new(Node::new(config, Arc::new(options), nobody));
    let lane = node.opened(Duration::ZERO, None).unwrap();
    let opened = Opened {
        transport: Box::new(Misses::default()),
        window: None,
        version: None,
        route: None,
    };
    let driver = Driver::new(Arc::clone(&node), lane, opened);
    (node, thread::spawn(move || block_on(driver)))
}

/// A read that waits for its answer.
fn start(node: &Arc<Node>, waker: Waker) -> Result<(Waiter, Started)> {
    let (token, waiter) = Token::one(waker);
    let key = Key::new(b"k").unwrap();
    let request = Request::Get { key, cas: false };
    let started = node.start(Ask::One(&request, token), Some(Duration::from_secs(1)))?;
    Ok((waiter, started))
}

async fn get(node: &Arc<Node>) -> Result<Reply> {
    let started = poll_fn(|cx| Poll::Ready(start(node, cx.waker().clone())));
    let (mut waiter, started) = started.await?;
    let told = poll_fn(|cx| waiter.poll(cx)).await;
    if let Started::Queued(ticket) = started {
        ticket.answered();
    }
    match told {
        Told::Reply(reply) => Ok(reply),
        Told::Failed(error) => Err(error),
        other => panic!("{other:?}"),
    }
}

fn timeless() -> Runtime {
    let mut runtime = Builder::new_current_thread();
    runtime.enable_time().start_paused(true).build().unwrap()
}

/// Everything is given back, and every call has been counted once.
fn check(node: &Node, calls: u64) {
    let pool = node.metrics();
    assert_eq!(
        (pool.cur_connections, pool.in_flight, pool.waiting),
        (0, 0, 0)
    );
    let ended =
        pool.operations_executed + pool.operations_executed_with_error + pool.operations_cancelled;
    assert_eq!(ended, calls);
}

#[test]
fn a_call_is_answered() {
    loom::model(|| {
        let runtime = timeless();
        let _context = runtime.enter();
        let (node, driver) = connected();
        assert_eq!(block_on(get(&node)).unwrap(), Reply::Miss);
        node.close(&Error::closed());
        driver.join().unwrap();
        check(&node, 1);
    });
}

#[test]
fn a_call_that_meets_the_end_of_its_node_ends_too() {
    loom::model(|| {
        let runtime = timeless();
        let _context = runtime.enter();
        let (node, driver) = connected();
        let closing = {
            let node = Arc::clone(&node);
            thread::spawn(move || node.close(&Error::closed()))
        };
        match block_on(get(&node)) {
            Ok(reply) => assert_eq!(reply, Reply::Miss),
            Err(error) => assert_eq!(error.kind(), ErrorKind::Closed),
        }
        closing.join().unwrap();
        driver.join().unwrap();
        check(&node, 1);
    });
}

#[test]
fn a_call_that_is_dropped_gives_its_place_back() {
    loom::model(|| {
        let runtime = timeless();
        let _context = runtime.enter();
        let (node, driver) = connected();
        drop(start(&node, Waker::noop().clone()).unwrap());
        // There is one place, so this one waits in the queue until it is given back.
        assert_eq!(block_on(get(&node)).unwrap(), Reply::Miss);
        node.close(&Error::closed());
        driver.join().unwrap();
        check(&node, 2);
    });
}
