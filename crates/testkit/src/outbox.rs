//! What is on its way to a client: bytes with the time they are due, shaped by the faults.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::{Buf, Bytes};
use tokio::time::Instant;

use crate::fault::{Cut, Faults};
use crate::stream::Ending;

/// A connection whose peer does not read is served no further above this many bytes.
const FULL: usize = 1024 * 1024;

/// The queue of one connection's outgoing bytes.
#[derive(Debug)]
pub(crate) struct Outbox {
    /// What shapes the bytes; nothing on the way from a proxy to its upstream.
    faults: Option<Faults>,
    queue: VecDeque<Parcel>,
    queued: usize,
    last_due: Option<Instant>,
    /// The last decision about cuts that this connection knows.
    cut_seen: u64,
    cut: Option<Cut>,
    end: Option<Ending>,
}

#[derive(Debug)]
struct Parcel {
    due: Option<Instant>,
    bytes: Bytes,
}

/// What to do about the outbox.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next<'a> {
    /// Write some of these bytes.
    Write(&'a [u8]),
    /// Nothing is due before then.
    At(Instant),
    /// There is nothing to send.
    Idle,
    /// There is something to send, but a fault holds it back.
    Held,
    /// Everything was sent; end the connection.
    End(Ending),
}

impl Outbox {
    pub(crate) fn new(faults: Option<Faults>) -> Self {
        Self {
            faults,
            queue: VecDeque::new(),
            queued: 0,
            last_due: None,
            cut_seen: 0,
            cut: None,
            end: None,
        }
    }

    /// Is it time to wait until the peer has read?
    pub(crate) fn is_full(&self) -> bool {
        self.queued >= FULL
    }

    /// Will the connection end once everything is sent?
    pub(crate) fn is_ending(&self) -> bool {
        self.end.is_some()
    }

    /// Ends the connection after what has been pushed; what is pushed later is discarded.
    pub(crate) fn end_after(&mut self, ending: Ending) {
        self.end.get_or_insert(ending);
    }

    /// Sends bytes on their way.
    pub(crate) fn push(&mut self, mut bytes: Bytes) {
        if bytes.is_empty() || self.is_ending() {
            return;
        }
        let mut due = None;
        if let Some(faults) = self.active_faults() {
            self.cut_short(&faults, &mut bytes);
            if bytes.is_empty() {
                return;
            }
            due = self.delayed(faults.delay());
        }
        self.queued += bytes.len();
        self.queue.push_back(Parcel { due, bytes });
    }

    fn active_faults(&self) -> Option<Faults> {
        self.faults
            .as_ref()
            .filter(|faults| faults.is_active())
            .cloned()
    }

    fn cut_short(&mut self, faults: &Faults, bytes: &mut Bytes) {
        faults.update_cut(&mut self.cut_seen, &mut self.cut);
        let Some(cut) = &mut self.cut else { return };
        if bytes.len() < cut.after {
            cut.after -= bytes.len();
        } else {
            bytes.truncate(cut.after);
            self.end = Some(cut.ending);
        }
    }

    /// When bytes of this delay arrive: never before those sent earlier.
    fn delayed(&mut self, delay: Duration) -> Option<Instant> {
        if delay.is_zero() && self.last_due.is_none() {
            return None;
        }
        let due = Instant::now() + delay;
        self.last_due = Some(self.last_due.map_or(due, |last| last.max(due)));
        self.last_due
    }

    pub(crate) fn next(&self) -> Next<'_> {
        let Some(parcel) = self.queue.front() else {
            return self.end.map_or(Next::Idle, Next::End);
        };
        let mut bytes = &parcel.bytes[..];
        if let Some(faults) = self.active_faults() {
            if faults.holds_replies() {
                return Next::Held;
            }
            if let Some(size) = faults.split() {
                bytes = &bytes[..bytes.len().min(size)];
            }
        }
        match parcel.due {
            Some(due) if due > Instant::now() => Next::At(due),
            _ => Next::Write(bytes),
        }
    }

    /// Notes that so many bytes of the last [`Next::Write`] were written.
    pub(crate) fn advance(&mut self, written: usize) {
        self.queued -= written;
        if let Some(parcel) = self.queue.front_mut() {
            parcel.bytes.advance(written);
            if parcel.bytes.is_empty() {
                self.queue.pop_front();
            }
        }
    }
}
