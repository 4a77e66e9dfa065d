//! One client's connection to the server.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::{Bytes, BytesMut};
use steersman_memcached_protocol::server::{
    Command, Event, Limits, Parser, Rejection, Reply, Request,
};

use crate::item::Seconds;
use crate::lock;
use crate::machine::{Answer, Machine, Reading};
use crate::outbox::Outbox;
use crate::relay::Work;
use crate::server::Shared;
use crate::stats;
use crate::stream::Ending;

/// Replies are passed on in pieces of about this many bytes.
const PIECE: usize = 64 * 1024;

pub(crate) struct Session {
    shared: Arc<Shared>,
    parser: Parser,
    reading: Option<Reading>,
    out: BytesMut,
    /// It lost bytes in a black hole: whatever comes now makes no sense.
    is_deaf: bool,
}

impl Session {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let limits = Limits {
            max_item_size: shared.settings.item_size_max,
            ..Limits::default()
        };
        Self {
            shared,
            parser: Parser::new(limits),
            reading: None,
            out: BytesMut::new(),
            is_deaf: false,
        }
    }

    /// Answers an event; tells how the connection is to end, if it is.
    fn answer(&mut self, event: Event, machine: &mut Machine, now: Seconds) -> Option<Ending> {
        machine.observe(&event);
        match event {
            Event::Request(request) => self.execute(request, machine, now),
            Event::Rejected { reason, noreply } => {
                if reason == Rejection::BadDataChunk {
                    machine.store.refuse_bad_block();
                }
                self.reject(reason, noreply);
                None
            }
            Event::TooLarge { mode, key, noreply } => {
                machine.store.refuse_too_large(mode, &key, now);
                self.reject(Rejection::TooLarge, noreply);
                None
            }
            Event::Close => Some(Ending::Close),
        }
    }

    fn execute(&mut self, request: Request, machine: &mut Machine, now: Seconds) -> Option<Ending> {
        let seen = machine.witness.is_some().then(|| request.clone());
        let Request { command, noreply } = request;
        let is_quit = matches!(command, Command::Quit);
        if !noreply
            && !is_quit
            && let Some(reply) = self.shared.script.next_answer()
        {
            self.out.extend_from_slice(&reply);
            return None;
        }
        let before = self.out.len();
        match machine.execute(command, now, &mut self.out) {
            Answer::Done => {
                if let (Some(witness), Some(request)) = (&machine.witness, &seen) {
                    witness.executed(request, &self.out[before..]);
                }
            }
            Answer::Read(reading) => self.reading = Some(reading),
            Answer::Stats(args) => stats::report(&args, machine, &self.shared, now, &mut self.out),
            Answer::Leave => return Some(Ending::Close),
        }
        if noreply {
            self.out.truncate(before);
            self.after_noreply();
        }
        None
    }

    fn reject(&mut self, reason: Rejection, noreply: bool) {
        if noreply {
            self.after_noreply();
        } else if let Some(reply) = self.shared.script.next_answer() {
            self.out.extend_from_slice(&reply);
        } else {
            Reply::Rejected(reason).encode(&mut self.out);
        }
    }

    fn after_noreply(&mut self) {
        if let Some(reply) = self.shared.script.next_after_noreply() {
            self.out.extend_from_slice(&reply);
        }
    }

    fn take_piece(&mut self) -> Bytes {
        self.out.split().freeze()
    }
}

impl Work for Session {
    fn work(&mut self, input: &mut BytesMut, outbox: &mut Outbox) {
        if self.is_deaf || self.shared.host.faults.is_black_hole() {
            self.is_deaf |= !input.is_empty();
            input.clear();
            self.shared.host.changed.notify_waiters();
            return;
        }
        if input.is_empty() && self.reading.is_none() {
            return;
        }
        let shared = Arc::clone(&self.shared);
        let now = shared.now();
        let mut machine = lock(&shared.machine);
        while !outbox.is_full() && !outbox.is_ending() {
            if let Some(reading) = &mut self.reading {
                if reading.step(&mut machine, now, &mut self.out) {
                    self.reading = None;
                }
            } else if let Some(event) = self.parser.next(input) {
                if let Some(ending) = self.answer(event, &mut machine, now) {
                    outbox.push(self.take_piece());
                    outbox.end_after(ending);
                }
            } else {
                break;
            }
            if self.out.len() >= PIECE {
                outbox.push(self.take_piece());
            }
        }
        drop(machine);
        outbox.push(self.take_piece());
        shared.host.changed.notify_waiters();
    }

    fn received(&mut self, bytes: usize) {
        self.shared
            .bytes_read
            .fetch_add(bytes as u64, Ordering::Relaxed);
    }

    fn sent(&mut self, bytes: usize) {
        self.shared
            .bytes_written
            .fetch_add(bytes as u64, Ordering::Relaxed);
    }
}
