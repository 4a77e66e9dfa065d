//! One direction of a connection: what was written and has not been read.

use std::collections::VecDeque;
use std::task::Waker;

use bytes::{Buf, Bytes};
use tokio::time::Instant;

/// Bytes under way, and who waits for them.
#[derive(Debug, Default)]
pub(super) struct Pipe {
    segments: VecDeque<Segment>,
    bytes: usize,
    /// When the last segment that is on its way arrives.
    last: Option<Instant>,
    /// The writer has gone: nothing follows.
    ended: bool,
    /// The reader has gone: nobody will read what is written.
    unread: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

#[derive(Debug)]
struct Segment {
    /// None if it cannot arrive for now.
    due: Option<Instant>,
    content: Content,
}

#[derive(Debug, Clone)]
pub(super) enum Content {
    Data(Bytes),
    End,
    Reset,
}

/// What a reader finds.
pub(super) enum Found {
    Data(Bytes),
    End,
    Reset,
    /// Something that arrives then.
    Later(Instant),
    Nothing,
}

impl Pipe {
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }

    pub(super) fn is_unread(&self) -> bool {
        self.unread
    }

    /// When what is sent next arrives at the earliest.
    pub(super) fn last(&self) -> Option<Instant> {
        self.last
    }

    /// Whether what is sent next is held back by what was sent before.
    fn is_held(&self) -> bool {
        self.segments
            .back()
            .is_some_and(|segment| segment.due.is_none())
    }

    pub(super) fn push(&mut self, content: Content, due: Option<Instant>) {
        if let Content::Data(data) = &content {
            self.bytes += data.len();
        } else {
            self.ended = true;
        }
        let due = due.filter(|_| !self.is_held());
        self.last = due.or(self.last);
        let is_first = self.segments.is_empty();
        self.segments.push_back(Segment { due, content });
        if is_first {
            self.wake_reader();
        }
    }

    /// Gives the segments that could not arrive a time.
    pub(super) fn let_go(
        &mut self,
        mut arrival: impl FnMut(usize, Option<Instant>) -> Option<Instant>,
    ) {
        for segment in self
            .segments
            .iter_mut()
            .filter(|segment| segment.due.is_none())
        {
            let size = match &segment.content {
                Content::Data(data) => data.len(),
                Content::End | Content::Reset => 0,
            };
            segment.due = arrival(size, self.last);
            self.last = segment.due.or(self.last);
        }
        self.wake_reader();
    }

    /// Takes what has arrived, at most so many bytes.
    pub(super) fn take(&mut self, most: usize) -> Found {
        let Some(segment) = self.segments.front_mut() else {
            return Found::Nothing;
        };
        match segment.due {
            None => return Found::Nothing,
            Some(due) if due > Instant::now() => return Found::Later(due),
            Some(_) => {}
        }
        match &mut segment.content {
            // These are found by everybody who looks.
            Content::End => Found::End,
            Content::Reset => Found::Reset,
            Content::Data(data) => {
                let taken = data.split_to(most.min(data.len()));
                if !data.has_remaining() {
                    self.segments.pop_front();
                }
                self.bytes -= taken.len();
                self.wake_writer();
                Found::Data(taken)
            }
        }
    }

    /// Nothing arrives any more, and who looks finds a reset.
    pub(super) fn reset(&mut self) {
        self.segments.clear();
        self.bytes = 0;
        self.push(Content::Reset, Some(Instant::now()));
        self.wake_writer();
    }

    /// Nothing of it arrives any more, and nobody is told.
    pub(super) fn lose(&mut self) {
        self.segments.clear();
        self.bytes = 0;
        self.wake_writer();
    }

    /// Nobody reads any more.
    pub(super) fn abandon(&mut self) {
        self.unread = true;
        self.lose();
    }

    pub(super) fn await_reading(&mut self, waker: &Waker) {
        self.reader = Some(waker.clone());
    }

    pub(super) fn await_writing(&mut self, waker: &Waker) {
        self.writer = Some(waker.clone());
    }

    pub(super) fn wake_reader(&mut self) {
        if let Some(waker) = self.reader.take() {
            waker.wake();
        }
    }

    pub(super) fn wake_writer(&mut self) {
        if let Some(waker) = self.writer.take() {
            waker.wake();
        }
    }
}
