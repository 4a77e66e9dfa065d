//! The task that drives one connection: outbox to wire, wire to waiting callers.
//!
//! How requests come to share a write: the driver is woken once for the first request put in an
//! empty outbox. If other requests are in flight it does not write at once but yields, so that
//! every task that can run now adds its request first; then it takes the whole outbox. A lone
//! request on an idle connection is written without that detour. No timer is involved.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, BytesMut};
use steersman_memcached_protocol::{Connection, Reply};
use tokio::io::AsyncWrite;
use tokio::time::{Instant, Sleep};
use tokio_util::io::{poll_read_buf, poll_write_buf};

use super::Node;
use super::connect::Opened;
use super::expiry::Expiry;
use super::health::Ending;
use super::lane::Leave;
use super::state;
use super::token::{Tally, Token};
use super::version::Version;
use crate::error::{Error, ErrorKind, Stage};
use crate::observe::BatchWatch;
use crate::transport::Transport;

/// Room for so much is made before a read at first, and for twice as much after each one that has
/// filled its room, up to the other: most connections of a large cluster have little to read.
const LEAST_ROOM: usize = 2 * 1024;
const MOST_ROOM: usize = 16 * 1024;

/// A read buffer above this is let go once it is empty.
const LARGE_BUFFER: usize = 4 * MOST_ROOM;

/// A connection that ended within this time without having served counts as a failure.
const SOON: Duration = Duration::from_secs(1);

/// How often a connection with requests in flight is looked at: a quarter of `stalled_after`
/// within these bounds.
const SHORTEST_CHECK: Duration = Duration::from_millis(1);
const LONGEST_CHECK: Duration = Duration::from_secs(1);

/// How an alert of TLS begins, its version's second byte left out.
const TLS_ALERT: [u8; 2] = [0x15, 0x03];

pub(super) struct Driver {
    node: Arc<Node>,
    lane: u64,
    transport: Box<dyn Transport>,
    machine: Connection<Token>,
    /// So much may be written and unanswered at most.
    window: Option<u64>,
    input: BytesMut,
    /// Room for how much is made before the next read.
    room: usize,
    opened: Instant,
    /// Whether the server has sent anything on this connection.
    heard: bool,
    /// Whether the server has answered anything but error lines on this connection.
    served: bool,
    /// Since when the server owes something and has sent nothing.
    silent_since: Instant,
    /// When it last answered a request, or began to owe an answer.
    answered_at: Instant,
    tally: Tally,
    batch: BatchWatch,
    /// Looks for a stalled server while requests are in flight.
    check: Pin<Box<Sleep>>,
    check_armed: bool,
    expiry: Expiry,
    /// The detour before writing has been made.
    yielded: bool,
    finished: bool,
}

/// The requests that were answered at a time.
#[derive(Default)]
pub(super) struct Answered {
    replies: usize,
    /// Whether one was more than an error line.
    served: bool,
    pub(super) places: usize,
    /// How many of the places were those of noreply writes.
    pub(super) quiet: usize,
    /// What the server has said of its version.
    pub(super) version: Option<Version>,
}

/// Why the driver ends.
enum End {
    Asked { purged: bool },
    Aborted(Error),
    Broken(Error),
}

impl Driver {
    pub(super) fn new(node: Arc<Node>, lane: u64, opened: Opened) -> Self {
        let now = Instant::now();
        Self {
            lane,
            transport: opened.transport,
            machine: Connection::new(node.options.limits),
            window: opened.window,
            input: BytesMut::new(),
            room: LEAST_ROOM,
            opened: now,
            heard: false,
            served: false,
            silent_since: now,
            answered_at: now,
            tally: Tally::default(),
            batch: BatchWatch::default(),
            check: Box::pin(tokio::time::sleep_until(now)),
            check_armed: false,
            expiry: Expiry::new(now),
            yielded: false,
            finished: false,
            node,
        }
    }

    fn advance(&mut self, cx: &mut Context<'_>) -> Poll<End> {
        let answers = match self.receive(cx) {
            Ok(answers) => answers,
            Err(error) => return Poll::Ready(End::Broken(error)),
        };
        // One caller that was answered alone is alone: it makes its next request by itself.
        let others_may_join = answers > 1 || self.machine.in_flight() > 0;
        if others_may_join && !self.yielded {
            self.yielded = true;
            cx.waker().wake_by_ref();
        } else {
            self.yielded = false;
            if let Some(end) = self.collect(cx) {
                return Poll::Ready(end);
            }
        }
        if let Err(error) = self.send(cx) {
            // A server that closes the connection may have said why.
            let last_words = self.receive(cx).err();
            return Poll::Ready(End::Broken(last_words.unwrap_or(error)));
        }
        self.expire(cx);
        match self.check_silence(cx) {
            Some(error) => Poll::Ready(End::Broken(error)),
            None => Poll::Pending,
        }
    }

    /// Reads what has come and hands out the replies; says how many there were.
    fn receive(&mut self, cx: &mut Context<'_>) -> Result<usize, Error> {
        let mut answered = Answered::default();
        let outcome = loop {
            self.make_room();
            let capacity = self.input.capacity();
            match poll_read_buf(Pin::new(&mut self.transport), cx, &mut self.input) {
                Poll::Pending => break Ok(()),
                Poll::Ready(Ok(0)) => break Err(closed()),
                Poll::Ready(Ok(read)) => self.node.watch.received(read),
                Poll::Ready(Err(error)) => break Err(broke(error)),
            }
            self.heard = true;
            self.silent_since = Instant::now();
            if self.input.len() == capacity {
                self.room = MOST_ROOM.min(2 * self.room);
            }
            let (name, tally) = (self.node.name(), &mut self.tally);
            let fed = self
                .machine
                .feed(&mut self.input, &mut |token: Token, reply| {
                    answered.replies += 1;
                    answered.quiet += usize::from(token.is_quiet());
                    answered.served |= !matches!(reply, Reply::Error(_));
                    answered.places += token.answer(reply, name, tally);
                });
            if self.input.is_empty() && capacity > LARGE_BUFFER {
                // An idle connection does not keep the buffer of a large value.
                self.input = BytesMut::new();
            }
            if let Err(error) = fed {
                break Err(
                    Error::new(ErrorKind::Protocol, Stage::Exchange, error.to_string())
                        .with_source(error),
                );
            }
        };
        if answered.served && !std::mem::replace(&mut self.served, true) {
            self.node.proved();
        }
        if answered.replies > 0 {
            self.answered_at = self.silent_since;
            let replies = answered.replies;
            answered.version = self.tally.version.take();
            let operations = std::mem::take(&mut self.tally.operations);
            self.node
                .release(self.lane, answered, operations, self.answered_at);
            self.tally.wake();
            return outcome.map(|()| replies);
        }
        outcome.map(|()| 0)
    }

    /// The machine reserves room for a whole value; more is made only when that is used up.
    fn make_room(&mut self) {
        if self.input.is_empty() || self.input.capacity() == self.input.len() {
            self.input.reserve(self.room);
        }
    }

    /// Takes what callers have put in the outbox, and goes to sleep as far as they can tell.
    fn collect(&mut self, cx: &mut Context<'_>) -> Option<End> {
        let was_idle = self.machine.in_flight() == 0;
        let mut state = self.node.lock();
        let queue_is_empty = state.waiting.is_empty();
        let Some(lane) = state.lane(self.lane) else {
            return Some(End::Asked { purged: false });
        };
        match &lane.leave {
            Some(Leave::Abort(error)) => return Some(End::Aborted(error.clone())),
            Some(Leave::Retire { purged }) => return Some(End::Asked { purged: *purged }),
            Some(Leave::Drain) if lane.in_flight == 0 && queue_is_empty => {
                return Some(End::Asked { purged: false });
            }
            Some(Leave::Depart) if lane.in_flight == 0 => {
                return Some(End::Asked { purged: false });
            }
            None | Some(Leave::Drain | Leave::Depart) => {}
        }
        self.expiry.hasten(lane.end_batch());
        self.batch.note(&self.node.watch, &lane.outbox);
        self.machine.absorb(&mut lane.outbox);
        match &mut lane.waker {
            Some(waker) => waker.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
        drop(state);
        self.batch.tell(&self.node, self.lane);
        if was_idle && self.machine.in_flight() > 0 {
            self.silent_since = Instant::now();
            self.answered_at = self.silent_since;
        }
        None
    }

    /// Writes as much as the transport takes.
    fn send(&mut self, cx: &mut Context<'_>) -> Result<(), Error> {
        while self.machine.has_output() {
            // While the request that is to be answered next is still being sent, the server owes
            // nothing: a long upload is not silence.
            let uploading = !self.machine.front_is_written();
            let transport = Pin::new(&mut self.transport);
            let written = match self.window {
                None => poll_write_buf(transport, cx, &mut self.machine.output()),
                Some(window) => {
                    let mut output = self.machine.output_within(window);
                    if !output.has_remaining() {
                        // Answers make room for more.
                        break;
                    }
                    poll_write_buf(transport, cx, &mut output)
                }
            };
            if let Poll::Ready(Ok(written)) = written {
                self.node.watch.sent(written);
            }
            match written {
                Poll::Pending => return Ok(()),
                Poll::Ready(Ok(0)) => return Err(lost("the connection takes no more bytes")),
                Poll::Ready(Ok(_)) if uploading => self.silent_since = Instant::now(),
                Poll::Ready(Ok(_)) => {}
                Poll::Ready(Err(error)) => return Err(broke(error)),
            }
        }
        // TLS and the like may hold bytes back until they are told to send them.
        match Pin::new(&mut self.transport).poll_flush(cx) {
            Poll::Ready(Err(error)) => Err(broke(error)),
            Poll::Ready(Ok(())) | Poll::Pending => Ok(()),
        }
    }

    /// Tells the callers whose time is up. Their requests keep their places until they are answered.
    fn expire(&mut self, cx: &mut Context<'_>) {
        while self.expiry.poll_due(cx) {
            let now = Instant::now();
            let mut earliest = None;
            for token in self.machine.waiting_mut() {
                match token.deadline() {
                    Some(deadline) if deadline <= now => {
                        token.time_out(self.node.name(), Stage::Exchange, &mut self.tally);
                    }
                    later => earliest = state::earlier(earliest, later),
                }
            }
            self.node.settle(&mut self.tally);
            self.expiry.hasten(earliest);
        }
    }

    /// Finds a server that stopped answering, or places that nobody waits for any more.
    fn check_silence(&mut self, cx: &mut Context<'_>) -> Option<Error> {
        while self.machine.in_flight() > 0 {
            if !self.check_armed {
                self.check_armed = true;
                let every = self.check_every();
                self.check.as_mut().reset(Instant::now() + every);
            }
            if self.check.as_mut().poll(cx).is_pending() {
                return None;
            }
            self.check_armed = false;
            if let Some(why) = self.stall() {
                return Some(Error::new(ErrorKind::Stalled, Stage::Exchange, why));
            }
        }
        None
    }

    fn stall(&self) -> Option<String> {
        let options = &self.node.options;
        let silence = self.silent_since.elapsed();
        if options.stalled_after.is_some_and(|limit| silence >= limit) {
            return Some(format!(
                "the server has sent nothing for {silence:.1?} while requests were outstanding"
            ));
        }
        // As long as the server answers, places come free by themselves.
        let answering = self.answered_at.elapsed() < self.check_every();
        if answering || self.machine.waiting().any(|token| !token.is_abandoned()) {
            return None;
        }
        let places = self.node.places_taken(self.lane);
        (places >= options.max_in_flight).then(|| {
            format!("all {places} requests on the connection were given up by their callers")
        })
    }

    fn check_every(&self) -> Duration {
        let stalled_after = self.node.options.stalled_after.unwrap_or(LONGEST_CHECK);
        (stalled_after / 4).clamp(SHORTEST_CHECK, LONGEST_CHECK)
    }

    /// Says so if what the server did without ever answering is what one does that waits for TLS.
    fn suspect_tls(&self, error: Error) -> Error {
        let alert = !self.served && self.input.starts_with(&TLS_ALERT);
        let hung_up = !self.heard
            && error.kind() == ErrorKind::ConnectionLost
            && self.machine.in_flight() > 0;
        if self.node.options.is_over_tls() || !(alert || hung_up) {
            return error;
        }
        error.adding("; it has answered nothing on this connection: does it want TLS?")
    }

    /// Whether a connection that broke like that counts against the node.
    fn is_failure(&self, error: &Error) -> bool {
        let never_served =
            !self.served && (error.kind() == ErrorKind::Protocol || self.opened.elapsed() < SOON);
        never_served || error.kind() == ErrorKind::Stalled
    }

    /// Leaves the node and fails everything that is still outstanding.
    fn finish(&mut self, end: &End) {
        if std::mem::replace(&mut self.finished, true) {
            return;
        }
        let error = match end {
            End::Asked { .. } => Error::closed(),
            End::Aborted(error) => error.clone(),
            End::Broken(error) => self.suspect_tls(error.clone()),
        };
        let error = error.at_node(self.node.name());
        let ending = match *end {
            End::Asked { purged } => Ending::Asked { purged },
            End::Aborted(_) => Ending::Asked { purged: false },
            End::Broken(_) if self.is_failure(&error) => Ending::Failed(error.clone()),
            End::Broken(_) => Ending::Lost(error.clone()),
        };
        let unsent = self.node.ended(self.lane, &ending);
        let tally = &mut self.tally;
        self.machine.close(&mut |token: Token, unanswered| {
            token.fail(error.clone().executed(unanswered.written), tally);
        });
        if let Some(mut unsent) = unsent {
            unsent.clear(&mut |token: Token| token.fail(error.clone(), tally));
        }
        self.node.settle(tally);
    }
}

impl Future for Driver {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let end = ready!(self.advance(cx));
        self.finish(&end);
        Poll::Ready(())
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // Only a runtime that shuts down, or a panic, drops a driver before its end.
        let early = if std::thread::panicking() {
            End::Broken(Error::bug())
        } else {
            End::Aborted(Error::runtime_gone())
        };
        self.finish(&early);
    }
}

fn lost(what: &str) -> Error {
    Error::new(ErrorKind::ConnectionLost, Stage::Exchange, what)
}

fn closed() -> Error {
    lost("the server closed the connection")
}

fn broke(error: io::Error) -> Error {
    if error.kind() == io::ErrorKind::UnexpectedEof {
        // TLS has an end of its own, which servers rarely trouble to say.
        return closed();
    }
    lost(&format!("the connection broke: {error}")).with_source(error)
}
