//! The state machine of a connection: requests in, bytes out; bytes in, replies out.
//!
//! A connection answers in the order of its requests, and replies do not say which request they
//! belong to. So the machine keeps what was asked in that order and checks each reply against
//! the request next in turn. Reads are checked by key on top of that: a value goes to those who
//! asked for its key, or the connection fails; it never goes to anybody else.

mod input;
mod reader;
mod violation;
mod whole;

use std::ops::Range;

use bytes::{Buf, BytesMut};

use self::input::Input;
use self::reader::Reader;
use crate::encode::outbox::Outbox;
use crate::error::{Problem, ProtocolError, RequestError};
use crate::{Key, Limits, ReadKind, Reply, Request};

/// The protocol side of one connection to a server. It does no I/O: its owner writes what
/// [`output`](Self::output) holds, reads, and [feeds](Self::feed) what came.
///
/// `T` is the caller's token of a request: whatever finds the way back to who asked, such as the
/// sender of a one-shot channel. Each token is handed out exactly once, with its reply, by
/// [`cancel`](Self::cancel) or by [`close`](Self::close).
///
/// ```
/// use bytes::{Buf, Bytes, BytesMut};
/// use steersman_memcached_protocol::{Connection, Key, Limits, Reply, Request};
///
/// let mut connection = Connection::new(Limits::default());
/// for key in [&b"apple"[..], b"pear"] {
///     let get = Request::Get { key: Key::new(key)?, cas: false };
///     connection.submit(&get, key)?;
/// }
/// // Reads that are submitted before either is written share a command.
/// assert_eq!(connection.output().copy_to_bytes(16), &b"get apple pear\r\n"[..]);
///
/// let mut input = BytesMut::from("VALUE pear 7 5\r\ngreen\r\nEND\r\n");
/// let mut replies = Vec::new();
/// connection.feed(&mut input, &mut |key, reply| replies.push((key, reply)))?;
/// assert_eq!(replies[0], (&b"apple"[..], Reply::Miss));
/// assert!(matches!(&replies[1], (b"pear", Reply::Value(value)) if value.data == "green"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Connection<T> {
    /// Everything that is not answered yet, written or not.
    outbox: Outbox<T>,
    reader: Reader,
    failure: Option<ProtocolError>,
    closed: bool,
}

/// A request's place on its connection, for [`Connection::cancel`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ticket(u64);

/// What is known about a request whose connection was closed before its reply came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unanswered {
    /// Whether any byte of its command was taken from the output. If so, the server may have
    /// executed it; if not, it has not.
    pub written: bool,
}

impl<T> Connection<T> {
    /// The state of a connection that has just been made.
    pub fn new(limits: Limits) -> Self {
        Self {
            outbox: Outbox::new(limits),
            reader: Reader::default(),
            failure: None,
            closed: false,
        }
    }

    /// Encodes a request whose reply goes to `token`; see [`Outbox::submit`].
    ///
    /// # Errors
    /// [`RequestError`] if it can't be sent; `token` is dropped then.
    pub fn submit(&mut self, request: &Request<'_>, token: T) -> Result<Ticket, RequestError> {
        self.check_open()?;
        let ticket = Ticket(self.outbox.pending().end_slot());
        self.outbox.submit(request, token)?;
        Ok(ticket)
    }

    /// Encodes a request whose reply nobody waits for; see [`Outbox::submit_quiet`].
    ///
    /// # Errors
    /// [`RequestError`] if it can't be sent or makes no sense without its reply.
    pub fn submit_quiet(&mut self, request: &Request<'_>) -> Result<(), RequestError> {
        self.check_open()?;
        self.outbox.submit_quiet(request)
    }

    /// Encodes reads of many keys; see [`Outbox::submit_reads`].
    ///
    /// # Errors
    /// [`RequestError`] if the connection is closed; nothing is taken from `reads` then.
    pub fn submit_reads<'k>(
        &mut self,
        kind: ReadKind,
        reads: impl IntoIterator<Item = (Key<'k>, T)>,
    ) -> Result<(), RequestError> {
        self.check_open()?;
        self.outbox.submit_reads(kind, reads);
        Ok(())
    }

    /// Takes over every request of `outbox`, in order and behind its own, and leaves it empty.
    /// A connection that has been closed takes nothing.
    pub fn absorb(&mut self, outbox: &mut Outbox<T>) {
        if !self.closed {
            self.outbox.absorb(outbox);
        }
    }

    /// The bytes to be written: advance it by as many as were. It has several chunks when large
    /// values are in it, so a vectored write is best.
    ///
    /// What it holds is what has been submitted up to now; nothing joins the reads in it any
    /// more, even if they are not taken yet.
    pub fn output(&mut self) -> impl Buf {
        self.outbox.output_mut()
    }

    /// Like [`output`](Self::output), but only as many whole commands that at most `window` bytes
    /// are written and unanswered, or one command alone if it is larger than that.
    ///
    /// For memcached before 1.6.39 over TLS: with 16 KiB, and everything that this holds written
    /// at once, so that it shares a TLS record. Such a server reads a record into a buffer of that
    /// size. Of one that begins with the rest of a value it reads only that rest, and it stops
    /// reading for good when the TLS library holds more that it has not asked for.
    pub fn output_within(&mut self, window: u64) -> impl Buf {
        self.outbox.close_line();
        let until = self.last_end_before(window);
        let output = self.outbox.output_mut();
        let count = until.clamp(output.taken(), output.end()) - output.taken();
        output.take(usize::try_from(count).unwrap_or(usize::MAX))
    }

    /// Whether there are bytes to be written.
    pub fn has_output(&self) -> bool {
        self.outbox.output().has_remaining()
    }

    /// Whether every byte of the request that is to be answered next has been taken from the
    /// output, so that the server owes its reply. True when nothing is in flight.
    pub fn front_is_written(&self) -> bool {
        self.outbox.output().taken() >= self.front_range().end
    }

    /// Reads replies from the front of `input` and hands them to `sink`, each with the token of
    /// its request. Returns how many requests have been answered, those cancelled or quiet
    /// included.
    ///
    /// Complete replies are consumed, and each value of a multi-key read as soon as it is
    /// complete; the partial rest stays in `input`, to be fed again with what comes next behind
    /// it. Nothing is looked at twice. When a large value is incomplete, room for the whole of
    /// it has been reserved in `input`: read into that room, and reserve more only when it is
    /// used up.
    ///
    /// A connection whose `sink` has panicked is good for nothing but to be closed.
    ///
    /// # Errors
    /// [`ProtocolError`] if what came is no reply to what was asked. It is final: every later
    /// call fails in the same way, and [`close`](Self::close) hands out the tokens that wait.
    pub fn feed(
        &mut self,
        input: &mut BytesMut,
        sink: &mut impl FnMut(T, Reply),
    ) -> Result<usize, ProtocolError> {
        if let Some(error) = &self.failure {
            return Err(error.clone());
        }
        let before = self.outbox.len();
        let mut input = Input::new(input);
        loop {
            match self.reader.read(&mut self.outbox, &mut input, sink) {
                Ok(true) => {}
                Ok(false) => return Ok(before - self.outbox.len()),
                Err(error) => {
                    self.failure = Some(error.clone());
                    return Err(error);
                }
            }
        }
    }

    /// Gives up a request and returns its token, unless that was handed out already. The request
    /// keeps its place: when its reply comes, it is read and discarded.
    ///
    /// The ticket has to be one of this connection's.
    pub fn cancel(&mut self, ticket: Ticket) -> Option<T> {
        self.outbox.pending_mut().cancel(ticket.0)
    }

    /// Ends the connection and hands out the token of every request that is not answered, in
    /// order. What has not been written is dropped, and nothing can be submitted any more.
    pub fn close(&mut self, sink: &mut impl FnMut(T, Unanswered)) {
        self.closed = true;
        self.reader = Reader::default();
        self.outbox.drain(sink);
    }

    /// How many requests are not answered yet, those cancelled or quiet or not written included.
    pub fn in_flight(&self) -> usize {
        self.outbox.len()
    }

    /// How many quiet requests are not answered yet.
    pub fn quiet_in_flight(&self) -> usize {
        self.outbox.pending().quiet()
    }

    /// The tokens of the requests that wait for a reply, in order.
    pub fn waiting(&self) -> impl Iterator<Item = &T> {
        self.outbox.pending().tokens()
    }

    /// The tokens of the requests that wait for a reply, in order, to be changed: to tell those that
    /// wait for too long, for instance, while their requests keep their places.
    pub fn waiting_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.outbox.pending_mut().tokens_mut()
    }

    /// Where the last command ends of those that end within `window` bytes from where the one begins
    /// that is to be answered next, or that one ends if it is larger.
    fn last_end_before(&self, window: u64) -> u64 {
        let front = self.front_range();
        let limit = front.start.saturating_add(window);
        let end = self.outbox.output().end();
        if end <= limit {
            return end;
        }
        // Each command ends where the next one begins.
        let commands = self.outbox.pending().commands();
        let behind = commands.partition_point(|command| command.start <= limit);
        let last = behind
            .checked_sub(1)
            .map_or(end, |last| commands[last].start);
        last.max(front.end)
    }

    /// Where in the output stream the command is that is to be answered next; empty and at the end
    /// if there is none.
    fn front_range(&self) -> Range<u64> {
        let mut commands = self.outbox.pending().commands().iter();
        let end = self.outbox.output().end();
        let mut next_start = || commands.next().map_or(end, |command| command.start);
        next_start()..next_start()
    }

    fn check_open(&self) -> Result<(), RequestError> {
        if self.closed {
            return Err(Problem::Closed.into());
        }
        Ok(())
    }
}
