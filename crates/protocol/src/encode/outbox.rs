//! Requests that are encoded and wait for a connection.

use super::command::{self, Form};
use super::line::{self, OpenLine};
use super::output::Output;
use crate::error::{Problem, RequestError};
use crate::parse::Expected;
use crate::pending::Pending;
use crate::{Key, Limits, ReadKind, Request, Unanswered};

/// Requests that are encoded, with their callers' tokens, and not yet given to a connection.
///
/// This is what callers and the owner of a connection share: callers encode into an outbox under
/// a lock, and the owner exchanges it for an empty one (with [`std::mem::swap`]) and lets its
/// [`Connection`](crate::Connection) [absorb](crate::Connection::absorb) it after the lock is
/// released. An outbox that has been absorbed is empty and keeps its memory, so two of them
/// taking turns allocate nothing.
///
/// Consecutive reads of one kind share a command line; see
/// [`Limits::autobatch`](crate::Limits::autobatch).
///
/// ```
/// use std::mem;
/// use std::sync::Mutex;
/// use bytes::Buf;
/// use steersman_memcached_protocol::{Connection, Key, Limits, Outbox, Request};
///
/// let shared = Mutex::new(Outbox::new(Limits::default()));
/// for (token, key) in ["a", "b", "a"].into_iter().enumerate() {
///     let get = Request::Get { key: Key::new(key.as_bytes())?, cas: false };
///     shared.lock().unwrap().submit(&get, token)?;
/// }
///
/// let mut spare = Outbox::new(Limits::default());
/// mem::swap(&mut *shared.lock().unwrap(), &mut spare);
/// let mut connection = Connection::new(Limits::default());
/// connection.absorb(&mut spare);
/// assert_eq!(connection.in_flight(), 3);
/// assert_eq!(connection.output().chunk(), b"get a b\r\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Outbox<T> {
    limits: Limits,
    output: Output,
    pending: Pending<T>,
    line: OpenLine,
}

impl<T> Outbox<T> {
    /// An empty outbox.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            output: Output::default(),
            pending: Pending::new(),
            line: OpenLine::default(),
        }
    }

    /// Encodes a request whose reply goes to `token`.
    ///
    /// # Errors
    /// [`RequestError`] if it can't be sent; `token` is dropped then.
    pub fn submit(&mut self, request: &Request<'_>, token: T) -> Result<(), RequestError> {
        match Form::of(request) {
            Form::Read(kind, key) => {
                self.push_read(kind, key, token);
                self.close_line_unless_batching();
            }
            Form::Command(expected) => {
                command::check(request, &self.limits)?;
                self.push_command(request, expected, Some(token));
            }
        }
        Ok(())
    }

    /// Encodes a request whose reply nobody waits for.
    ///
    /// The word `noreply` is not put on the wire: a server may answer errors even then, and such
    /// an answer would be taken for the next request's. The reply is read and discarded.
    ///
    /// # Errors
    /// [`RequestError`] if it can't be sent, or if its reply is all that it is for: plain reads,
    /// `version` and `stats`.
    pub fn submit_quiet(&mut self, request: &Request<'_>) -> Result<(), RequestError> {
        command::check(request, &self.limits)?;
        match Form::of(request) {
            Form::Command(expected) if expected.reports_an_effect() => {
                self.push_command(request, expected, None);
                Ok(())
            }
            _ => Err(Problem::NeedsReply {
                command: request.command(),
            }
            .into()),
        }
    }

    /// Encodes reads of many keys, the reply for each going to its token.
    ///
    /// They share command lines of up to [`Limits::max_batch_keys`](crate::Limits) keys even
    /// when [`Limits::autobatch`](crate::Limits) is off.
    pub fn submit_reads<'k>(
        &mut self,
        kind: ReadKind,
        reads: impl IntoIterator<Item = (Key<'k>, T)>,
    ) {
        for (key, token) in reads {
            self.push_read(kind, key, token);
        }
        self.close_line_unless_batching();
    }

    /// How many requests are in it, the quiet ones included.
    pub fn len(&self) -> usize {
        self.pending.len()
    }

    /// Whether no request is in it.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many distinct keys each line of reads asks for, the lines in their order.
    pub fn keys_by_line(&self) -> impl Iterator<Item = u32> {
        let lines = self.pending.commands().iter();
        lines.filter_map(|line| match line.expected {
            Expected::Values { .. } => Some(line.keys),
            _ => None,
        })
    }

    /// Drops every request and hands out the tokens in order, for when there is no connection.
    pub fn clear(&mut self, sink: &mut impl FnMut(T)) {
        self.drain(&mut |token, _| sink(token));
    }

    /// Drops every request; the tokens go out with whether any byte of theirs has been taken.
    pub(crate) fn drain(&mut self, sink: &mut impl FnMut(T, Unanswered)) {
        self.line.close();
        self.pending.drain(self.output.taken(), sink);
        self.output.clear();
    }

    /// Takes over every request of `other`, in order and behind its own, and leaves it empty.
    pub fn absorb(&mut self, other: &mut Self) {
        self.close_line();
        other.close_line();
        self.pending.append(&mut other.pending, self.output.end());
        self.output.append(&mut other.output);
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(crate) fn pending(&self) -> &Pending<T> {
        &self.pending
    }

    /// The tokens of the requests that wait for a reply, in order, to be changed.
    pub fn waiting_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.pending.tokens_mut()
    }

    pub(crate) fn pending_mut(&mut self) -> &mut Pending<T> {
        &mut self.pending
    }

    pub(crate) fn output(&self) -> &Output {
        &self.output
    }

    /// The bytes to be written; whatever is taken, nothing joins the reads in it any more.
    pub(crate) fn output_mut(&mut self) -> &mut Output {
        self.close_line();
        &mut self.output
    }

    #[inline]
    fn push_command(&mut self, request: &Request<'_>, expected: Expected, token: Option<T>) {
        self.close_line();
        self.pending
            .push_command(self.output.end(), expected, token);
        if let Request::Meta(command) = request {
            command::note_echoes(command, &mut self.pending);
        }
        command::write_command(request, &mut self.output);
    }

    fn push_read(&mut self, kind: ReadKind, key: Key<'_>, token: T) {
        let hash = line::hash(key);
        let slot = self.pending.end_slot();
        let mut joins = self.line.accepts(kind);
        if joins {
            if let Some(earlier) = self.line.join_key(key, hash, slot, &self.output) {
                self.pending.push_linked(earlier, token);
                return;
            }
            joins = self.line.has_room(key, self.limits.max_batch_keys);
        }
        if !joins {
            self.close_line();
            self.pending.push_read(self.output.end(), kind.has_cas());
            let len = command::write_read(kind, &mut self.output);
            self.line.open(kind, len);
        }
        command::write_key(key, &mut self.output);
        self.line.add_key(key, hash, slot);
        self.pending.push_key(key, token);
    }

    fn close_line_unless_batching(&mut self) {
        if !self.limits.autobatch {
            self.close_line();
        }
    }

    /// Ends the line that further reads might have joined.
    pub(crate) fn close_line(&mut self) {
        if self.line.is_open() {
            self.output.put(b"\r\n");
            self.line.close();
        }
    }
}
